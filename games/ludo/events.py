"""Events that can happen to a Ludo player in one step, for rewards: f(game, before, after, player) -> [] float32 count.

Events are derived from the change on the board, so a piece that bounced back to its square, or that was sent home at
its release, counts as not moved. A piece is "in danger" if an opponent can reach its place with one roll, moving
straight ahead, and the place is neither a globe nor held by a second piece of the player.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from games.ludo.board import BASE, START
from games.ludo.land import is_any
from games.ludo.rules import LudoRules, State, row_of
from games.ludo.strategies import in_danger, pursued


class _Move(NamedTuple):
    """The moves of the actor's pieces in a step, independent of the player that the event is about."""

    before: Array  # [N] int8 places
    after: Array  # [N] int8 places
    moved: Array  # [N] bool: the piece that it moved, if any, without pieces sent home


def release(game: LudoRules, before: State, after: State, player: Array) -> Array:
    """A piece leaves the base."""
    move = _move(before, after)
    return _by(game, before, player, move.moved & (move.before == BASE))


def knock(game: LudoRules, before: State, after: State, player: Array) -> Array:
    """Number of opponents' pieces that the player's move sends home."""
    others = jnp.arange(game.players, dtype=jnp.int32) != player
    return _count(_sent_home(before, after) & others[:, None] & _own(game, before, player)[None, None])


def lost(game: LudoRules, before: State, after: State, player: Array) -> Array:
    """Number of the player's pieces that another player's move sends home."""
    mine = jnp.arange(game.players, dtype=jnp.int32) == player
    return _count(_sent_home(before, after) & mine[:, None] & ~_own(game, before, player)[None, None])


def repelled(game: LudoRules, before: State, after: State, player: Array) -> Array:
    """The player's move sends its own piece home, because it lands on a globe or a pair held by opponents."""
    mine = jnp.arange(game.players, dtype=jnp.int32) == player
    return _count(_sent_home(before, after) & mine[:, None] & _own(game, before, player)[None, None])


def not_hit(game: LudoRules, before: State, after: State, player: Array) -> Array:
    """1 for every decision of the player, and -1 for a later move of another player that sends one of its pieces home.

    So the sum from one decision to the next is 1 if no piece was lost (derakhshan2010, section 2.7); two opponents who
    both hit in that time subtract 2.
    """
    decided = _own(game, before, player).astype(jnp.float32)
    return decided - jnp.minimum(lost(game, before, after, player), 1.0)


def defend(game: LudoRules, before: State, after: State, player: Array) -> Array:
    """A piece in danger is moved to a place where it is not."""
    move = _move(before, after)
    danger = in_danger(game, before.pieces, before.turn, move.before)
    return _by(game, before, player, move.moved & danger & ~in_danger(game, after.pieces, before.turn, move.after))


def near_enemy(game: LudoRules, before: State, after: State, player: Array) -> Array:
    """A piece is moved to a place with an opponent 1 to 6 squares behind it, safe or not (derakhshan2010)."""
    move = _move(before, after)
    return _by(game, before, player, move.moved & pursued(game, after.pieces, before.turn, move.after))


def foremost(game: LudoRules, before: State, after: State, player: Array) -> Array:
    """Of the pieces between base and goal, the one closest to the goal is moved."""
    return _moves_first_of(game, before, after, player, game.board.goal)


def foremost_outside(game: LudoRules, before: State, after: State, player: Array) -> Array:
    """Of the pieces between base and column, the one closest to the goal is moved (szurkowski2021)."""
    return _moves_first_of(game, before, after, player, _column(game))


def blockade(game: LudoRules, before: State, after: State, player: Array) -> Array:
    """A piece joins another piece of the player on the ring."""
    return _by(game, before, player, _joins(game, _move(before, after)).any(1))


def blockade_in_danger(game: LudoRules, before: State, after: State, player: Array) -> Array:
    """A piece joins another piece that was in danger: the "surrounded" piece of szurkowski2021, section 2.3."""
    move = _move(before, after)
    danger = in_danger(game, before.pieces, before.turn, move.before)
    return _by(game, before, player, (_joins(game, move) & danger[None]).any(1))


def globe(game: LudoRules, before: State, after: State, player: Array) -> Array:
    """A piece reaches a globe, including the start square by a release."""
    move = _move(before, after)
    return _by(
        game, before, player, move.moved & is_any(move.after, game.board.neutral_globes + game.board.start_globes)
    )


