"""Review of a recorded game: what every decision lost, and how lucky every roll was, by a judge of positions.

The loss of a decision is, for the player who decides,

    loss(s, a) = max_a' v(s_a') − v(s_a) ≥ 0,

and the luck of a roll that of `boardrl.matches.luck`. With exact values v and two players the result of a game is its
value + luck − own losses + the other's losses.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from boardrl.drawing import state_text
from boardrl.game import CHANCE, Game
from boardrl.matches import luck
from boardrl.matches.luck import Control
from boardrl.matches.replay_file import Step
from boardrl.play.policy import Value, afterstate_values

MISTAKE = 1e-6  # a loss of more is a mistake


class Judge(Protocol):
    """Values positions of one game; `viewer` is the seat that last had the dice."""

    name: str

    def actions(self, state: Any) -> np.ndarray:
        """[A, P] values after each action of a decision; meaningless for illegal ones."""

    def outcomes(self, state: Any, viewer: int) -> np.ndarray:
        """[C, P] values after each outcome of a chance node; meaningless where the probability is 0."""


class ValueJudge:
    """Judges by a value function: of what each action leads to, before the dice."""

    def __init__(self, game: Game[Any], control: Control) -> None:
        self.name, self._game, self._control = control.name, game, control

    def actions(self, state: Any) -> np.ndarray:
        return np.asarray(_actions(self._game, self._control.value, self._control.params, state), np.float64)

    def outcomes(self, state: Any, viewer: int) -> np.ndarray:
        control = self._control
        found = _outcomes(self._game, control.value, control.at_decisions, control.params, state, np.int32(viewer))
        return np.asarray(found, np.float64)


@functools.partial(jax.jit, static_argnames=("game", "value"))
def _actions(game: Game[Any], value: Value, params: Any, state: Any) -> Array:
    return afterstate_values(game, value, params, state)


@functools.partial(jax.jit, static_argnames=("game", "value", "at_decisions"))
def _outcomes(game: Game[Any], value: Value, at_decisions: bool, params: Any, state: Any, viewer: Array) -> Array:
    return luck.after_outcomes(game, value, params, state, viewer, at_decisions=at_decisions).values


class Decision(NamedTuple):
    """A decision of a player, judged."""

    step: int  # of the game, from 1 on
    seat: int
    action: int
    text: str
    value: float  # of the action to the player
    best_action: int
    best_text: str
    best_value: float
    loss: float
    legal: int  # number of legal actions; 1: there was nothing to decide


class Roll(NamedTuple):
    """An outcome of the dice, judged."""

    step: int
    outcome: int
    text: str
    luck: tuple[float, ...]  # [P]


class Total(NamedTuple):
    """A player's game in numbers."""

    seat: int
    player: str
    decisions: int  # with more than one legal action
    mistakes: int  # decisions that lost something
    loss: float  # summed
    luck: float  # summed
    result: float  # the return
    adjusted: float  # the return − luck


class Review(NamedTuple):
    judge: str
    decisions: list[Decision]
    rolls: list[Roll]
    totals: list[Total]


class Judged(NamedTuple):
    """A step of a game, judged."""

    item: Decision | Roll
    value: np.ndarray  # [P] of the position before it: of the best action, or the mean over the outcomes


def review(game: Game[Any], players: tuple[str, ...], steps: Iterable[Step], judge: Judge) -> Review:
    """Judges every step of a game."""
    decisions: list[Decision] = []
    rolls: list[Roll] = []
    returns = np.zeros(game.spec.num_players)
    viewer = 0
    for number, step in enumerate(steps, 1):
        item = judge_step(game, number, step, judge, viewer).item
        if isinstance(item, Roll):
            rolls.append(item)
        else:
            viewer = item.seat
            decisions.append(item)
        returns = np.asarray(step.returns, np.float64)
    return Review(judge.name, decisions, rolls, totals(players, decisions, rolls, returns))


def judge_step(game: Game[Any], number: int, step: Step, judge: Judge, viewer: int) -> Judged:
    """Judges one step; `viewer` is the seat that last decided."""
    text = state_text.move(game, step.before, step.actor, step.move)
    if step.actor == CHANCE:
        values = judge.outcomes(step.before, viewer)
        mean = _mean(game, step.before, values)
        return Judged(Roll(number, step.move, text, tuple((values[step.move] - mean).tolist())), mean)
    values = judge.actions(step.before)
    decision = _decision(game, number, step, text, values)
    return Judged(decision, values[decision.best_action])


def totals(
    players: Sequence[str], decisions: Sequence[Decision], rolls: Sequence[Roll], returns: np.ndarray
) -> list[Total]:
    """Each player's game in numbers."""
    found = []
    for seat, player in enumerate(players):
        mine = [one for one in decisions if one.seat == seat and one.legal > 1]
        fell = float(sum(roll.luck[seat] for roll in rolls))
        lost = [one.loss for one in mine]
        mistakes = sum(loss > MISTAKE for loss in lost)
        result = float(returns[seat])
        found.append(Total(seat, player, len(mine), mistakes, float(sum(lost)), fell, result, result - fell))
    return found


def _mean(game: Game[Any], state: Any, values: np.ndarray) -> np.ndarray:
    """[P] the mean of [C, P] values over the outcomes of a chance node."""
    chance = np.asarray(_chance(game, state), np.float64)
    possible = chance > 0
    mean: np.ndarray = (chance[possible] / chance.sum()) @ values[possible]
    return mean


def _decision(game: Game[Any], number: int, step: Step, text: str, values: np.ndarray) -> Decision:
    legal = np.flatnonzero(np.asarray(_legal(game, step.before)))
    mine = values[:, step.actor]
    best = int(legal[np.argmax(mine[legal])])
    best = step.move if mine[step.move] >= mine[best] else best
    best_text = state_text.move(game, step.before, step.actor, best)
    value, best_value = float(mine[step.move]), float(mine[best])
    loss = best_value - value
    return Decision(number, step.actor, step.move, text, value, best, best_text, best_value, loss, len(legal))


@functools.partial(jax.jit, static_argnames="game")
def _chance(game: Game[Any], state: Any) -> Array:
    return game.chance(jax.tree.map(jnp.asarray, state))


@functools.partial(jax.jit, static_argnames="game")
def _legal(game: Game[Any], state: Any) -> Array:
    return game.legal(jax.tree.map(jnp.asarray, state))
