"""The conformance kit must catch what it is there to catch: bugs planted into the small games, one at a time."""

from __future__ import annotations

import dataclasses
import itertools
import pathlib
import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from boardrl import host, testing
from boardrl.game import CHANCE, TERMINAL, Spec, one_hot, select
from boardrl.play import players
from boardrl.testing import node, play, report, sampled
from boardrl.testing.check import PROPERTIES
from boardrl.testing.node import look
from boardrl.testing.report import Broken
from boardrl.values.linear import FeatureSet
from games import pig, tic_tac_toe
from games.pig import Pig
from games.tic_tac_toe import TicTacToe

PLANTED: list[Any] = []


def planted(name: str, **options: Any) -> Any:
    """Puts a game with a bug into the table, with the property that must be named."""

    def add(cls: type) -> type:
        PLANTED.append(pytest.param(cls, options, name, id=f"{cls.__name__}-{name}"))
        return cls

    return add


# --- what is declared


@planted("spec_is_sane")
class NamedInCapitals(TicTacToe):
    @property
    def spec(self) -> Spec:
        return dataclasses.replace(super().spec, name="TicTacToe")


@planted("spec_is_sane")
class SumOutOfReach(Pig):
    @property
    def spec(self) -> Spec:
        return dataclasses.replace(super().spec, return_sum=3.0)


@planted("game_is_a_value")
@dataclasses.dataclass(eq=False, frozen=True)
class UnequalToItsCopy(TicTacToe):
    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__


@planted("game_is_a_value", board=[3, 3])
@dataclasses.dataclass(frozen=True)
class ListAsAnOption(TicTacToe):
    board: Any = (3, 3)


@planted("members_run")
class ForgotReturns(TicTacToe):
    returns = None  # type: ignore[assignment]


@planted("members_run")
class NoWayBackFromText(TicTacToe):
    from_text = None  # type: ignore[assignment]


@planted("members_trace_under_jit")
class BranchesInPython(TicTacToe):
    def legal(self, state):
        return super().legal(state) if int(state.turn) == 0 else state.board == 0


@planted("members_trace_under_vmap")
class CannotBeBatched(TicTacToe):
    def actor(self, state):
        answer = jax.ShapeDtypeStruct((), jnp.int32)
        return jax.pure_callback(lambda turn: turn, answer, super().actor(state))


@planted("outputs_as_declared")
class ObservesTooLittle(TicTacToe):
    def observe(self, state, player):
        return super().observe(state, player)[:18]


@planted("outputs_as_declared")
class ActorIsAFloat(TicTacToe):
    def actor(self, state):
        return super().actor(state).astype(jnp.float32)


@planted("outputs_as_declared")
class OneLogitForAll(Pig):
    strategies = {"lazy": lambda game, state: jnp.float32(0)}


@planted("types_are_stable")
class BoardGrowsWider(TicTacToe):
    def step(self, state, move):
        after = super().step(state, move)
        return after._replace(crosses=after.crosses.astype(jnp.int32))


@planted("types_are_stable")
class WeakFirstTurn(TicTacToe):
    def init(self):
        return super().init()._replace(turn=jnp.asarray(0))


class Boxed:
    """Before a game: its states come in a box; subclasses say what else is in it."""

    to_text = from_text = None
    strategies: dict[str, Any] = {}

    def fill(self, position, before):
        raise NotImplementedError

    def init(self):
        return self.fill(super().init(), None)

    def actor(self, box):
        return super().actor(box["position"])

    def legal(self, box):
        return super().legal(box["position"])

    def chance(self, box):
        return super().chance(box["position"])

    def returns(self, box):
        return super().returns(box["position"])

    def observe(self, box, player):
        return super().observe(box["position"], player)

    def step(self, box, move):
        return self.fill(super().step(box["position"], move), box)

    def rotate(self, box):
        return {**box, "position": super().rotate(box["position"])}


