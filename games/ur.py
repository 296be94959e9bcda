"""The Royal Game of Ur by Irving Finkel's rules: race your pieces over the board; a rosette gives another roll."""

from __future__ import annotations

import dataclasses
import re
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array
from rich.text import Text

from boardrl.errors import UserError
from boardrl.game import CHANCE, TERMINAL, Spec, one_hot, select

TRACK = 14  # squares on each player's path
HOME = TRACK + 1  # the position after the last square
ODDS = np.array([1, 4, 6, 4, 1], np.float32) / 16  # probabilities of rolling 0 to 4: four dice, each 0 or 1
SQUARE = np.arange(1, HOME)
SHARED = (SQUARE >= 5) & (SQUARE <= 12)
ROSETTES = (4, 8, 14)
SAFE = SQUARE == 8  # the shared rosette, where no piece can be hit


class State(NamedTuple):
    squares: Array  # [P, 14] bool: the squares with a piece of each player, along its path
    hand: Array  # [P] int32: pieces that have not entered yet
    turn: Array  # [] int32: the seat to act
    roll: Array  # [] int32: squares to move, or 0 before the roll


@dataclasses.dataclass(frozen=True)
class Ur:
    """Action k moves the piece on the k-th square of the mover's path; action 0 enters one from the hand.

         4  3  2  1        14 13     seat 1
         5  6  7  8  9 10 11 12      both
         4  3  2  1        14 13     seat 0

    Outcomes are the roll, 0 to 4. A piece may not land on one of its own, nor on an enemy on the shared rosette, 8;
    any other enemy that it lands on goes back to the hand. A rosette (4, 8, 14) gives another roll. A piece leaves the
    board by an exact roll. A player who rolls 0 or cannot move is skipped. The first with all pieces home wins.
    """

    pieces: int = 7

    def __post_init__(self) -> None:
        if not 1 <= self.pieces <= 7:
            raise UserError(f"pieces={self.pieces} does not fit ur: expected 1 to 7")

    @property
    def spec(self) -> Spec:
        return Spec(
            "ur",
            num_players=2,
            num_actions=HOME,
            num_outcomes=len(ODDS),
            obs_shape=(2 * TRACK + 9,),
            max_steps=1000 * self.pieces,  # about 20 times a random game
        )

    def init(self) -> State:
        hand = jnp.full(2, self.pieces, jnp.int32)
        return State(jnp.zeros((2, TRACK), bool), hand, jnp.int32(0), jnp.int32(0))

    def actor(self, state: State) -> Array:
        return jnp.where(self._done(state).any(), TERMINAL, jnp.where(state.roll == 0, CHANCE, state.turn))

    def legal(self, state: State) -> Array:
        (mine, theirs), (hand, _) = self._sides(state, state.turn)
        ready = jnp.append(hand > 0, mine)
        # Whether a piece may land on each position: the squares, home, and nothing beyond.
        free = jnp.concatenate([~mine & ~(theirs & SAFE), jnp.ones(1, bool), jnp.zeros(3, bool)])
        by_roll = jnp.stack([free[roll : roll + HOME] for roll in range(4)])  # for rolls 1 to 4
        return ready & (by_roll & one_hot(state.roll - 1, 4)[:, None]).any(0) & ~self._done(state).any()

    def chance(self, state: State) -> Array:
        throws = (state.roll == 0) & ~self._done(state).any()
        return jnp.where(throws, jnp.asarray(ODDS), 0.0)

    def step(self, state: State, move: Array) -> State:
        after = select(state.roll == 0, self._throw(state, move), self._move(state, move))
        return select(self._done(state).any(), state, after)

    def returns(self, state: State) -> Array:
        done = self._done(state)
        return jnp.where(done.any(), jnp.where(done, 1.0, -1.0), 0.0).astype(jnp.float32)

    def observe(self, state: State, player: Array) -> Array:
        """Both players' squares, mine first; hands and homes as fractions; whether I act; the roll one-hot."""
        squares, hands = self._sides(state, player)
        home = self.pieces - hands - squares.sum(1, dtype=jnp.int32)
        shares = jnp.concatenate([hands, home]).astype(jnp.float32) / self.pieces
        rest = jnp.append(one_hot(state.roll - 1, 4), state.turn == player)
        return jnp.concatenate([squares.ravel().astype(jnp.float32), shares, rest.astype(jnp.float32)])

    # Total progress of all pieces, pieces home, pieces that can be hit, and control of the safe rosette, own minus
    # opponent's; whose turn it is.
    feature_names = ("places", "home", "exposed", "rosette", "turn")
    feature_weights = (3.0, 0.5, -0.3, 0.2, 0.15)

    def features(self, state: State, player: Array) -> Array:
        home = self.pieces - state.hand - state.squares.sum(1, dtype=jnp.int32)
        places = jnp.where(state.squares, jnp.asarray(SQUARE, jnp.int32)[None], 0).sum(1) + HOME * home
        exposed = (state.squares & (SHARED & ~SAFE)[None]).sum(1, dtype=jnp.int32)
        counts = jnp.stack([places, home, exposed]).astype(jnp.float32) / np.array([[HOME], [1], [1]], np.float32)
        turn = one_hot(state.turn, 2) & ~self._done(state).any()
        truths = jnp.stack([(state.squares & SAFE[None]).any(1), turn]).astype(jnp.float32)
        each = jnp.concatenate([counts / self.pieces, truths])
        lead = each[:, 0] - each[:, 1]
        return jnp.where(player == 1, -lead, lead)

    def rotate(self, state: State) -> State:
        return state._replace(squares=state.squares[::-1], hand=state.hand[::-1], turn=1 - state.turn)

    def to_text(self, state: State) -> str:
        """Each seat's hand and squares, the seat to act, its next step: '6:...x.......... 7:.............. 1 rolls'."""
        sides = ["".join("x" if piece else "." for piece in side) for side in state.squares.tolist()]
        doing = f"plays {int(state.roll)}" if int(state.roll) else "rolls"
        return " ".join(
            [*(f"{hand}:{side}" for hand, side in zip(state.hand, sides, strict=True)), f"{state.turn} {doing}"]
        )

    def from_text(self, text: str) -> State:
        match = re.fullmatch(r"([0-7]):([x.]{14}) ([0-7]):([x.]{14}) ([01]) (?:rolls|plays ([1-4]))", text)
        if match is None:
            raise UserError(
                f"bad position {text!r}: expected each seat's hand and {TRACK} squares, who acts, and rolls or "
                f"plays 1 to 4, like {self.to_text(self.init())!r}"
            )
        squares = np.array([[mark == "x" for mark in match[side]] for side in (2, 4)])
        hand = np.array([int(match[side]) for side in (1, 3)], np.int32)
        if (hand + squares.sum(1) > self.pieces).any():
            raise UserError(f"bad position {text!r}: expected at most {self.pieces} pieces a seat")
        if (squares.all(0) & SHARED).any():
            raise UserError(f"bad position {text!r}: both seats have a piece on one of the squares 5 to 12")
        state = State(jnp.asarray(squares), jnp.asarray(hand), jnp.int32(int(match[5])), jnp.int32(int(match[6] or 0)))
        done = self._done(state)
        if bool(done.all()) or (int(state.roll) and not bool(self.legal(state).any())):
            raise UserError(f"bad position {text!r}: it cannot occur, as both have won or no piece can be moved")
        return state

    def move_text(self, state: State, move: Array) -> str:
        """Describes a roll or a move: 'throws 3', 'from 5 to 8, throws again', 'from 12 to home'."""
        if int(state.roll) == 0:
            passes = int(self._throw(state, move).roll) == 0
            return f"throws {int(move)}" + (", nothing to move" if passes else "")
        target = int(move) + int(state.roll)
        hit = target < HOME and bool(SHARED[target - 1] and state.squares[1 - state.turn, target - 1])
        words = f"from {int(move) or 'the hand'} to {'home' if target == HOME else target}"
        return words + (", hits" if hit else "") + (", throws again" if target in ROSETTES else "")

    def show(self, state: State) -> Text:
        """The board, seat 0 below as x and seat 1 above as o, with a star on every empty rosette."""
        marks = [["*" if square in ROSETTES else "." for square in SQUARE] for _ in range(2)]
        for side, mark in zip((0, 1), "xo", strict=True):
            for square in np.nonzero(state.squares[side])[0]:
                for row in marks if SHARED[square] else marks[side : side + 1]:
                    row[square] = mark
        middle = " ".join(marks[0][4:12])
        hands = [f"{int(hand)} in hand" for hand in state.hand]
        ends = [" ".join([*row[3::-1], " ", " ", *row[:11:-1]]) for row in marks]
        return Text(f"{ends[1]}   {hands[1]}\n{middle}\n{ends[0]}   {hands[0]}")

    def _done(self, state: State) -> Array:
        """[P] bool: whether all pieces of each player are home."""
        return (state.hand == 0) & ~state.squares.any(1)

    def _sides(self, state: State, seat: Array) -> tuple[Array, Array]:
        """[P, 14] squares and [P] hands, those of a seat first."""
        second = seat == 1
        return jnp.where(second, state.squares[::-1], state.squares), jnp.where(second, state.hand[::-1], state.hand)

    def _throw(self, state: State, outcome: Array) -> State:
        thrown = state._replace(roll=outcome)
        return select(self.legal(thrown).any(), thrown, state._replace(turn=1 - state.turn))

    def _move(self, state: State, action: Array) -> State:
        (mine, theirs), (hand, other) = self._sides(state, state.turn)
        target = action + state.roll
        reached = jnp.asarray(SQUARE, jnp.int32) == target
        hit = theirs & reached & SHARED
        mine = (mine & (jnp.asarray(SQUARE, jnp.int32) != action)) | reached
        squares = jnp.stack([mine, theirs & ~hit])
        hands = jnp.stack([hand - (action == 0).astype(jnp.int32), other + hit.sum(dtype=jnp.int32)])
        again = (target == ROSETTES[0]) | (target == ROSETTES[1]) | (target == ROSETTES[2])
        second = state.turn == 1
        return State(
            squares=jnp.where(second, squares[::-1], squares),
            hand=jnp.where(second, hands[::-1], hands),
            turn=jnp.where(again, state.turn, 1 - state.turn),
            roll=jnp.int32(0),
        )
