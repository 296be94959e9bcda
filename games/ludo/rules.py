"""Ludo: race your pieces from the base around the ring and up your column to the goal."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.game import CHANCE, TERMINAL, Spec
from boardrl.play.games_last import games_last
from games.ludo import board as boards
from games.ludo import flags as rule_flags
from games.ludo import land as landing
from games.ludo import observe
from games.ludo.board import BASE, Board
from games.ludo.flags import PRESETS, Flags
from games.ludo.observe import FACES

DRAW, ROLL = -1, 0  # values of `die` at chance nodes: the starter is drawn, or the die is rolled


class State(NamedTuple):
    pieces: Array  # [P, N] int8: places, see board.py
    turn: Array  # [] int8: the seat to act
    die: Array  # [] int8: the face to be played, ROLL or DRAW
    movable: Array  # [N] bool: the pieces that may be moved by this die
    tries: Array  # [] int8: rolls left in this turn until a piece moves, the next one included
    opening: Array  # [] int8: turns left of the first round, this one included; only used by some rules
    sixes: Array  # [] int8: sixes in a row in this turn; only used by some rules
    finished: Array  # [] int8: number of players with all pieces at the goal
    ranks: Array  # [P] int8: 1 for the first of them, and so on; 0 for a player who has not finished


@dataclasses.dataclass(frozen=True)
class LudoRules:
    """Actions: the index of a piece, then pass if the rules allow it. Outcomes: the die's face minus 1, or the starting
    seat relative to the first. Flags that are None have the values of the preset `rules`."""

    rules: rule_flags.Preset = setting("alhajry2012", "the preset")
    players: int = setting(4, "2 to 4")
    pieces: int = setting(4, "pieces of each player, 1 to 4")
    ring: int = setting(52, "squares of the ring, a multiple of 4 from 8 to 64")
    column: int = setting(5, "squares of each home column, 1 to 12")
    starter: rule_flags.Starter | None = setting(None, "who begins")
    lap: rule_flags.Lap | None = setting(None, "whether a piece reaches its own start again before the column")
    gate: rule_flags.Gate | None = setting(None, "whether the first square after the lap is also on the ring")
    tries: int | None = setting(None, "rolls per turn while no piece is between base and goal, 1 to 9")
    tries_in_round_one: bool | None = setting(None, "whether only the first round gives more than one try")
    bonus: rule_flags.Bonus | None = setting(None, "when a six gives another roll")
    must_move: bool | None = setting(None, "whether a movable piece must be moved")
    globes: rule_flags.Globes | None = setting(None, "the effect of a globe")
    pairs: rule_flags.Pairs | None = setting(None, "the effect of two enemy pieces on one that lands on them")
    passing: rule_flags.Passing | None = setting(None, "whether two enemy pieces may be passed")
    release: rule_flags.Release | None = setting(None, "the effect of a release onto enemies")
    stars: rule_flags.Stars | None = setting(None, "on which stars of a jump enemies matter")
    first_star: int | None = setting(None, "squares from a start to its first star on the ring of 52, 1 to 10 but 8")
    overshoot: rule_flags.Overshoot | None = setting(None, "the effect of a die too high for the goal")
    play_on: bool | None = setting(None, "whether the game continues for places 2 and 3")
    three_sixes: bool | None = setting(None, "whether the third six in a row ends the turn")

    def __post_init__(self) -> None:
        _check("rules", self.rules in PRESETS, self.rules, f"one of {', '.join(PRESETS)}")
        _check("players", 2 <= self.players <= 4, self.players, "2 to 4")
        _check("pieces", 1 <= self.pieces <= 4, self.pieces, "1 to 4")
        _check("ring", 8 <= self.ring <= 64 and self.ring % 4 == 0, self.ring, "a multiple of 4 from 8 to 64")
        _check("column", 1 <= self.column <= 12, self.column, "1 to 12")
        _check("tries", self.tries is None or 1 <= self.tries <= 9, self.tries, "1 to 9")
        star = self.flags.first_star
        _check("first_star", 1 <= star <= 10 and star != 8, star, "1 to 10 but not 8, where a globe is")
        clash = set(self.board.near_stars) & set(self.board.neutral_globes)
        _check("first_star", not clash, star, f"another on a ring of {self.ring}, where a globe is in its place")

    @functools.cached_property
    def flags(self) -> Flags:
        """The flags of the preset, with those that were set individually."""
        own = {name: getattr(self, name) for name in Flags._fields if getattr(self, name) is not None}
        return PRESETS[self.rules]._replace(**own)

    @functools.cached_property
    def board(self) -> Board:
        return boards.build(self.flags, players=self.players, ring=self.ring, column=self.column)

    @property
    def counts_rounds(self) -> bool:
        return self.flags.tries_in_round_one or self.flags.bonus == "after_round_one"

    @property
    def winners(self) -> int:
        """Number of players who have to finish to end the game."""
        return self.players - 1 if self.flags.play_on else 1

    @functools.cached_property
    def spec(self) -> Spec:
        points = self.flags.play_on
        return Spec(
            "ludo",
            num_players=self.players,
            num_actions=self.pieces + (not self.flags.must_move),
            num_outcomes=FACES,
            obs_shape=(observe.size(self.players, self.board),),
            max_steps=20_000,  # about 20 times a random game of four
            min_return=0.0 if points else -1.0 / (self.players - 1),
            max_return=self.players - 1.0 if points else 1.0,
            return_sum=self.players * (self.players - 1) / 2 if points else 0.0,
        )

    def init(self) -> State:
        flags = self.flags
        return State(
            pieces=jnp.full((self.players, self.pieces), BASE, jnp.int8),
            turn=jnp.int8(0),
            die=jnp.int8(DRAW if flags.starter == "random" else ROLL),
            movable=jnp.zeros(self.pieces, bool),
            tries=jnp.int8(flags.tries),
            opening=jnp.int8(self.players if self.counts_rounds else 0),
            sixes=jnp.int8(0),
            finished=jnp.int8(0),
            ranks=jnp.zeros(self.players, jnp.int8),
        )

    def actor(self, state: State) -> Array:
        waiting = jnp.where(state.die > ROLL, state.turn, CHANCE).astype(jnp.int32)
        return jnp.where(self._over(state), TERMINAL, waiting)

    def legal(self, state: State) -> Array:
        if self.flags.must_move:
            return state.movable
        # While tries are left a pass would change nothing: the roll stays until a piece moves.
        may_pass = state.movable.any(keepdims=True) & (state.tries[None] <= 1)
        return jnp.concatenate([state.movable, may_pass])

    def chance(self, state: State) -> Array:
        starter = jnp.where(jnp.arange(FACES) < self.players, 1 / self.players, 0.0)
        odds = jnp.where(state.die == DRAW, starter, 1 / FACES)
        return jnp.where((state.die <= ROLL) & ~self._over(state), odds, 0.0).astype(jnp.float32)

    def step(self, state: State, move: Array) -> State:
        after = _select(state.die > ROLL, self._act(state, move), self._settle(state, move))
        return _select(self._over(state), state, after)

    # `step` at each kind of node, in the layout that is fast for many games.

    def settle(self, state: State, outcome: Array) -> State:
        return games_last(self._settle)(state, outcome)

    def act(self, state: State, action: Array) -> State:
        return games_last(self._act)(state, action)

    def returns(self, state: State) -> Array:
        over = self._over(state)
        if self.flags.play_on:
            points = jnp.where(state.ranks > 0, self.players - state.ranks, 0).astype(jnp.float32)
        else:
            points = jnp.where(state.ranks == 1, self.spec.max_return, self.spec.min_return).astype(jnp.float32)
        return jnp.where(over, points, 0.0)

    def observe(self, state: State, player: Array) -> Array:
        """See observe.py."""
        places, held = observe.entries(self, state, player)
        seen = jnp.zeros(self.spec.obs_shape, jnp.float32)
        return seen.at[places].add(held, mode="promise_in_bounds", wrap_negative_indices=False)

    def shares(self, index: Array, size: int) -> Array:
        """[P, size] float32: the fraction of each player's pieces with each index, given [P, N] indices."""
        there = index[:, :, None] == jnp.arange(size, dtype=index.dtype)[None, None]
        return there.sum(1, dtype=jnp.float32) / self.pieces

    @property
    def rotate(self) -> Callable[[State], State] | None:
        """`rotate`, or None for three players: they start at unequal distances, so their seats are not symmetric."""
        return None if self.players == 3 else self._rotate

    def seen_from(self, by_seat: Array, player: Array) -> Array:
        """[P, ...] the array in order of play from `player` on."""
        turned = by_seat
        for seat in range(1, self.players):
            turned = jnp.where(player == seat, jnp.roll(by_seat, -seat, 0), turned)
        return turned

    def landings(self, state: State) -> landing.Landing:
        """The landing of each of the actor's pieces by the current die, with a leading axis [N]."""
        mine = self.mine(state)
        land = functools.partial(landing.land, self.board, self.flags, state.pieces, state.turn, die=state.die)
        return jax.vmap(lambda place: land(place=place))(mine)

    def movable(self, pieces: Array, turn: Array, die: Array) -> Array:
        """[N, *] bool: which of a player's pieces may be moved by a die."""
        land = functools.partial(landing.land, self.board, self.flags, pieces, turn, die=die)
        return jax.vmap(lambda place: land(place=place).allowed)(row_of(pieces, turn))

    def mine(self, state: State) -> Array:
        """[N, *] int8: the places of the player to act."""
        return row_of(state.pieces, state.turn)

    def _rotate(self, state: State) -> State:
        turn = jnp.where(state.turn == self.players - 1, 0, state.turn + 1)
        pieces, ranks = jnp.roll(state.pieces, 1, 0), jnp.roll(state.ranks, 1)
        return state._replace(pieces=pieces, ranks=ranks, turn=turn)

    def _over(self, state: State) -> Array:
        return state.finished >= self.winners

    # From here on every array may have trailing batch axes, [..., *].

    def _settle(self, state: State, outcome: Array) -> State:
        """`step` at a chance node: the starter, or the die; skips a roll that leaves nothing to decide."""
        flags = self.flags
        die = outcome.astype(jnp.int8) + 1
        sixes = jnp.where(die == FACES, state.sixes + 1, 0) if flags.three_sixes else state.sixes
        void = sixes == 3
        movable = self.movable(state.pieces, state.turn, die) & ~void[None]
        idle = self._hand_on(state, die, sixes, jnp.zeros_like(void))
        after = _select(movable.any(0), state._replace(die=die, movable=movable, sixes=sixes), idle)
        if flags.starter == "random":
            starter = state.turn + outcome.astype(jnp.int8)  # relative to `turn`, so that seats are symmetric
            starter = jnp.where(starter >= self.players, starter - self.players, starter)
            after = _select(state.die == DRAW, state._replace(turn=starter, die=jnp.zeros_like(state.die)), after)
        return after

    def _act(self, state: State, action: Array) -> State:
        """`step` at a decision: moves a piece, or passes."""
        chosen = landing.numbers(self.pieces, action) == action.astype(jnp.int8)[None]
        seat = landing.numbers(self.players, state.turn) == state.turn[None]
        mine = self.mine(state)
        place = jnp.where(chosen, mine, 0).sum(0, dtype=jnp.int8)
        end = landing.land(self.board, self.flags, state.pieces, state.turn, place, state.die)
        moved = action < self.pieces
        hits = end.hits & moved[None, None]
        here = seat[:, None] & chosen[None]
        pieces = jnp.where(hits, BASE, jnp.where(here, end.place[None, None], state.pieces))
        done = (jnp.where(chosen, end.place[None], mine) == self.board.goal).all(0)

        finished = state.finished + done.astype(jnp.int8)
        ranks = jnp.where(seat & done[None], finished[None], state.ranks)
        after = state._replace(pieces=pieces.astype(jnp.int8), finished=finished, ranks=ranks)
        after = self._hand_on(after, state.die, state.sixes, moved)
        if self.flags.must_move or self.flags.tries == 1:
            return after
        return _select(moved | (state.tries <= 1), after, state)  # the roll stays

    def _hand_on(self, state: State, die: Array, sixes: Array, moved: Array) -> State:
        """Passes the turn on after a roll is played, or could not be."""
        flags, seats = self.flags, landing.numbers(self.players, state.turn)
        six = (die == FACES) & (sixes < 3)
        bonus = {"always": six, "moved": six & moved, "after_round_one": six & (state.opening == 0)}[flags.bonus]
        if flags.play_on:  # otherwise the first to finish ends the game, and there is no next roll
            bonus &= ~((state.ranks > 0) & (seats == state.turn[None])).any(0)
        retry = ~moved & ~bonus & (state.tries > 1) & (sixes < 3)
        again = bonus | retry
        turn = jnp.where(again, state.turn, self._next(state.turn, state.ranks))
        state = state._replace(turn=turn, die=jnp.zeros_like(state.die), movable=jnp.zeros_like(state.movable))
        if flags.three_sixes:
            state = state._replace(sixes=jnp.where(again, sixes, 0))
        if self.counts_rounds:
            state = state._replace(opening=jnp.where(again, state.opening, jnp.maximum(state.opening - 1, 0)))
        if flags.tries > 1:
            if flags.tries_in_round_one:
                idle = state.opening > 0  # no piece is out before a player's first turn
            else:
                active = ((state.pieces > BASE) & (state.pieces < self.board.goal)).any(1)
                idle = ~(active & (seats == turn[None])).any(0)
            fresh = ~again & idle
            tries = jnp.where(fresh, flags.tries, jnp.where(retry, state.tries - 1, 1))
            state = state._replace(tries=tries.astype(jnp.int8))
        return state

    def _next(self, turn: Array, ranks: Array) -> Array:
        """[*] the next seat that has not finished."""
        if not self.flags.play_on:
            return jnp.where(turn == self.players - 1, 0, turn + 1)
        seats = landing.numbers(self.players, turn)
        wait = jnp.where(seats > turn[None], seats - turn[None], seats - turn[None] + self.players)
        wait = jnp.where(ranks == 0, wait, 2 * self.players)
        return jnp.where(wait == wait.min(0, keepdims=True), seats, 0).sum(0, dtype=jnp.int8)


def row_of(pieces: Array, seat: Array) -> Array:
    """[N, *] the row of one seat in [P, N, *]."""
    here = landing.numbers(pieces.shape[0], seat) == seat[None]
    return jnp.where(here[:, None], pieces, 0).sum(0, dtype=pieces.dtype)


def _select(condition: Array, yes: State, no: State) -> State:
    """One of two states, by a condition that has only the batch axes."""

    def pick(a: Array, b: Array) -> Array:
        return jnp.where(condition.reshape((1,) * (a.ndim - condition.ndim) + condition.shape), a, b)

    return jax.tree.map(pick, yes, no)


def _check(name: str, fits: bool, value: object, expected: str) -> None:
    if not fits:
        raise UserError(f"{name}={value} does not fit ludo: expected {expected}")