@planted("types_are_stable")
class AgesInItsStructure(Boxed, TicTacToe):
    """The state's structure counts the moves: every step compiles everything anew."""

    def fill(self, position, before):
        return {"position": position, "age": () if before is None else (*before["age"], ())}


@planted("members_are_pure")
class MovesOnItsInput(Boxed, TicTacToe):
    def fill(self, position, before):
        box = {} if before is None else before
        box["position"] = position
        return box


def feature(game, state, player):
    return jnp.stack([(state.board == 1).sum(), (state.board == 2).sum()]).astype(jnp.float32)


class Weighed(TicTacToe):
    """Two features, for bugs to be planted beside."""

    def features(self, state, player):
        return feature(self, state, player)


@planted("features_as_declared")
class OneNameTooFew(Weighed):
    feature_names = ("crosses",)


@planted("features_as_declared")
class OneWeightTooMany(Weighed):
    feature_names = ("crosses", "noughts")
    feature_weights = (1.0, -1.0, 0.5)


@planted("features_as_declared")
class WeightIsNan(Weighed):
    feature_weights = (1.0, float("nan"))


@planted("features_as_declared")
class WeightsOfNothing(TicTacToe):
    feature_weights = (1.0,)


@planted("features_as_declared")
class FeaturesAreIntegers(TicTacToe):
    def features(self, state, player):
        return (state.board == 1).astype(jnp.int32)


@planted("features_as_declared")
class SetWithoutEnoughNames(TicTacToe):
    feature_sets = {"marks": FeatureSet(("crosses",), feature)}


@planted("features_as_declared")
class SetIsAFunction(TicTacToe):
    feature_sets = {"marks": feature}


@planted("features_as_declared")
class FileOfWeightsIsMissing(Weighed):
    weight_files = {"best": pathlib.Path("no_such_file.json")}


# --- what holds at every state


@planted("actor_in_range")
class ThirdSeatOfTwo(TicTacToe):
    def actor(self, state):
        return jnp.where((state.board != 0).sum() == 4, 2, super().actor(state))


@planted("actor_in_range")
class DiceWithoutOutcomes(TicTacToe):
    def actor(self, state):
        return jnp.where((state.board != 0).sum() == 1, CHANCE, super().actor(state))


@planted("decision_has_legal_action")
class CornersMayNotBeLast(TicTacToe):
    def legal(self, state):
        last = (state.board == 0).sum() == 1
        return super().legal(state) & ~(last & (jnp.arange(9) == 8))


@planted("no_legal_action_elsewhere")
class PlaysOnAfterTheEnd(TicTacToe):
    def legal(self, state):
        return state.board == 0


@planted("no_legal_action_elsewhere", target=10)
class HoldsWhileTheDieRolls(Pig):
    def legal(self, state):
        return (super().actor(state) != TERMINAL) & jnp.stack([~state.rolling, state.total > 0])


@planted("chance_sums_to_one", target=10)
class DieLostAFace(Pig):
    def chance(self, state):
        return super().chance(state).at[5].set(0.0)


@planted("chance_sums_to_one", target=10)
class FaceBelowZero(Pig):
    def chance(self, state):
        return super().chance(state) + jnp.where(state.rolling, jnp.array([-0.5, 0.5, 0, 0, 0, 0]), 0.0)


@planted("no_chance_elsewhere", target=10)
class DieOnTheTable(Pig):
    def chance(self, state):
        return jnp.full(6, 1 / 6, jnp.float32)


@planted("returns_zero_until_the_end", target=10)
class PaysTheLeader(Pig):
    def returns(self, state):
        ahead = jnp.where(state.scores[0] > 5, jnp.array([0.1, -0.1]), 0.0)
        return jnp.where(super().actor(state) == TERMINAL, super().returns(state), ahead).astype(jnp.float32)


@planted("returns_in_bounds")
class WinsDouble(TicTacToe):
    def returns(self, state):
        return 2 * super().returns(state)


@planted("returns_sum_as_promised")
class LosersPayNothing(TicTacToe):
    def returns(self, state):
        return jnp.maximum(super().returns(state), 0)


