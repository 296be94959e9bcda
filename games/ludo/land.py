"""The landing of a moved piece: where it ends and which pieces it sends home.

Uses masks in place of indexing, because thousands of games are stepped at once, and works with places only: the place
where the mover stops is converted to each other player's count and compared with that player's pieces. Every array may
have trailing batch axes, written [..., *], which is the fast layout (see rules.py).

ludopy's `gate`: a piece on the first place after the track also occupies the ring square that follows the last one of
its track, and its own start square; a piece that arrives there from the track meets the pieces on that ring square.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from games.ludo.board import BASE, START, Board
from games.ludo.flags import Flags

OFF = -1  # a place that no piece ever has


class Landing(NamedTuple):
    """The result of one piece's move."""

    place: Array  # [*] int8: where the moved piece ends; BASE if it is sent home
    hits: Array  # [P, N, *] bool: the pieces that it sends home
    allowed: Array  # [*] bool: whether the move is legal
    target: Array  # [*] int8: the place before any star jump or being sent home


class _Meeting(NamedTuple):
    home: Array  # [*] bool: the arriving piece is sent home
    hits: Array  # [P, N, *] bool
    closed: Array  # [*] bool: the square may not be landed on


def is_any(value: Array, options: tuple[int, ...]) -> Array:
    """Whether a value is one of a few numbers."""
    found = jnp.zeros(value.shape, bool)
    for option in options:
        found |= value == option
    return found


def numbers(count: int, like: Array) -> Array:
    """[count, *] int8: 0, 1, 2, ..., broadcastable with the [*] array `like`."""
    return jnp.arange(count, dtype=jnp.int8).reshape((count,) + (1,) * like.ndim)


def counted_by_others(board: Board, flags: Flags, num_players: int, turn: Array, place: Array) -> Array:
    """[P, *] int8: the actor's [*] place in each other player's count; OFF if that player never reaches it."""
    seats, turn, place = numbers(num_players, turn), turn[None], place[None]
    count = place + (turn - seats) * board.gap
    count = jnp.where(count > board.ring, count - board.ring, jnp.where(count < START, count + board.ring, count))
    last = board.gate if flags.gate == "on_ring" else board.track
    there = (place >= START) & (place <= last) & (count <= last)
    return jnp.where(seats != turn, jnp.where(there, count, OFF), OFF).astype(jnp.int8)


def enemies_on(board: Board, flags: Flags, pieces: Array, counted: Array) -> Array:
    """[P, N, *] bool: the others' pieces on the square that `counted_by_others` gave."""
    on = pieces == counted[:, None]
    if flags.gate == "on_ring":
        on |= (pieces == board.gate) & (counted == START)[:, None]
    return on


def land(board: Board, flags: Flags, pieces: Array, turn: Array, place: Array, die: Array) -> Landing:
    """The landing of the piece at `place` of the player to act, moved by the die."""
    released = place == BASE
    straight = jnp.where(released, START, place + die)
    over = straight > board.goal
    advances = ~released & ~over & (place <= board.track)
    target = _stop(board, flags, straight, die)
    jumped = _jump(board, target, advances) if board.far_stars else target

    # A piece from the gate or the column meets no others, wherever an overshoot may put it.
    meets = released | advances
    met = jumped if flags.stars == "destination" else target
    home, hits, closed = _meet(board, flags, pieces, turn, jnp.where(meets, met, OFF), released)
    if flags.stars == "both" and board.far_stars:
        second = jnp.where(jumped != target, jumped, OFF)
        other = _meet(board, flags, pieces, turn, second, jnp.zeros_like(released))
        home, hits, closed = home | other.home, hits | other.hits, closed | other.closed

    allowed = ~closed & (place != board.goal) & (~released | (die == 6))
    if flags.overshoot == "illegal":
        allowed &= ~over
    if flags.passing == "blocked":
        allowed &= ~_path_blocked(board, flags, pieces, turn, place, die) | released
    return Landing(jnp.where(home, BASE, jumped).astype(jnp.int8), hits, allowed, target.astype(jnp.int8))


def _stop(board: Board, flags: Flags, straight: Array, die: Array) -> Array:
    """[*] place that the die leads to, with the overshoot rule applied."""
    over = straight > board.goal
    if flags.overshoot == "bounce":  # within the column, if that is too short for the die
        return jnp.where(over, jnp.maximum(2 * board.goal - straight, board.gate), straight)
    if flags.overshoot == "goal_minus_die":
        return jnp.where(over, jnp.maximum(board.goal - die, START), straight)
    return jnp.where(over, board.goal, straight)  # such a move is never legal


def _jump(board: Board, target: Array, can_jump: Array) -> Array:
    """[*] place after a star: the next star, or the goal from the last one."""
    near = is_any(target, board.near_stars)
    far = is_any(target, board.far_stars[:-1])
    jump = jnp.where(near, board.near_jump, jnp.where(far, board.far_jump, 0)).astype(target.dtype)
    jumped = jnp.where(target == board.far_stars[-1], board.goal, target + jump)
    return jnp.where(can_jump, jumped, target)


def _meet(board: Board, flags: Flags, pieces: Array, turn: Array, place: Array, released: Array) -> _Meeting:
    """The outcome of arriving at a place, from the base if `released`: which pieces are sent home."""
    players = pieces.shape[0]
    counted = counted_by_others(board, flags, players, turn, place)
    met = on = enemies_on(board, flags, pieces, counted)
    counts = met.sum(1, dtype=jnp.int8)
    pair = (counts >= 2).any(0)
    neutral = is_any(place, board.neutral_globes)
    globe = (neutral | is_any(place, board.start_globes)) & ~released
    home = jnp.zeros_like(pair)
    if flags.globes == "coexist":
        on &= ~globe[None, None]
        counts = jnp.where(globe[None], 0, counts)
    elif flags.globes == "repel":
        home = (counts > 0).any(0) & globe
    else:
        # ludopy considers only the first enemy in order of play.
        seats = numbers(players, turn)
        order = jnp.where(seats > turn[None], seats - turn[None], seats - turn[None] + players)
        earlier = (counts > 0)[None] & (order[None] < order[:, None])
        seen = ~earlier.any(1)
        on &= seen[:, None]
        counts = jnp.where(seen, counts, 0)
        home = ((counts > 0) & (neutral[None] | (counted == START))).any(0)
    if flags.pairs == "repel":
        home |= counts.sum(0, dtype=jnp.int8) >= 2
    # Not `pair & False`: a constant lets host code see that without closed squares legality does not depend on enemies.
    hits, closed = on & ~home[None, None], pair if flags.pairs == "illegal" else jnp.zeros_like(pair)
    if flags.release == "captures":
        return _Meeting(home & ~released, jnp.where(released[None, None], met, hits), closed & ~released)
    if flags.release == "blocked":
        return _Meeting(home & ~released, hits & ~released[None, None], jnp.where(released, pair, closed))
    return _Meeting(home, hits, closed)


def _path_blocked(board: Board, flags: Flags, pieces: Array, turn: Array, place: Array, die: Array) -> Array:
    """[*] whether two pieces of one enemy stand together strictly between a piece and its target."""
    blocked = jnp.zeros(place.shape, bool)
    for ahead in range(1, 6):
        counted = counted_by_others(board, flags, pieces.shape[0], turn, place + ahead)
        pair = (enemies_on(board, flags, pieces, counted).sum(1, dtype=jnp.int8) >= 2).any(0)
        blocked |= pair & (ahead < die) & (place + ahead <= board.track)
    return blocked
