"""Scripted players of Ludo: each gives [A] logits, 0 for its preferred moves and -inf for the rest.

Those of alhajry2012 (section II) move a random movable piece if their rule finds none. `prefer_release` is their
"enhanced" form: a piece is released whenever possible. Those of the SDU simulator score every movable piece and break
ties at random. None of these players ever passes.
"""

from __future__ import annotations

from typing import Literal

import jax
import jax.numpy as jnp
from jax import Array

from games.ludo.board import BASE, START
from games.ludo.land import OFF, counted_by_others, is_any
from games.ludo.rules import LudoRules, State

REACH = 6  # squares that one roll can cover
# Definitions of a piece that needs defence, each stricter than the previous one.
Threat = Literal["behind", "off_globe", "knockable"]


def random(game: LudoRules, state: State, *, prefer_release: bool = False) -> Array:
    """Any movable piece."""
    return _first_of(game, state, _releases(game, state) & prefer_release)


def defensive(game: LudoRules, state: State, *, prefer_release: bool = True, threat: Threat = "knockable") -> Array:
    """A piece that an opponent could knock out with one roll."""
    return _first_of(game, state, _releases(game, state) & prefer_release, threatened(game, state, threat=threat))


def aggressive(game: LudoRules, state: State, *, prefer_release: bool = True) -> Array:
    """A piece that sends an opponent home."""
    return _first_of(game, state, _releases(game, state) & prefer_release, _captures(game, state))


def fast(game: LudoRules, state: State, *, prefer_release: bool = True) -> Array:
    """The most advanced piece."""
    return _first_of(game, state, _releases(game, state) & prefer_release, _foremost(game, state))


def mixed(game: LudoRules, state: State, *, prefer_release: bool = True, threat: Threat = "knockable") -> Array:
    """Defensive, else aggressive, else fast: the expert of alhajry2012."""
    release, defence = _releases(game, state) & prefer_release, threatened(game, state, threat=threat)
    return _first_of(game, state, release, defence, _captures(game, state), _foremost(game, state))


def semismart(game: LudoRules, state: State) -> Array:
    """Prefers hits, then stars, releases and the goal; a move that sends its own piece home comes last."""
    end = game.landings(state)
    hits = end.hits.any((1, 2))
    fails = (end.place == BASE) & ~hits
    star = is_any(end.place, game.board.near_stars + game.board.far_stars)
    home = end.place == game.board.goal
    # The original adds random numbers to all scores but this 0.1; scores one point apart give the same order.
    score = jnp.select(
        [hits, fails, star, _releases(game, state), home], [jnp.int8(s) for s in (5, 0, 4, 3, 2)], jnp.int8(1)
    )
    return _best(game, state, score)


def sdu_aggressive(game: LudoRules, state: State) -> Array:
    """Hits if it can."""
    return _best(game, state, _captures(game, state).astype(jnp.int8))


def pacifistic(game: LudoRules, state: State) -> Array:
    """Avoids hits if it can."""
    return _best(game, state, -_captures(game, state).astype(jnp.int8))


def fifo(game: LudoRules, state: State) -> Array:
    """The first movable piece."""
    return _best(game, state, -jnp.arange(game.pieces, dtype=jnp.int8))


STRATEGIES = {
    "random": random,
    "defensive": defensive,
    "aggressive": aggressive,
    "fast": fast,
    "mixed": mixed,
    "expert": mixed,
    "semismart": semismart,
    "sdu_aggressive": sdu_aggressive,
    "pacifistic": pacifistic,
    "fifo": fifo,
}


def threatened(game: LudoRules, state: State, *, threat: Threat = "knockable") -> Array:
    """[N] bool: which of the actor's pieces are in danger, by one of three definitions.

    The paper only says "vulnerable". `behind`: an opponent is 1 to 6 squares behind the piece. `off_globe`: and the
    piece is not on a globe, where it cannot be hit. `knockable`: and it stands alone, because a pair cannot be landed
    on; that is, one roll could knock it out. docs/results.md compares their strength.
    """
    return in_danger(game, state.pieces, state.turn, game.mine(state), threat=threat)


def in_danger(game: LudoRules, pieces: Array, turn: Array, places: Array, *, threat: Threat = "knockable") -> Array:
    """[N] bool: the same for a player's N places, with all pieces as given."""
    found = pursued(game, pieces, turn, places)
    if threat != "behind":
        found &= ~is_any(places, game.board.neutral_globes + game.board.start_globes)
    if threat == "knockable":
        found &= (places[:, None] == places[None]).sum(1, dtype=jnp.int8) == 1
    return found


def pursued(game: LudoRules, pieces: Array, turn: Array, places: Array) -> Array:
    """[N] bool: whether an opponent could reach each of a player's N places with one roll, moving straight ahead."""
    on_ring = jnp.where(places <= game.board.track, places, OFF)
    counted = jax.vmap(lambda place: counted_by_others(game.board, game.flags, game.players, turn, place))(on_ring)
    distance = counted[:, :, None] - pieces[None]
    return ((distance >= 1) & (distance <= REACH) & (pieces >= START)[None]).any((1, 2))


def _releases(game: LudoRules, state: State) -> Array:
    return game.mine(state) == BASE


def _captures(game: LudoRules, state: State) -> Array:
    return game.landings(state).hits.any((1, 2))


def _foremost(game: LudoRules, state: State) -> Array:
    mine = jnp.where(state.movable, game.mine(state), OFF)
    return mine == mine.max()


def _first_of(game: LudoRules, state: State, *liked: Array) -> Array:
    """[A] logits of the first of several [N] masks that contains a movable piece, else of all movable pieces."""
    chosen = state.movable
    for mask in reversed(liked):
        wanted = mask & state.movable
        chosen = jnp.where(wanted.any(), wanted, chosen)
    return _logits(game, chosen)


def _best(game: LudoRules, state: State, score: Array) -> Array:
    """[A] logits of the movable pieces with the highest [N] int8 score."""
    ranked = jnp.where(state.movable, score, jnp.int8(-100))
    return _logits(game, state.movable & (ranked == ranked.max()))


def _logits(game: LudoRules, chosen: Array) -> Array:
    """[A] logits: uniform over the chosen pieces, never a pass."""
    logits = jnp.where(chosen, 0.0, -jnp.inf).astype(jnp.float32)
    return jnp.pad(logits, (0, game.spec.num_actions - game.pieces), constant_values=-jnp.inf)