@planted("returns_sum_as_promised", players=3, target=10)
class EachLoserPaysAll(Pig):
    @property
    def spec(self) -> Spec:
        return dataclasses.replace(super().spec, min_return=-1.0)


@planted("returns_settle_at_the_end")
class WinnerIsTheLastToMove(TicTacToe):
    def step(self, state, move):
        """After the end any move takes the win away."""
        over = super().actor(state) == TERMINAL
        after = super().step(state, move)
        swapped = jnp.where(after.winner >= 0, 1 - after.winner, after.winner)
        return after._replace(winner=jnp.where(over, swapped, after.winner))


@planted("terminal_absorbs")
class TurnPassesAfterTheEnd(TicTacToe):
    def step(self, state, move):
        over = super().actor(state) == TERMINAL
        after = super().step(state, move)
        return after._replace(turn=jnp.where(over, 1 - state.turn, after.turn))


@planted("terminal_absorbs")
class OneMoveStirsTheEnd(TicTacToe):
    def step(self, state, move):
        """Only one move of nine, so that trying some would not do."""
        over = super().actor(state) == TERMINAL
        after = super().step(state, move)
        return after._replace(turn=jnp.where(over & (move == 7), 1 - state.turn, after.turn))


@planted("observation_bounded", target=10)
class ScoresNotScaled(Pig):
    def observe(self, state, player):
        return super().observe(state, player).at[0].set(state.scores[0].astype(jnp.float32))


@planted("observation_bounded", players=3, target=10)
class OneSeatSeesNan(Pig):
    def observe(self, state, player):
        return jnp.where(player == 2, jnp.nan, 1.0) * super().observe(state, player)


@planted("act_is_step")
class ActForgetsTheTurn(TicTacToe):
    def act(self, state, action):
        return self.step(state, action)._replace(turn=state.turn)


@planted("settle_is_step", target=10)
class SettleThrowsAgain(Pig):
    def settle(self, state, outcome):
        return self.step(state, outcome)._replace(rolling=jnp.array(True))


@planted("strategies_allow_a_legal_action", target=10)
class AlwaysHolds(Pig):
    strategies = {"coward": lambda game, state: jnp.where(jnp.arange(2) == pig.HOLD, 0.0, -jnp.inf)}


@planted("rotation_shifts_actor")
class RotateForgetsTheTurn(TicTacToe):
    def rotate(self, state):
        return super().rotate(state)._replace(turn=state.turn)


@planted("rotation_keeps_moves", target=10)
class RotateForgetsTheTotal(Pig):
    def rotate(self, state):
        return super().rotate(state)._replace(total=jnp.int32(0))


@planted("rotation_rolls_returns")
class RotateForgetsTheWinner(TicTacToe):
    def rotate(self, state):
        return super().rotate(state)._replace(winner=state.winner)


@planted("rotation_moves_observations")
class SeesByTheOthersEyes(TicTacToe):
    def observe(self, state, player):
        return super().observe(state, jnp.int32(0))


@planted("rotation_commutes_with_step", players=3, target=10)
class FirstSeatScoresTwice(Pig):
    def step(self, state, move):
        after = super().step(state, move)
        bonus = jnp.where((state.turn == 0) & ~state.rolling & (move == pig.HOLD), state.total, 0)
        scores = jnp.minimum(after.scores + jnp.where(one_hot(jnp.int32(0), 3), bonus, 0), self.target)
        return select(self.actor(state) == TERMINAL, state, after._replace(scores=scores))


@planted("rotation_comes_round", players=3, target=10)
class RotateLeavesAMark(Boxed, Pig):
    """A part of the state that nothing depends on, but that makes one position look like many."""

    def fill(self, position, before):
        return {"position": position, "mark": jnp.int32(0) if before is None else before["mark"]}

    def rotate(self, box):
        return {**super().rotate(box), "mark": box["mark"] + 1}


