"""Perft: the counts of tests/data (tests/games counts the same in plain Python), and exactness of the method."""

from __future__ import annotations

import csv
import dataclasses
import pathlib
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from boardrl import registry
from boardrl.errors import UserError
from boardrl.exact import perft
from boardrl.game import Spec
from games.pig import Pig
from games.tic_tac_toe import TicTacToe

pytestmark = pytest.mark.usefixtures("optimized")

DATA = pathlib.Path(__file__).parents[2] / "data" / "perft.csv"
ROWS = list(csv.DictReader(DATA.read_text().splitlines()))


@pytest.mark.parametrize("name", sorted({row["game"] for row in ROWS}))
def test_counts_of_the_data(name):
    rows = [row for row in ROWS if row["game"] == name]
    game = registry.make(name)
    paths = [row.nodes for row in perft.counts(game, len(rows))]
    states = [row.nodes for row in perft.counts(game, len(rows), distinct=True)]
    assert paths == [int(row["paths"]) for row in rows]
    assert states == [int(row["states"]) for row in rows]


class Walk(NamedTuple):
    place: Any  # [] int8
    odd: Any  # [3] mixed with other types, to be packed and unpacked
    flag: Any


@dataclasses.dataclass(frozen=True)
class Roundabout:
    """A walk on a circle: ten actions, of which half lead one place on and half two."""

    places: int = 7

    @property
    def spec(self) -> Spec:
        return Spec("roundabout", 2, num_actions=10, num_outcomes=0, obs_shape=(1,), max_steps=1000)

    def init(self):
        return Walk(jnp.int8(0), jnp.array([0.5, -0.25, 3.0], jnp.float32), jnp.array([True, False]))

    def actor(self, state):
        return jnp.int32(0)

    def legal(self, state):
        return jnp.ones(10, bool)

    def chance(self, state):
        return jnp.zeros(0, jnp.float32)

    def step(self, state, move):
        place = (state.place + jnp.where(move < 5, 1, 2).astype(jnp.int8)) % jnp.int8(self.places)
        return Walk(place, jnp.roll(state.odd, 1), ~state.flag)


@pytest.mark.parametrize("depth", [1, 18, 19, 20, 60])
def test_counts_are_exact_beyond_64_bits(depth):
    assert perft.perft(Roundabout(), depth) == 10**depth


def test_distinct_states_are_counted_once():
    # after d moves the place is one of d + 1 in a row, if the circle is that long
    assert [row.nodes for row in perft.counts(Roundabout(7), 9, distinct=True)] == [2, 3, 4, 5, 6, 7, 7, 7, 7]


@pytest.mark.parametrize("distinct", [False, True])
def test_colliding_hashes_change_nothing(monkeypatch, distinct):
    expected = perft.perft(TicTacToe(), 7, distinct=distinct)
    monkeypatch.setattr(perft, "_hash", lambda rows: rows[:, 0] % np.uint64(3))
    assert perft.perft(TicTacToe(), 7, distinct=distinct) == expected == (1408 if distinct else 154944)


def test_small_blocks_change_nothing(monkeypatch):
    monkeypatch.setattr(perft, "CHUNK", 7)
    monkeypatch.setattr(perft, "MERGE_ROWS", 20)
    assert perft.perft(Pig(target=5), 10) == 11271
    assert perft.perft(Pig(target=5), 10, distinct=True) == 112


class Chains(NamedTuple):
    total: Any  # [] int32
    turn: Any
    again: Any  # whether the player to move has moved already


@dataclasses.dataclass(frozen=True)
class Adding:
    """Add 1 or 2, once or twice a turn: actions 0 and 1 add one more than their number, 2 stops; over from 4 on."""

    @property
    def spec(self) -> Spec:
        return Spec("adding", 2, num_actions=3, num_outcomes=0, obs_shape=(1,), max_steps=8)

    def init(self):
        return Chains(jnp.int32(0), jnp.int32(0), jnp.array(False))

    def actor(self, state):
        return jnp.where(state.total >= 4, -2, state.turn)

    def legal(self, state):
        return jnp.stack([jnp.array(True), jnp.array(True), state.again])

    def chance(self, state):
        return jnp.zeros(0, jnp.float32)

    def step(self, state, move):
        total = state.total + jnp.where(move == 2, 0, move + 1)
        ends = state.again
        return Chains(total, jnp.where(ends, 1 - state.turn, state.turn), ~ends)


