"""Pig against a second, plain Python reading of its rules, and on positions made by hand."""

from __future__ import annotations

import csv
import functools
import pathlib
import random
from collections import Counter
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from boardrl import options, registry
from boardrl.errors import UserError
from boardrl.game import CHANCE, TERMINAL
from games.pig import HOLD, ROLL, Pig

DATA = pathlib.Path(__file__).parents[1] / "data" / "perft.csv"


class Plain(NamedTuple):
    """A position of pig in Python's own types."""

    target: int
    scores: tuple[int, ...]
    total: int = 0
    turn: int = 0
    rolling: bool = False

    @property
    def over(self) -> bool:
        return max(self.scores) >= self.target

    def moves(self) -> list[int]:
        if self.over:
            return []
        return list(range(6)) if self.rolling else [ROLL, HOLD] if self.total else [ROLL]

    def play(self, move: int) -> Plain:
        following = (self.turn + 1) % len(self.scores)
        if self.rolling and move == 0:
            return self._replace(total=0, turn=following, rolling=False)
        if self.rolling:
            needed = self.target - self.scores[self.turn]
            return self._replace(total=min(self.total + move + 1, needed), rolling=False)
        if move == ROLL:
            return self._replace(rolling=True)
        scores = list(self.scores)
        scores[self.turn] += self.total
        return self._replace(scores=tuple(scores), total=0, turn=following)


def test_perft_data_agree_with_plain_python():
    rows = [row for row in csv.DictReader(DATA.read_text().splitlines()) if row["game"].startswith("pig")]
    assert {registry.make(row["game"]).players for row in rows} == {2, 3, 4}
    for name in {row["game"] for row in rows}:
        given = options.parse(name.partition(":")[2], options.of_dataclass(Pig), name)
        target, players = given.get("target", 100), given.get("players", 2)
        level, counted = Counter({Plain(target, (0,) * players): 1}), []
        wanted = [(int(row["paths"]), int(row["states"])) for row in rows if row["game"] == name]
        for _ in wanted:
            following: Counter[Plain] = Counter()
            for position, paths in level.items():
                for after in [position.play(move) for move in position.moves()] or [position]:
                    following[after] += paths
            level = following
            counted.append((level.total(), len(level)))
        assert counted == wanted, name


@functools.partial(jax.jit, static_argnames="game")
def answers(game, state):
    observed = jnp.stack([game.observe(state, p) for p in range(game.players)])
    return game.actor(state), game.legal(state), game.chance(state), game.returns(state), observed


@pytest.mark.parametrize(("players", "target"), [(2, 20), (3, 11), (4, 7)])
def test_whole_games_agree_with_plain_python(players, target):
    game, rng, winners = Pig(players=players, target=target), random.Random(2), set()
    step = jax.jit(game.step)
    for _ in range(12 * players):
        plain, state = Plain(target, (0,) * players), game.init()
        while True:
            actor, legal, chance, returns, observed = map(np.asarray, answers(game, state))
            moves = plain.moves()
            assert jax.tree.map(lambda leaf: np.asarray(leaf).tolist(), tuple(state)) == (
                list(plain.scores),
                plain.total,
                plain.turn,
                plain.rolling,
            )
            assert actor == (TERMINAL if plain.over else CHANCE if plain.rolling else plain.turn)
            assert np.flatnonzero(legal).tolist() == ([] if plain.rolling else moves)
            np.testing.assert_allclose(chance, [1 / 6 if plain.rolling else 0.0] * 6, rtol=1e-6)
            for seat in range(players):
                order = [(seat + i) % players for i in range(players)]
                seen = [plain.scores[p] / target for p in order] + [float(p == plain.turn) for p in order]
                np.testing.assert_allclose(observed[seat], [*seen, plain.total / target, plain.rolling], rtol=1e-6)
            if not moves:
                won = plain.scores.index(target)
                winners.add(won)
                expected = [1.0 if seat == won else -1 / (players - 1) for seat in range(players)]
                np.testing.assert_allclose(returns, expected, rtol=1e-6)
                break
            assert returns.tolist() == [0.0] * players
            move = rng.choice(moves)
            plain, state = plain.play(move), step(state, jnp.int32(move))
    assert winners == set(range(players))


@pytest.mark.parametrize(
    ("text", "move", "after"),
    [
        ("0 0 0 0 decides", ROLL, "0 0 0 0 rolls"),
        ("12 30 7 1 rolls", 5, "12 30 13 1 decides"),
        ("12 30 7 1 rolls", 0, "12 30 0 0 decides"),  # a 1 loses the total and the turn
        ("12 30 7 1 decides", HOLD, "12 37 0 0 decides"),
        ("95 30 2 0 rolls", 5, "95 30 5 0 decides"),  # no more than is needed
        ("95 30 5 0 decides", HOLD, "100 30 0 1 decides"),
        ("100 30 0 1 decides", ROLL, "100 30 0 1 decides"),  # it is over
    ],
)
def test_moves_made_by_hand(text, move, after):
    game = Pig()
    assert game.to_text(game.step(game.from_text(text), jnp.int32(move))) == after


def test_rotation_gives_every_part_to_the_next_seat():
    game = Pig(players=3)
    assert game.to_text(game.rotate(game.from_text("1 2 3 7 2 rolls"))) == "3 1 2 7 0 rolls"


def test_the_end_pays_the_winner():
    game = Pig(players=3, target=50)
    state = game.from_text("49 50 3 0 2 decides")
    assert int(game.actor(state)) == TERMINAL
    assert game.returns(state).tolist() == [-0.5, 1.0, -0.5]
    assert not game.legal(state).any()


@pytest.mark.parametrize(
    ("text", "total", "action"),
    [
        ("0 0 0 0 decides", 20, ROLL),
        ("0 0 19 0 decides", 20, ROLL),
        ("0 0 20 0 decides", 20, HOLD),
        ("0 0 19 0 decides", 15, HOLD),
        ("97 0 3 0 decides", 20, HOLD),  # enough to win
        ("97 0 3 1 decides", 20, ROLL),  # it is the other's turn
    ],
)
def test_hold_strategy(text, total, action):
    game = Pig()
    logits = game.strategies["hold"](game, game.from_text(text), total=total)
    assert logits.tolist() == [0.0 if a == action else -np.inf for a in (ROLL, HOLD)]


@pytest.mark.parametrize("name", ["pig:players=1", "pig:players=5", "pig:target=0", "pig:target=1001"])
def test_options_out_of_range_are_refused(name):
    option, _, value = name.partition(":")[2].partition("=")
    with pytest.raises(UserError, match=f"{option}={value} does not fit pig: expected "):
        registry.make(name)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "12 30 7 0",
        "12 30 7 0 sleeps",
        "12 30 0 decides",
        "12 -30 7 0 decides",
        "12 101 7 0 decides",
        "12 30 89 0 decides",
        "12 30 7 2 decides",
        "100 100 0 0 decides",
        "100 30 7 1 decides",
        "100 30 0 1 rolls",
    ],
)
def test_bad_position_is_refused(text):
    with pytest.raises(UserError, match="bad position"):
        Pig().from_text(text)