@planted("games_end_within_max_steps")
class OneStepTooFew(TicTacToe):
    @property
    def spec(self) -> Spec:
        return dataclasses.replace(super().spec, max_steps=8)


@planted("games_end_within_max_steps", target=5)
class WinsAreForgotten(Pig):
    """Whoever would win starts again, so that no game ends."""

    @property
    def spec(self) -> Spec:
        return dataclasses.replace(super().spec, max_steps=100)

    def step(self, state, move):
        after = super().step(state, move)
        return after._replace(scores=jnp.where(after.scores >= self.target, 0, after.scores))


# --- what samples show


COUNTER = itertools.count()


@planted("members_are_pure")
class DiceInPython(TicTacToe):
    def observe(self, state, player):
        return super().observe(state, player) * (1 - 0.01 * (next(COUNTER) % 7))


KEPT: list[Any] = []


@planted("members_are_pure")
class KeepsAState(TicTacToe):
    def legal(self, state):
        KEPT.append(state.board)
        return super().legal(state)


@planted("jit_equals_eager")
class KnowsItIsTraced(TicTacToe):
    def observe(self, state, player):
        seen = super().observe(state, player)
        return -seen if isinstance(state.board, jax.core.Tracer) else seen


@jax.custom_batching.custom_vmap
def halved(values):
    return values / 2


@halved.def_vmap
def _halved_in_a_batch(axis_size, in_batched, values):
    return values / 3, in_batched[0]


@planted("vmap_equals_loop")
class WrongInABatch(TicTacToe):
    def observe(self, state, player):
        return halved(super().observe(state, player))


@planted("text_round_trip")
class TextWithoutTheTurn(TicTacToe):
    def to_text(self, state):
        return super().to_text(state)[:-1] + "0"


@planted("text_round_trip")
class TextOfAnotherType(TicTacToe):
    def from_text(self, text):
        state = super().from_text(text)
        return state._replace(crosses=state.crosses.astype(jnp.int32))


@planted("bad_text_is_refused")
class TracebackForBadText(TicTacToe):
    def from_text(self, text):
        marks = text.replace(" ", "")
        board = jnp.array([tic_tac_toe.MARKS.index(mark) for mark in marks[:9]], jnp.int8)
        return super().from_text(text) if board.any() else self.init()


@planted("bad_text_is_refused")
class NonsenseIsTheStart(TicTacToe):
    def from_text(self, text):
        return super().from_text(text) if set(text) & set("XO") else self.init()


@planted("bad_text_is_refused", target=10)
class AcceptsTwoWinners(Pig):
    def from_text(self, text):
        try:
            return super().from_text(text)
        except ValueError:
            *numbers, doing = text.split() or [""]
            if len(numbers) != 4 or not all(map(str.isdecimal, numbers)) or doing != "decides":
                raise
            one, two, total, turn = (min(int(number), 10) for number in numbers)
            return pig.State(jnp.array([one, two]), jnp.int32(total), jnp.int32(turn % 2), jnp.array(False))


@planted("features_are_finite")
class LogarithmOfNothing(Weighed):
    feature_names = ("crosses", "noughts")

    def features(self, state, player):
        return jnp.log(super().features(state, player))


@pytest.mark.parametrize(("cls", "options", "name"), PLANTED)
def test_planted_bug_is_caught_and_named(cls, options, name):
    with pytest.raises(testing.ConformanceError) as caught:
        testing.check_game(cls(**options), games=8, examples=4)
    assert caught.value.property == name
    assert f"breaks {name} (" in str(caught.value)


def test_traces_are_counted():
    """What retraces is seen by `types_are_stable` first, so the count behind it is tested alone."""
    game = AgesInItsStructure()
    first = look(game, game.init(), jnp.int32(0))
    evidence = sampled.gather(game, [play.Sample([4, 0, 8], first)], games=8, seed=0)
    assert evidence.num_traces == 3
    with pytest.raises(Broken, match="traced 3 times"):
        sampled.no_retrace(game, evidence)


