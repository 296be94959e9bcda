"""The rules of backgammon as pure functions on one state."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from boardrl.game import CHANCE, TERMINAL, Spec, one_hot, select
from games.backgammon import observe
from games.backgammon.board import (
    BAR,
    CHECKERS,
    HIGH,
    LOW,
    ODDS,
    OPENING_ODDS,
    PLACES,
    POINTS,
    ROLLS,
    START,
    STARTER_ODDS,
)
from games.backgammon.moves import Moves, allowed, position, with_one_die

# What `left` says beside the number of checker moves that are left.
ROLL = 0  # the dice are to be rolled
OPENING = -1  # the opening roll, which is no double
STARTER = -2  # who begins is to be drawn


class State(NamedTuple):
    checkers: Array  # [P, 25] int8: each player's checkers on its points and on the bar, in its own view
    turn: Array  # [] int8: the seat to act or to roll
    high: Array  # [] int8: the higher die that is left to play, or 0
    low: Array  # [] int8: the lower one; equal to `high` after a double, and 0 if one move is left
    left: Array  # [] int8: checker moves that are left, ROLL, OPENING or STARTER


@dataclasses.dataclass(frozen=True)
class Rules:
    """Action 25 i + p moves a checker from place p (24: the bar) by the higher die (i = 0) or the lower one (i = 1).

    A turn is one action for every die that can be played. All positions that a roll allows can be reached; of two
    different dice the lower is played first only where that may matter. Outcomes are the 21 rolls. Two chance nodes
    begin the game: who begins, then a roll that is no double, as if each player had rolled one die.
    """

    gammons: bool = True

    @property
    def spec(self) -> Spec:
        most = 3.0 if self.gammons else 1.0
        return Spec(
            "backgammon",
            num_players=2,
            num_actions=2 * PLACES,
            num_outcomes=len(ROLLS),
            obs_shape=(observe.SIZE,),
            max_steps=10_000,
            min_return=-most,
            max_return=most,
        )

    def init(self) -> State:
        none = jnp.int8(0)
        return State(jnp.asarray(np.stack([START, START])), none, none, none, jnp.int8(STARTER))

    def actor(self, state: State) -> Array:
        seat = state.turn.astype(jnp.int32)
        return jnp.where(self._done(state).any(), TERMINAL, jnp.where(state.left > 0, seat, CHANCE))

    def legal(self, state: State) -> Array:
        moves = self._moves(state)
        deciding = (state.left > 0) & ~self._done(state).any()
        return jnp.concatenate([moves.high, moves.low]) & deciding

    def chance(self, state: State) -> Array:
        odds = jnp.where(state.left == OPENING, jnp.asarray(OPENING_ODDS), jnp.asarray(ODDS))
        odds = jnp.where(state.left == STARTER, jnp.asarray(STARTER_ODDS), odds)
        return jnp.where((state.left <= ROLL) & ~self._done(state).any(), odds, jnp.float32(0))

    def step(self, state: State, move: Array) -> State:
        after = select(state.left > 0, self.act(state, move), self.settle(state, move))
        return select(self._done(state).any(), state, after)

    def settle(self, state: State, outcome: Array) -> State:
        """The state after a roll; whoever cannot move is passed over."""
        at = one_hot(outcome, len(ROLLS))
        high, low = (jnp.where(at, jnp.asarray(faces), 0).sum(dtype=jnp.int8) for faces in (HIGH, LOW))
        rolled = state._replace(high=high, low=low, left=jnp.where(high == low, 4, 2).astype(jnp.int8))
        own, other = _sides(state)
        board = position(own, other)
        moves = (with_one_die(board, high) | with_one_die(board, low)).any()
        begun = state._replace(turn=jnp.where(outcome == 1, 1 - state.turn, state.turn), left=jnp.int8(OPENING))
        return select(state.left == STARTER, begun, select(moves, rolled, _passed(state)))

    def act(self, state: State, action: Array) -> State:
        """The state after one checker move."""
        by_low = action >= PLACES
        place = jnp.where(by_low, action - PLACES, action)
        die = jnp.where(by_low, state.low, state.high)
        own, other = moved(*_sides(state), place, die)
        second = state.turn == 1
        checkers = jnp.where(second, jnp.stack([other, own]), jnp.stack([own, other]))
        state = state._replace(checkers=checkers)
        # Of two different dice the other one follows if both can be played; after a double, as long as it can.
        double = state.high == state.low
        after = state._replace(
            high=jnp.where(by_low | double, state.high, state.low),
            low=jnp.where(double & (state.left > 2), state.low, 0).astype(jnp.int8),
            left=jnp.where(double, state.left - 1, 1).astype(jnp.int8),
        )
        again = with_one_die(position(own, other), after.high).any() & (own.sum(dtype=jnp.int32) > 0)
        return select(again & (state.left > 1), after, _passed(state))

    def returns(self, state: State) -> Array:
        """The winner gets 1; 2 for a gammon, if the loser has borne off no checker; 3 for a backgammon, if besides
        one of the loser's checkers is on the bar or in the winner's home board."""
        count = state.checkers.sum(1, dtype=jnp.int32)
        won = count == 0
        points = jnp.int32(1)
        if self.gammons:
            behind = (state.checkers[:, POINTS - 6 :] > 0).any(1)
            loses = ~won & (count == CHECKERS)
            points = 1 + loses.any().astype(jnp.int32) + (loses & behind).any().astype(jnp.int32)
        return jnp.where(won.any(), jnp.where(won, points, -points), 0).astype(jnp.float32)

    def observe(self, state: State, player: Array) -> Array:
        return observe.observe(state, player)

    def viewpoint(self, state: State) -> Array:
        """Whoever has moved last: all positions that are chosen from are seen so."""
        return jnp.where(state.left > 0, state.turn, 1 - state.turn).astype(jnp.int32)

    def rotate(self, state: State) -> State:
        return state._replace(checkers=state.checkers[::-1], turn=1 - state.turn)

    def _done(self, state: State) -> Array:
        """[P] bool: who has borne off all checkers."""
        return ~(state.checkers > 0).any(1)

    def _moves(self, state: State) -> Moves:
        return allowed(position(*_sides(state)), state.high, state.low)


def _sides(state: State) -> tuple[Array, Array]:
    """[25] the checkers of the seat to act, and [25] the opponent's."""
    first, second = state.checkers[0], state.checkers[1]
    return jnp.where(state.turn == 1, second, first), jnp.where(state.turn == 1, first, second)


def moved(own: Array, other: Array, place: Array, die: Array) -> tuple[Array, Array]:
    """Both sides' checkers after one of the mover's has moved, in which it may hit one."""
    reached = one_hot(place - die.astype(jnp.int32), PLACES)
    facing = jnp.concatenate([reached[:POINTS][::-1], jnp.zeros(1, bool)])
    hit = facing & (other == 1)
    own = own - one_hot(place, PLACES).astype(jnp.int8) + reached.astype(jnp.int8)
    on_bar = jnp.arange(PLACES) == BAR
    return own, jnp.where(hit, 0, other + (on_bar & hit.any()).astype(jnp.int8)).astype(jnp.int8)


def _passed(state: State) -> State:
    """The dice are the opponent's."""
    none = jnp.int8(0)
    return State(state.checkers, 1 - state.turn, none, none, none)