def globe_on_way(game: LudoRules, before: State, after: State, player: Array) -> Array:
    """A piece reaches a globe, other than by a release."""
    move = _move(before, after)
    there = is_any(move.after, game.board.neutral_globes + game.board.start_globes)
    return _by(game, before, player, move.moved & there & (move.before != BASE))


def star(game: LudoRules, before: State, after: State, player: Array) -> Array:
    """A piece ends its move on a star."""
    move = _move(before, after)
    return _by(game, before, player, move.moved & is_any(move.after, game.board.near_stars + game.board.far_stars))


def star_jump(game: LudoRules, before: State, after: State, player: Array) -> Array:
    """A piece jumps from a star, further than the die."""
    move = _move(before, after)
    return _by(game, before, player, move.moved & (move.before != BASE) & (move.after > move.before + before.die))


def safe_zone(game: LudoRules, before: State, after: State, player: Array) -> Array:
    """A piece enters the column."""
    move, column = _move(before, after), _column(game)
    return _by(
        game,
        before,
        player,
        move.moved & (move.before < column) & (move.after >= column) & (move.after < game.board.goal),
    )


def goal_zone(game: LudoRules, before: State, after: State, player: Array) -> Array:
    """A piece is moved to a place in the column, from outside or inside (Durocher, in szurkowski2021)."""
    move, column = _move(before, after), _column(game)
    return _by(game, before, player, move.moved & (move.after >= column) & (move.after < game.board.goal))


def overshoot(game: LudoRules, before: State, after: State, player: Array) -> Array:
    """A piece is moved back because the die exceeds its distance to the goal."""
    move = _move(before, after)
    return _by(game, before, player, move.moved & (move.before != BASE) & (move.before + before.die > game.board.goal))


def moved(game: LudoRules, before: State, after: State, player: Array) -> Array:
    """A piece is moved and not sent home by its own move."""
    return _by(game, before, player, _move(before, after).moved)


def goal(game: LudoRules, before: State, after: State, player: Array) -> Array:
    """A piece reaches the goal."""
    move = _move(before, after)
    return _by(game, before, player, move.moved & (move.after == game.board.goal))


EVENTS = {
    function.__name__: function
    for function in (
        *(release, defend, knock, lost, repelled, not_hit, near_enemy, foremost, foremost_outside),
        *(blockade, blockade_in_danger, globe, globe_on_way, star, star_jump, safe_zone, goal_zone, overshoot, goal),
        moved,
    )
}
CAUSES = dict.fromkeys(EVENTS, "own") | {"lost": "decisions", "not_hit": "decisions"}


def _count(mask: Array) -> Array:
    return mask.sum(dtype=jnp.float32)


def _by(game: LudoRules, before: State, player: Array, mask: Array) -> Array:
    """[] float32: the number of the actor's pieces in a mask if the player is the actor, else 0."""
    return jnp.where(_own(game, before, player), _count(mask), 0.0)


def _column(game: LudoRules) -> int:
    """The first place of the column."""
    return game.board.goal - game.column


def _own(game: LudoRules, before: State, player: Array) -> Array:
    """[] bool: whether the step is a decision of the player."""
    return game.actor(before) == player


def _move(before: State, after: State) -> _Move:
    mine, then = (row_of(state.pieces, before.turn) for state in (before, after))
    return _Move(mine, then, (mine != then) & (then != BASE))


def _sent_home(before: State, after: State) -> Array:
    """[P, N] bool."""
    return (before.pieces != BASE) & (after.pieces == BASE)


def _moves_first_of(game: LudoRules, before: State, after: State, player: Array, end: int) -> Array:
    """Whether the piece moved was the most advanced of those from the start square up to, not including, `end`."""
    move = _move(before, after)
    ahead = jnp.where((move.before >= START) & (move.before < end), move.before, BASE)
    return _by(game, before, player, move.moved & (ahead == ahead.max()) & (ahead != BASE))


def _joins(game: LudoRules, move: _Move) -> Array:
    """[N, N] bool: piece i was moved onto the ring square of another piece j."""
    same = (move.after[:, None] == move.after[None]) & ~jnp.eye(move.after.shape[0], dtype=bool)
    on_ring = (move.after >= START) & (move.after < _column(game))
    return same & (move.moved & on_ring)[:, None]
