"""A player's observation of a position: where all pieces are, and which of them could be hit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax.numpy as jnp
from jax import Array

from boardrl.play.games_last import games_last
from games.ludo.board import START, Board

if TYPE_CHECKING:
    from games.ludo.rules import LudoRules, State

REACH = 6  # squares that one roll can cover
DANGERS = 3  # kinds of pieces: with no, one or several enemies within reach behind them
FACES = 6
NOWHERE = -1
AWAY = 127  # in place of 0: behind no piece


def size(players: int, board: Board) -> int:
    """I, the number of entries of an observation."""
    return players * (DANGERS * (board.goal + 1) + 1) + FACES + 1


def entries(game: LudoRules, state: State, player: Array) -> tuple[Array, Array]:
    """[K] entries that may not be 0, and what they hold: for each player from `player` on the share of its pieces
    of each danger on each place; whose turn it is, counted from `player`; the die; the tries left."""
    places = game.board.goal + 1
    behind = games_last(lambda pieces, _: chasers(game.board, pieces))(state.pieces, jnp.int8(0))
    seen = state.pieces.astype(jnp.int32) + places * jnp.minimum(behind, DANGERS - 1).astype(jnp.int32)
    pieces = game.seen_from(seen, player) + DANGERS * places * jnp.arange(game.players)[:, None]
    ahead = state.turn.astype(jnp.int32) - player
    turn = jnp.where(ahead < 0, ahead + game.players, ahead)
    drawn, rolled = state.die >= 0, state.die > 0
    die = jnp.where(rolled, state.die.astype(jnp.int32) - 1, 0)
    after = DANGERS * places * game.players
    rest = jnp.stack([after + turn, after + game.players + die, jnp.int32(after + game.players + FACES)])
    share = jnp.full(game.players * game.pieces, 1 / game.pieces, jnp.float32)
    tries = state.tries.astype(jnp.float32) / game.flags.tries
    held = jnp.stack([drawn.astype(jnp.float32), rolled.astype(jnp.float32), tries])
    return jnp.concatenate([pieces.ravel(), rest]), jnp.concatenate([share, held])


def chasers(board: Board, pieces: Array) -> Array:
    """[P, N, *] int8: the number of enemy pieces 1 to 6 squares behind each of [P, N, *] pieces on the ring that would
    not leave the ring before reaching it."""
    counts, on_ring = [], jnp.where(pieces >= START, pieces, AWAY)
    for seat, mine in enumerate(pieces):
        count = jnp.zeros(mine.shape, jnp.int8)
        for other, theirs in enumerate(on_ring):
            if other != seat:
                # My pieces' places on the enemy's path; an unreachable place for those not on it.
                there = mine + (seat - other) * board.gap % board.ring
                there = jnp.where(there > board.ring, there - board.ring, there)
                there = jnp.where((mine >= START) & (mine <= board.track) & (there <= board.track), there, NOWHERE)
                for piece in theirs:  # one by one: a sum over such a short axis costs more than all the rest
                    behind = (there - piece[None] - 1).astype(jnp.uint8)  # negative numbers become large
                    count += (behind < REACH).astype(jnp.int8)
        counts.append(count)
    return jnp.stack(counts)
