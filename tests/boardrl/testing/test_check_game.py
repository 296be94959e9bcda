"""The conformance kit on sound games, and how it tells what it found."""

from __future__ import annotations

import dataclasses
import importlib
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from boardrl import testing
from boardrl.errors import UserError
from boardrl.game import TERMINAL, Spec
from boardrl.testing import play
from boardrl.testing.check import PROPERTIES
from games.pig import Pig
from games.tic_tac_toe import TicTacToe

SMALL = {"games": 8, "examples": 4}  # the compiled code is shared between these tests


class PaidByScore(Pig):
    """Returns that run with the game and add up to nothing in particular."""

    @property
    def spec(self) -> Spec:
        return dataclasses.replace(super().spec, min_return=0.0, return_sum=None, running_returns=True)

    def returns(self, state):
        return state.scores / self.target


class Silent(TicTacToe):
    """Without the optional members: no rotation, no text."""

    rotate = to_text = from_text = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    "game",
    [TicTacToe(), Pig(target=12), Pig(players=3, target=9), Pig(players=4, target=7), PaidByScore(target=9), Silent()],
    ids=str,
)
def test_a_sound_game_passes(game):
    report = testing.check_game(game, **SMALL)
    findings = {finding.name: finding for finding in report.findings}
    assert list(findings) == [function.__name__ for function in PROPERTIES]
    assert all(finding.failure is None and finding.checked for finding in report.findings)
    states = {name: finding.states for name, finding in findings.items()}
    with_chance, with_text = isinstance(game, Pig), not isinstance(game, Silent)
    assert states["actor_in_range"] == states["decision_has_legal_action"] + states["no_legal_action_elsewhere"]
    assert states["actor_in_range"] == states["chance_sums_to_one"] + states["no_chance_elsewhere"]
    assert (states["chance_sums_to_one"] > 0) == with_chance
    assert (states["rotation_comes_round"] > 0) == (states["text_round_trip"] > 0) == with_text
    assert states["games_end_within_max_steps"] == 8
    assert states["host_code_equals_jax"] > 8
    assert states["terminal_absorbs"] >= 8
    assert (states["returns_zero_until_the_end"] == 0) == game.spec.running_returns
    assert (states["returns_sum_as_promised"] == 0) == (game.spec.return_sum is None)


def test_the_same_seed_checks_the_same_states():
    one, again = (testing.check_game(Pig(target=12), seed=3, **SMALL) for _ in range(2))
    assert one == again
    assert one != testing.check_game(Pig(target=12), seed=4, **SMALL)


class OneCellFewer(TicTacToe):
    """The middle may not be taken as the fourth mark, and a row with it does not count."""

    def returns(self, state):
        middle = state.board[4] != 0
        return jnp.where(middle, super().returns(state), 0 * super().returns(state) + 0.5)


def test_the_message_leads_to_the_state():
    with pytest.raises(testing.ConformanceError, match="tic_tac_toe breaks returns_zero_until_the_end") as caught:
        testing.check_game(OneCellFewer(), **SMALL)
    failure = caught.value.failure
    assert failure.moves == ()  # the shortest way there
    assert "returns [0.5, 0.5]; seen after moves [] at '... ... ... 0'" in str(caught.value)


class LastMoveLost(TicTacToe):
    def returns(self, state):
        full = (state.board != 0).all()
        return jnp.where(full, 0.5, super().returns(state))


def test_the_moves_of_the_message_can_be_replayed():
    game = LastMoveLost()
    with pytest.raises(testing.ConformanceError) as caught:
        testing.check_game(game, **SMALL)
    error = caught.value
    assert isinstance(error, AssertionError)
    assert error.property == "returns_sum_as_promised"
    assert error.failure.moves is not None
    assert sorted(error.failure.moves) == list(range(9))
    state = testing.replay(game, error.failure.moves)
    assert int(game.actor(state)) == TERMINAL
    assert repr(game.to_text(state)) == error.failure.where
    assert f"after moves {list(error.failure.moves)} at '{game.to_text(state)}'" in str(error)


