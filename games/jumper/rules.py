"""Jumper's rules in JAX: each hop is an action, and the state holds the unfinished chain."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from boardrl.errors import UserError
from boardrl.game import CHANCE, TERMINAL, Spec, either, one_hot, select, some

EMPTY, WHITE, BLACK, DEAD = 0, 1, 2, 3
NO_CHAIN = -1
DIRECTIONS = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))  # (row, column)
PLANES = 5  # planes of an observation


class State(NamedTuple):
    white: Array  # [size²] bool, row by row: White's pieces
    black: Array  # [size²] bool: Black's
    dead: Array  # [size²] bool: the dead cells
    turn: Array  # [] int32: the seat to act; White is seat 0, Black seat 1
    chain: Array  # [] int32: the last cell of the unfinished chain, or NO_CHAIN

    @property
    def empty(self) -> Array:
        """[size²] bool."""
        return ~either(self.held, self.dead)

    @property
    def held(self) -> Array:
        """[size²] bool: the pieces of both players."""
        return either(self.white, self.black)

    @property
    def board(self) -> Array:
        """[size²] int8: EMPTY, WHITE, BLACK or DEAD."""
        return (
            WHITE * self.white.astype(np.int8) + BLACK * self.black.astype(np.int8) + DEAD * self.dead.astype(np.int8)
        )

    def sides(self, player: Array) -> tuple[Array, Array]:
        """[size²] bool: the player's pieces, and the opponent's."""
        first = player == 0
        return jnp.where(first, self.white, self.black), jnp.where(first, self.black, self.white)


def of_board(board: Any, turn: Any, chain: Any) -> State:
    """The state of a board, [..., size²] of EMPTY, WHITE, BLACK and DEAD."""
    return State(board == WHITE, board == BLACK, board == DEAD, turn, chain)


@dataclasses.dataclass(frozen=True)
class Rules:
    """The eight members of a game, and `rotate`.

    Cells are numbered row by row from the top left. With n = size² cells the actions are
        cell                                   place there
        n · (1 + direction) + cell             hop from there, in the order of DIRECTIONS
        9 · n                                  stop: end the turn in the middle of a chain
    A chain that cannot continue ends the turn, so that a stop is always a choice.

    With a density, the game begins with chance nodes that fill round(density · size²) cells: each plays one turn, drawn
    uniformly from the places and single hops of the player to move. So the players begin in a position that legal play
    can reach, dead cells included. (The paper only says "random board"; outcomes have the numbers of the actions.)
    """

    size: int = 6
    density: float = 0.0

    def __post_init__(self) -> None:
        if self.size < 3:
            raise UserError(f"size={self.size} does not fit jumper: expected 3 or more")
        if not 0 <= self.density < 1 or self.num_dealt >= self.num_cells:
            raise UserError(
                f"density={self.density} does not fit jumper: expected the fraction of cells filled at the start, "
                f"at least 0, that leaves at least one of {self.num_cells} cells empty"
            )

    @property
    def num_cells(self) -> int:
        return self.size * self.size

    @property
    def num_dealt(self) -> int:
        """The number of cells that chance fills before the players begin."""
        return round(self.density * self.num_cells)

    @property
    def stop(self) -> int:
        """The last action."""
        return 9 * self.num_cells

    @property
    def spec(self) -> Spec:
        # Every place and hop fills a cell. A stop needs an earlier hop in the same turn, an empty cell for the next
        # hop, and two pieces besides the one that landed: so no stop in the first three turns, in the random deal, or
        # once the board is full.
        most_stops = self.num_cells - max(self.num_dealt, 3) - 1
        return Spec(
            "jumper",
            num_players=2,
            num_actions=self.stop + 1,
            num_outcomes=self.stop if self.num_dealt else 0,
            obs_shape=(self.size, self.size, PLANES),
            max_steps=self.num_cells + max(most_stops, 0),
        )

    def init(self) -> State:
        nothing = jnp.zeros(self.num_cells, jnp.bool_)
        return State(nothing, nothing, nothing, jnp.int32(0), jnp.int32(NO_CHAIN))

    def actor(self, state: State) -> Array:
        seat = jnp.where(self._dealing(state), CHANCE, state.turn)
        return jnp.where(some(state.empty), seat, TERMINAL).astype(jnp.int32)

    def legal(self, state: State) -> Array:
        return self._moves(state) & ~self._dealing(state)

    def chance(self, state: State) -> Array:
        if not self.num_dealt:
            return jnp.zeros(0, jnp.float32)
        moves = (self._moves(state)[: self.stop] & self._dealing(state)).astype(jnp.float32)
        return moves / jnp.maximum(moves.sum(), 1.0)

    def step(self, state: State, move: Array) -> State:
        after = self._play(state, move, chains=~self._dealing(state))
        return select(some(state.empty), after, state)

    def act(self, state: State, action: Array) -> State:
        """`step` at a decision."""
        return self._play(state, action, chains=jnp.array(True))

    def settle(self, state: State, outcome: Array) -> State:
        """`step` at a chance node."""
        return self._play(state, outcome, chains=jnp.array(False))

    def _play(self, state: State, move: Array, *, chains: Array) -> State:
        """The state after a move in a game that is not over; without `chains` a hop ends the turn."""
        kind, cell = move // self.num_cells, move % self.num_cells
        hops = (kind > 0) & (move != self.stop)
        step = sum((jnp.where(kind == 1 + d, self._offset(d), 0) for d in range(8)), start=jnp.zeros_like(move))
        landing = cell + 2 * step
        landed = one_hot(landing, self.num_cells) & (move != self.stop)
        jumped = one_hot(cell + step, self.num_cells) & hops
        white_moves = state.turn == 0
        taken = jumped & jnp.where(white_moves, state.black, state.white)
        # The hop leaves what lies around its landing as it was, but for the way back, where its start is not empty.
        # So the board before will do, which XLA has at hand: the one after would be computed anew for each shift.
        goes_on = chains & hops & some(landed & self.can_hop(state))
        return State(
            white=(state.white & ~taken) | (landed & white_moves),
            black=(state.black & ~taken) | (landed & ~white_moves),
            dead=state.dead | taken,
            turn=jnp.where(goes_on, state.turn, 1 - state.turn),
            chain=jnp.where(goes_on, landing, NO_CHAIN).astype(jnp.int32),
        )

    def returns(self, state: State) -> Array:
        lead = state.white.sum(dtype=jnp.int32) - state.black.sum(dtype=jnp.int32)
        won = jnp.sign(jnp.where(some(state.empty), 0, lead)).astype(jnp.float32)
        return jnp.stack([won, -won])

    def observe(self, state: State, player: Array) -> Array:
        """[size, size, 5] planes: my pieces, the opponent's, dead cells, the chain's cell, ones if it is my turn."""
        planes = [
            *state.sides(player),
            state.dead,
            one_hot(state.chain, self.num_cells),
            jnp.broadcast_to(state.turn == player, (self.num_cells,)),
        ]
        return jnp.stack(planes, -1).astype(jnp.float32).reshape(self.spec.obs_shape)

    def rotate(self, state: State) -> State:
        return state._replace(white=state.black, black=state.white, turn=1 - state.turn)

    def can_hop(self, state: State) -> Array:
        """[size²] bool: whether a piece on the cell could hop in some direction."""
        return functools.reduce(jnp.logical_or, self._hops(state))

    def _dealing(self, state: State) -> Array:
        if not self.num_dealt:
            return jnp.array(False)
        return self.num_cells - state.empty.sum(dtype=jnp.int32) < self.num_dealt

    def _moves(self, state: State) -> Array:
        """[A] bool: the actions of the player to move."""
        free = state.chain == NO_CHAIN
        starts = state.sides(state.turn)[0] & (free | one_hot(state.chain, self.num_cells))
        return jnp.concatenate([state.empty & free, *(starts & hop for hop in self._hops(state)), ~free[None]])

    def tried_first(self, state: State) -> list[Array]:
        """Move ordering: two [A] bool masks, capturing hops and all hops; trying them first cuts off most."""
        _, theirs = state.sides(state.turn)
        nothing = jnp.zeros(self.num_cells, jnp.bool_)
        takes = [nothing, *(shifted(theirs, self._offset(direction)) for direction in range(8)), jnp.array([False])]
        actions = np.arange(self.stop + 1)
        return [jnp.concatenate(takes), jnp.asarray((actions >= self.num_cells) & (actions < self.stop))]

    def _hops(self, state: State) -> list[Array]:
        """[size²] bool for each direction: whether a piece is next to the cell and the cell behind it is empty."""
        margin = self.size + 1  # padded once: a pad for each direction would take as long as the rest
        held, empty = jnp.pad(state.held, margin), jnp.pad(state.empty, 2 * margin)
        hops = []
        for direction, inside in enumerate(lands_inside(self.size)):
            start = margin + self._offset(direction)
            beside, behind = held[start : start + self.num_cells], empty[2 * start : 2 * start + self.num_cells]
            hops.append(beside & behind & jnp.asarray(inside))
        return hops

    def _offset(self, direction: int) -> int:
        """The difference between the numbers of neighbouring cells in a direction."""
        row, column = DIRECTIONS[direction]
        return row * self.size + column


def shifted(plane: Array, offset: int) -> Array:
    """[size²] bool: at each cell the entry of `plane` that is `offset` cells further, False past the ends.

    Constant shifts of the flat board are about ten times as fast under vmap as shifts of a square; the caller must mask
    the cells that wrap around the end of a row.
    """
    size, margin = plane.shape[0], abs(offset)
    return jnp.pad(plane, margin)[margin + offset : margin + offset + size]


@functools.lru_cache
def lands_inside(size: int) -> np.ndarray:
    """[8, size²] bool: whether the cell two steps away in a direction is on the board."""
    row, column = np.divmod(np.arange(size * size), size)
    ends = [(row + 2 * down, column + 2 * right) for down, right in DIRECTIONS]
    return np.stack([(r >= 0) & (r < size) & (c >= 0) & (c < size) for r, c in ends])
