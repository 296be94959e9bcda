"""The input encodings of the papers' learners.

`ENCODINGS` describe a position from a player's view, f(game, state, player); `ACTION_ENCODINGS` describe the effect of
each action of the player to act with the current die, f(game, state) -> [A, ...], with zeros for a pass.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

from boardrl.game import one_hot
from games.ludo.board import BASE, START
from games.ludo.land import counted_by_others, is_any
from games.ludo.rules import LudoRules, State
from games.ludo.strategies import pursued, threatened

# Durocher's table, szurkowski2021 section 3.1: states of a piece and kinds of moves, in the order of Table 1.
HOME, GOAL, SAFE, DANGER = range(4)
OPEN, NORMAL, TO_GOAL, STAR, GLOBE, PROTECT, KILL, OVERSHOOT, GOAL_ZONE = range(9)


def alhajry_objective(game: LudoRules, state: State, player: Array) -> Array:
    """[P * 59 + P]: fractions of each player's pieces in the base, on 52 ring squares, column and goal; a one-hot turn.

    alhajry2012, section IV-B. Ring squares are counted from the start of seat 0, for every observer.
    """
    squares = _squares(game, state, jnp.int8(0))
    turn = one_hot(state.turn, game.players).astype(jnp.float32)
    return jnp.concatenate([squares.ravel(), turn])


def alhajry_subjective(game: LudoRules, state: State, player: Array) -> Array:
    """[P * 59]: the same without the turn, players and ring squares counted from `player` (section V-B)."""
    return game.seen_from(_squares(game, state, player.astype(jnp.int8)), player).ravel()


def szurkowski_tiles(game: LudoRules, state: State, player: Array) -> Array:
    """[P * 60] with the rules of ludopy131: fraction of each player's pieces on each tile of the player's own path.

    szurkowski2021, section 2.2: players in the order of their seats.
    """
    return game.shares(state.pieces, game.board.goal + 1).ravel()


def szurkowski(game: LudoRules, state: State) -> Array:
    """[A, P * 60 + 2]: the tiles, and for each action the tiles it moves a piece from and to, over the last tile.

    szurkowski2021, section 2.4.
    """
    return _with_move(game, state, szurkowski_tiles(game, state, state.turn))


def szurkowski_from_mover(game: LudoRules, state: State) -> Array:
    """[A, P * 60 + 2]: the same with the players in order of play, starting with the one to act.

    For a player who is always in the first seat there is no difference; for others it makes all seats equivalent.
    """
    shares = game.shares(state.pieces, game.board.goal + 1)
    return _with_move(game, state, game.seen_from(shares, state.turn).ravel())


def _with_move(game: LudoRules, state: State, tiles: Array) -> Array:
    """[A, ...] the tiles, and the effect of each action."""
    move = jnp.stack([game.mine(state), game.landings(state).place], 1).astype(jnp.float32) / game.board.goal
    move = _with_pass(game, move)
    return jnp.concatenate([jnp.broadcast_to(tiles, (move.shape[0], tiles.shape[0])), move], 1)


def derakhshan(game: LudoRules, state: State) -> Array:
    """[A, 9] bool: the boolean features of each piece of derakhshan2010, section 2.5, in its order.

    It can get to the goal, hit an enemy home, hit itself home, move to a star, move to a globe, get out of the
    base, move near an enemy (one is then 1 to 6 squares behind it), is in the column, can get into the column.
    """
    board, mine, end = game.board, game.mine(state), game.landings(state)
    column = board.goal - game.column

    def near(place: Array, hits: Array) -> Array:
        left = jnp.where(hits, BASE, state.pieces).astype(jnp.int8)
        return pursued(game, left, state.turn, place[None])[0]

    inside = (mine >= column) & (mine < board.goal)
    possible = jnp.stack(
        [
            end.place == board.goal,
            end.hits.any((1, 2)),
            (end.place == BASE),
            is_any(end.place, board.near_stars + board.far_stars),
            is_any(end.place, board.neutral_globes + board.start_globes),
            (mine == BASE) & (end.place != BASE),
            jax.vmap(near)(end.place, end.hits),
            jnp.zeros_like(inside),
            (end.place >= column) & (end.place < board.goal) & ~inside,
        ],
        1,
    )
    truths = (possible & state.movable[:, None]).at[:, 7].set(inside)
    return _with_pass(game, truths)


def saederup(game: LudoRules, state: State) -> Array:
    """[A, 9] bool: the same features in the order of saederup2010, Table 1, which swaps the last two."""
    truths = derakhshan(game, state)
    return jnp.concatenate([truths[:, :7], truths[:, 8:9], truths[:, 7:8]], 1)


def saederup_danger(game: LudoRules, state: State) -> Array:
    """[A, 10] bool: the same, and whether one roll of an opponent could hit the piece where it stands (ours)."""
    danger = threatened(game, state) & state.movable
    return jnp.concatenate([saederup(game, state), _with_pass(game, danger[:, None])], 1)


def durocher(game: LudoRules, state: State) -> Array:
    """[A, 2] int32: the state of each piece and the kind of its move, the first that applies of

    open, goal, overshoot, kill, star, globe, goal zone, protect (onto another piece of the player), normal.
    """
    board, mine, end = game.board, game.mine(state), game.landings(state)
    column = board.goal - game.column
    counted = jax.vmap(lambda place: counted_by_others(board, game.flags, game.players, state.turn, place))(mine)
    globe = is_any(mine, board.neutral_globes) | (mine == START)
    danger = (counted == START).any(1) | (pursued(game, state.pieces, state.turn, mine) & ~globe)
    piece = jnp.select(
        [mine == BASE, mine >= column, danger], [jnp.int32(s) for s in (HOME, GOAL, DANGER)], jnp.int32(SAFE)
    )
    others = (end.place[:, None] == mine[None]) & ~jnp.eye(game.pieces, dtype=bool)
    kinds = {
        OPEN: (mine == BASE) & (end.place != BASE),
        TO_GOAL: end.place == board.goal,
        OVERSHOOT: (mine != BASE) & (mine + state.die > board.goal),
        KILL: end.hits.any((1, 2)),
        STAR: (end.place != end.target) & (end.place != BASE),
        GLOBE: is_any(end.place, board.neutral_globes + board.start_globes),
        GOAL_ZONE: end.place >= column,
        PROTECT: others.any(1) & (end.place != BASE),
    }
    kind = jnp.select(list(kinds.values()), [jnp.int32(k) for k in kinds], jnp.int32(NORMAL))
    return _with_pass(game, jnp.stack([piece, kind], 1))


def durocher_by_piece(game: LudoRules, state: State) -> Array:
    """[A, 3] int32: the index of each piece, then the same: one table per piece, 160 values with 10 kinds of moves.

    szurkowski2021, section 3.1, also counts 160 values, although it lists 9 kinds.
    """
    actions = jnp.arange(game.spec.num_actions, dtype=jnp.int32)
    return jnp.concatenate([actions[:, None], durocher(game, state)], 1)


ENCODINGS = {
    "alhajry_objective": alhajry_objective,
    "alhajry_subjective": alhajry_subjective,
    "szurkowski_tiles": szurkowski_tiles,
}
ACTION_ENCODINGS = {
    "szurkowski": szurkowski,
    "szurkowski_from_mover": szurkowski_from_mover,
    "derakhshan": derakhshan,
    "saederup": saederup,
    "saederup_danger": saederup_danger,
    "durocher": durocher,
    "durocher_by_piece": durocher_by_piece,
}


def _squares(game: LudoRules, state: State, player: Array) -> Array:
    """[P, ring + column + 2]: fraction of pieces in the base, on ring squares from the player's start, column, goal."""
    board = game.board
    ahead = (jnp.arange(game.players, dtype=jnp.int8) - player) * board.gap
    ring = (state.pieces - START + ahead[:, None]) % board.ring
    column = board.goal - game.column
    index = jnp.where(state.pieces < column, ring, board.ring + state.pieces - column) + 1
    index = jnp.where(state.pieces == BASE, 0, index)
    return game.shares(index, board.ring + game.column + 2)


def _with_pass(game: LudoRules, by_piece: Array) -> Array:
    """[A, ...] from [N, ...]."""
    missing = game.spec.num_actions - game.pieces
    return jnp.pad(by_piece, ((0, missing), *((0, 0),) * (by_piece.ndim - 1)))