def test_whole_turns_by_paths_and_by_what_they_lead_to():
    # A turn adds 1 and stops, 1+1, 1+2, 2 and stops, 2+1, or 2+2: six paths to 1, 2, 3, 2, 3, 4.
    assert perft.perft(Adding(), 1, by_turns=True) == 6
    assert perft.perft(Adding(), 1, by_turns=True, distinct=True) == 4
    # From 1: six turns, of which 1+2, 2+1 and 2+2 end the game; the chain 2 ends nothing. From 2: 1 and stop, 1+1,
    # 1+2, and 2, which ends the game at once. From 3: 1 and 2 end it at once. 4 is over and counts 1.
    assert perft.perft(Adding(), 2, by_turns=True) == 6 + 2 * 4 + 2 * 2 + 1
    # Distinct: from 1 to 2, 3, 4, 5; from 2 to 3, 4 (in the middle of a turn, and after it), 5; from 3 to 4 and 5.
    assert perft.perft(Adding(), 2, by_turns=True, distinct=True) == 4 + 4 + 2 + 1
    assert [perft.perft(Adding(), depth, by_turns=False) for depth in (1, 2, 3)] == [2, 6, 11]


@pytest.mark.parametrize("distinct", [False, True])
def test_blocks_of_whole_turns_change_nothing(monkeypatch, distinct):
    expected = perft.perft(Adding(), 4, by_turns=True, distinct=distinct)
    monkeypatch.setattr(perft, "CHUNK", 3)
    monkeypatch.setattr(perft, "MERGE_ROWS", 4)
    assert perft.perft(Adding(), 4, by_turns=True, distinct=distinct) == expected


def test_whole_turns_are_exact_beyond_64_bits():
    class Alternating(Roundabout):
        def actor(self, state):
            return state.flag[0].astype(jnp.int32)  # a turn is one move

    assert perft.perft(Alternating(), 25, by_turns=True) == 10**25


def test_starts_from_any_state():
    game = TicTacToe()
    assert perft.perft(game, 1, state=game.from_text("XX. OO. ... 0")) == 5
    # one of the five moves wins, which counts 1 from then on; the others leave four moves each
    assert [row.nodes for row in perft.counts(game, 2, state=game.from_text("XX. OO. ... 0"))] == [5, 1 + 4 * 4]
    assert perft.perft(game, 5, state=game.from_text("XXX OO. ... 1")) == 1


def test_chance_outcomes_of_probability_zero_are_no_moves():
    class LoadedDie(Pig):
        def chance(self, state):
            loaded = jnp.array([0.5, 0, 0, 0, 0, 0.5], jnp.float32)
            return jnp.where(state.rolling, loaded, 0.0)

    assert [row.nodes for row in perft.counts(LoadedDie(), 4)] == [1, 2, 3, 5]


def test_nothing_is_traced_twice():
    traces = []

    class Counted(TicTacToe):
        def step(self, state, move):
            traces.append(state)
            return super().step(state, move)

    assert perft.perft(Counted(), 9) == perft.perft(Counted(), 8) == 255168
    assert len(traces) == 1


def test_states_are_packed_to_the_bit():
    game = Roundabout()
    state = game.init()._replace(odd=jnp.array([jnp.nan, -0.0, 1e-40], jnp.float32), place=jnp.int8(-3))
    row = perft._pack(state)
    assert row.size % 8 == 0
    again = perft._unpack(game, row)
    for a, b in zip(jax.tree.leaves(state), jax.tree.leaves(again), strict=True):
        assert a.dtype == b.dtype
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


@pytest.mark.parametrize("depth", [0, -1])
def test_depth_must_be_positive(depth):
    with pytest.raises(UserError, match=f"depth={depth} is too small"):
        perft.counts(TicTacToe(), depth)