def test_a_broken_game_is_examined_to_the_end():
    report = testing.examine(LastMoveLost(), **SMALL)
    broken = ["returns_sum_as_promised", "bad_text_is_refused"]  # what games break, positions read from text break too
    assert [finding.name for finding in report.broken] == broken
    assert all(finding.checked for finding in report.findings)
    assert len(report.findings) == len(PROPERTIES)


class RareFace(Pig):
    """A six is all but impossible, and the player who rolls it sees too much."""

    def chance(self, state):
        return jnp.where(state.rolling, jnp.array([0.2, 0.2, 0.2, 0.2, 0.2 - 1e-9, 1e-9], jnp.float32), 0.0)

    def step(self, state, move):
        after = super().step(state, move)
        return after._replace(total=jnp.where(state.rolling & (move == 5), -99, after.total))


def test_hypothesis_finds_what_random_play_cannot():
    game = RareFace(target=12)
    chunks = list(play.random_play(game, games=8, seed=0))
    assert not any(play.broken(verdict).any() for chunk in chunks for verdict in chunk.verdicts.values())
    with pytest.raises(testing.ConformanceError) as caught:
        testing.check_game(game, **SMALL)
    assert caught.value.property == "observation_bounded"
    assert caught.value.failure.moves is not None
    assert caught.value.failure.moves[-1] == 5


def drawn_moves(game, starts):
    seen = []

    def see(chunk):
        seen.append(chunk.nodes.move)
        return True

    play.hypothesis_play(game, starts, see, examples=8, seed=5)
    return np.concatenate(seen)


def test_hypothesis_draws_the_same_whatever_is_imported(tmp_path, monkeypatch):
    game = Pig(target=12)
    collector = play.Collector(seed=0)
    for chunk in play.random_play(game, games=8, seed=0):
        collector.see(chunk)
    starts = collector.samples(8)
    before = drawn_moves(game, starts)
    (tmp_path / "full_of_numbers.py").write_text(f"NUMBERS = {list(range(3, 4000, 7))}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.import_module("full_of_numbers")
    np.testing.assert_array_equal(drawn_moves(game, starts), before)


def test_samples_are_of_every_kind():
    game = Pig(players=3, target=9)
    collector = play.Collector(seed=0)
    for chunk in play.random_play(game, games=8, seed=0):
        collector.see(chunk)
    samples = collector.samples(20)
    assert samples[0].moves == []
    assert {int(sample.node.actor) for sample in samples[:8]} == {-2, -1, 0, 1, 2}
    for sample in samples:
        replayed = testing.replay(game, sample.moves)
        assert jax.tree.map(lambda leaf: leaf.tolist(), replayed) == jax.tree.map(
            lambda leaf: leaf.tolist(), sample.node.state
        )


def test_variants_are_the_player_counts_a_game_accepts():
    assert testing.variants(TicTacToe()) == [TicTacToe()]
    assert testing.variants(Pig(target=30)) == [Pig(players=p, target=30) for p in (2, 3, 4)]

    @dataclasses.dataclass(frozen=True)
    class Patience:
        players: int = 1

        def __post_init__(self):
            if self.players > 1:
                raise UserError("alone")

    assert testing.variants(Patience()) == [Patience()]


def test_hypothesis_is_asked_for_when_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    with pytest.raises(UserError, match=r"pip install hypothesis"):
        testing.check_game(TicTacToe(), **SMALL)


@pytest.mark.parametrize("mistake", [{"games": 0}, {"examples": 0}, {"seed": -1}])
def test_impossible_numbers_are_refused(mistake):
    with pytest.raises(UserError, match=f"{next(iter(mistake))}={next(iter(mistake.values()))}"):
        testing.check_game(TicTacToe(), **mistake)
