"""The net of `ludo_best`: our strongest player by the rules of the SDU simulator, learned by TD(λ) in self-play.

It was trained without the pass that those rules allow (`sdu_java,must_move=true`): untrained players in self-play would
pass forever. In play it may pass, and does so if every move would be harmful.
"""

from __future__ import annotations

import functools
import pathlib
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from boardrl.values import net_file
from games.ludo.rules import LudoRules, State

PATH = pathlib.Path(__file__).parent / "weights" / "best.json"


def fits(game: LudoRules) -> bool:
    """Whether the net's inputs fit a game's board, whatever its other rules."""
    size = (game.players, game.pieces, game.ring, game.column)
    return size == (4, 4, 52, 5) and game.flags.lap == "short"


def value(game: LudoRules, state: State, player: Array) -> Array:
    """[P] expected points of each player."""
    net, params = _load(game)
    return net(jax.tree.map(jnp.asarray, params), state, player)


@functools.cache
def _load(game: Any) -> tuple[Any, Any]:
    return net_file.load(PATH, game)  # in NumPy: arrays made during a JAX trace must not be cached