class SamePlayerAgain(TicTacToe):
    def step(self, state, move):
        return super().step(state, move)._replace(turn=state.turn)


def test_wrong_host_code_is_caught(monkeypatch):
    """That of a game in which the same player moves on and on, as a mistake in the lowering could make it."""
    wrong = host.of(SamePlayerAgain())
    monkeypatch.setattr(host, "of", lambda game: wrong)
    failure = failure_of(TicTacToe())
    assert failure.property == "host_code_equals_jax"
    assert "the compiled step differs from the one in JAX for move" in str(failure)


def test_every_property_has_a_planted_bug():
    named = {case.values[2] for case in PLANTED}
    alone = {"no_retrace", "named_players_can_be_made", "host_code_equals_jax"}  # in tests of their own
    assert {function.__name__ for function in PROPERTIES} - named == alone


# --- how it is said


def failure_of(game, **more):
    with pytest.raises(testing.ConformanceError) as caught:
        testing.check_game(game, games=8, examples=4, **more)
    return caught.value


class NobodyOfThatName(TicTacToe):
    named_players = {"champion": "negascot(depth=2)"}


def test_named_players_that_cannot_be_made_are_named():
    """By whoever knows all players, as launch.check does."""
    error = failure_of(NobodyOfThatName(), make_player=players.make)
    assert error.property == "named_players_can_be_made"
    assert "named_players['champion'] is 'negascot(depth=2)', which cannot be made: unknown player" in str(error)


@pytest.mark.parametrize(
    ("game", "words"),
    [
        (ScoresNotScaled(target=10), r"observe gives player 0 (2|3|4|5|6)\.0 at \[0\], out of \[-1, 1\]"),
        (
            OneSeatSeesNan(players=3, target=10),
            r"observe gives player 2 nan at \[0\], out of .*, as are \d+ more",
        ),
        (OneNameTooFew(), "features gives 2 numbers and feature_names has 1"),
        (OneWeightTooMany(), "features gives 2 numbers and feature_weights has 3"),
        (WeightIsNan(), "feature_weights of features has nan as number 1"),
        (SetWithoutEnoughNames(), r"feature_sets\['marks'\] gives 2 numbers and names has 1"),
        (LogarithmOfNothing(), r"features gives player 0 -inf as 'crosses' \(number 0\); seen after moves \[\]"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_entry_at_fault_is_named(game, words):
    assert re.search(words, str(failure_of(game)))


def test_long_lists_are_cut():
    moves = tuple(range(500))
    text = str(report.Failure("it broke", moves, "here"))
    ends = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, … 476 more …, 488, 489, 490, 491, 492, 493, 494, 495, 496, 497, 498"
    assert text == f"it broke; seen after moves {ends}, 499] at here"
    assert report.list_text(range(3)) == "[0, 1, 2]"
    assert report.array_text(np.zeros((5, 9), np.int8)).startswith("int8[5, 9] [0, 0, ")
    assert len(report.array_text(np.zeros((50, 90)))) < 200
    # Of two long arrays the first entry that differs, by more than rounding where that is allowed.
    one, other = np.zeros((6, 6), np.float32), np.full((6, 6), 1e-7, np.float32)
    other[2, 3] = 7
    assert node.difference(one, other, ("now", "then"), rounding=True) == " is 0.0 at [2, 3] now but 7.0 at [2, 3] then"
    assert "at [0, 0] now" in node.difference(one, other, ("now", "then"))


class CoinsOfMany(TicTacToe):
    """A tenth of what it declares."""

    @property
    def spec(self) -> Spec:
        return dataclasses.replace(super().spec, min_return=-10.0, max_return=10.0)


def test_returns_that_use_little_of_their_range_are_noted():
    found = testing.check_game(CoinsOfMany(), games=8, examples=4)
    (note,) = found.notes
    assert note.startswith("the returns seen lie between -1 and 1, 10% of the declared range from -10 to 10; ")
    assert testing.check_game(TicTacToe(), games=8, examples=4).notes == ()
