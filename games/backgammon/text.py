"""Positions and moves as text: GNU Backgammon's position ids, and the notation of backgammon players."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from boardrl.errors import UserError
from games.backgammon.board import BAR, CHECKERS, HIGH, LOW, PLACES, POINTS, ROLLS
from games.backgammon.rules import OPENING, ROLL, STARTER, Rules, State

ID_LENGTH = 14  # base 64, 80 bits
BITS = 80
EXAMPLE = "4HPwATDgc/ABMA 0 plays 3-1"
DOING = {STARTER: "starts", OPENING: "opens", ROLL: "rolls"}


def position_id(mine: Sequence[int], theirs: Sequence[int]) -> str:
    """GNU Backgammon's id of a position with `mine` on roll: 25 places each, in the side's own view.

    For each place of the other side and then of the side on roll as many ones as it has checkers, then a zero; eight
    bits a byte, the lowest first, in base 64.
    """
    bits = [bit for side in (theirs, mine) for count in side for bit in [1] * int(count) + [0]]
    packed = np.packbits(np.array(bits + [0] * (BITS - len(bits)), np.uint8), bitorder="little")
    return base64.b64encode(packed.tobytes()).decode().rstrip("=")


def from_position_id(text: str) -> tuple[list[int], list[int]]:
    """The places of the side on roll and of the other side."""
    try:
        packed = base64.b64decode(text + "==", validate=True)
    except binascii.Error:
        packed = b""
    if len(text) != ID_LENGTH or len(packed) * 8 != BITS:
        raise UserError(f"bad position id {text!r}: expected {ID_LENGTH} characters of base 64, like '4HPwATDgc/ABMA'")
    bits = np.unpackbits(np.frombuffer(packed, np.uint8), bitorder="little").tolist()
    counts = [len(ones) for ones in "".join(map(str, bits)).split("0")]
    places, rest = counts[: 2 * PLACES], counts[2 * PLACES :]
    theirs, mine = places[:PLACES], places[PLACES:]
    if any(rest) or len(places) < 2 * PLACES or position_id(mine, theirs) != text:
        raise UserError(f"bad position id {text!r}: it does not say what is on {PLACES} places of each side")
    return mine, theirs


def to_text(game: Rules, state: State) -> str:
    """The position id, the seat to act, and what it does: `rolls`, `plays 3-1`, `plays 2-2-2` (three moves left),
    `opens` (rolls, but no double), or `starts` before it is known who begins."""
    seat, left = int(state.turn), int(state.left)
    checkers = np.asarray(state.checkers)
    doing = DOING[left] if left <= ROLL else f"plays {'-'.join(map(str, dice_left(state)))}"
    return f"{position_id(checkers[seat].tolist(), checkers[1 - seat].tolist())} {seat} {doing}"


def dice_left(state: State) -> list[int]:
    """The faces that are left to play, one for each move."""
    high, low, left = int(state.high), int(state.low), int(state.left)
    return [high] * left if low in (0, high) else [high, low]


def from_text(game: Rules, text: str) -> State:
    """The state of a text; a position id alone is a position in which seat 0 rolls."""
    match = re.fullmatch(r"(\S{14})(?: ([01]) (rolls|opens|starts|plays ([1-6](?:-[1-6]){0,3})))?", text)
    if match is None:
        raise UserError(
            f"bad position {text!r}: expected GNU Backgammon's position id, the seat to act, and rolls, opens, starts "
            f"or plays with the dice that are left, like {EXAMPLE!r}"
        )
    mine, theirs = from_position_id(match[1])
    _check_sides(text, mine, theirs)
    seat = int(match[2] or 0)
    dice = sorted((int(face) for face in (match[4] or "").split("-") if face), reverse=True)
    if len(dice) > 2 and len(set(dice)) > 1:
        raise UserError(f"bad position {text!r}: three or four moves are left only after a double")
    doing = match[3] or "rolls"
    left = len(dice) or next(code for code, word in DOING.items() if word == doing)
    checkers = np.array([mine, theirs] if seat == 0 else [theirs, mine], np.int8)
    high, low = [*dice, 0, 0][:2]
    state = State(jnp.asarray(checkers), *(jnp.int8(number) for number in (seat, high, low, left)))
    if dice and not bool(game.legal(state).any()):
        raise UserError(f"bad position {text!r}: no checker can move, so that the turn would have passed")
    return state


def _check_sides(text: str, mine: list[int], theirs: list[int]) -> None:
    if max(sum(mine), sum(theirs)) > CHECKERS:
        raise UserError(f"bad position {text!r}: a side has more than {CHECKERS} checkers")
    if any(mine[point] and theirs[POINTS - 1 - point] for point in range(POINTS)):
        raise UserError(f"bad position {text!r}: both sides have checkers on one point")
    if not any(mine) and not any(theirs):
        raise UserError(f"bad position {text!r}: both sides have borne off all checkers")


def move_text(game: Rules, state: State, move: Array | int) -> str:
    """`seat 1 begins`, `rolls 6-4`, `bar/22`, `13/7*` (a hit), `5/off`."""
    left, move = int(state.left), int(move)
    if left == STARTER:
        return f"seat {move} begins"
    if left <= ROLL:
        passes = int(game.settle(state, jnp.int32(move)).left) == ROLL
        return f"rolls {HIGH[move]}-{LOW[move]}" + (", cannot move" if passes else "")
    place, die = move % PLACES, int(state.low if move >= PLACES else state.high)
    target, other = place - die, np.asarray(state.checkers)[1 - int(state.turn)]
    hit = target >= 0 and int(other[POINTS - 1 - target]) == 1
    return f"{'bar' if place == BAR else place + 1}/{target + 1 if target >= 0 else 'off'}" + ("*" if hit else "")


def turn_text(game: Any, state: State, actions: Sequence[int]) -> str:
    """The checker moves of a turn: `8/5 6/5`."""
    texts = []
    for action in actions:
        texts.append(move_text(game, state, action))
        state = game.step(state, jnp.int32(action))
    return " ".join(texts)


def outcome_of(dice: Sequence[int]) -> int:
    """The outcome of two faces."""
    return ROLLS.index((max(dice), min(dice)))
