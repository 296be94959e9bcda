"""Comparison of a game's compiled rules with its rules in JAX, over any number of random games."""

from __future__ import annotations

import functools
from collections import Counter
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import Array

from boardrl import host
from boardrl.game import CHANCE, TERMINAL, Game
from boardrl.host import random_games
from boardrl.runs import progress
from boardrl.testing import hosted
from boardrl.testing.node import Node, look

CHUNK = 1 << 13  # positions compared at once


class Agreement(NamedTuple):
    """The amount compared, and the differences found."""

    steps: int
    rolls: int
    games: int
    differences: dict[str, int]  # number of positions that differ, by function


def compare(game: Game[Any], *, num_rolls: int, seed: int, bar: progress.Bar | None = None) -> Agreement:
    """Plays random games with the compiled rules and compares every position and move with the rules in JAX.

    In a game without chance, `num_rolls` counts steps in place of rolls.
    """
    facet = host.of(game)
    kernel = host.specialise(random_games, facet)
    steps, rolls, games, differences = 0, 0, 0, Counter[str]()
    while (rolls if game.spec.num_outcomes else steps) < num_rolls:
        rows, moves = facet.rows(CHUNK), np.zeros(CHUNK, np.int32)
        kernel.record(rows, moves, seed + steps // CHUNK)
        nodes = jax.device_get(_look(game, facet.state(rows), moves))
        for name, agrees in hosted.agreement(facet, nodes).items():
            differences[name] += int((~agrees).sum())
        steps += CHUNK
        rolls += int((nodes.actor == CHANCE).sum())
        games += int((nodes.actor == TERMINAL).sum())
        if bar is not None:
            bar.update(min(rolls if game.spec.num_outcomes else steps, num_rolls))
    return Agreement(steps, rolls, games, dict(differences))


@functools.partial(jax.jit, static_argnames="game")
def _look(game: Game[Any], states: Any, moves: Array) -> Node:
    """[N] nodes, without the fields that host code does not compute."""

    def one(state: Any, move: Array) -> Node:
        return look(game, state, move, batch_players=True)._replace(logits={}, rotated=None)

    return jax.vmap(one)(states, moves)
