"""The population of a genetic algorithm: its state, who is fittest, and the points of its members in matches.

`config` is that of `algorithms.genetic`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from algorithms.genomes import breeding, matches
from algorithms.genomes.genome import Expressed
from algorithms.settings.genetic import OPENING, Config, genome_of, tables_of
from boardrl.game import Game
from boardrl.play.policy import Policy


class TrainState(NamedTuple):
    """All members, island by island: M = islands · population."""

    genes: Array  # [M, G] float32
    params: Any  # of their players, with a leading axis [M]
    fitness: Array  # [M] float32: points a game
    weight: Array  # [M] float32: generations that the fitness rests on, the earlier ones discounted
    key: Array  # raw key data: with a generation's number it decides all that is random in it
    games: Array  # [] int32: of all matches so far
    updates: Array  # [] int32: generations


def advanced(state: TrainState, vectors: Any, params: Any, fitness: Any, weight: Any, games: int) -> TrainState:
    """The state after a generation."""
    arrays = jax.tree.map(jnp.asarray, {"genes": vectors, "params": params, "fitness": fitness, "weight": weight})
    return state._replace(**arrays, games=state.games + games, updates=state.updates + 1)


def put(params: Any, places: np.ndarray, expressed: Expressed) -> None:
    """Puts the params of players into places of those of all members."""
    for leaf, new in zip(jax.tree.leaves(params), jax.tree.leaves(expressed.params), strict=True):
        leaf[places] = np.asarray(new)


def best(state: TrainState) -> int:
    """The number of the fittest member."""
    return int(breeding.ranked(standing(np.asarray(state.fitness), np.asarray(state.weight)))[0])


def standing(fitness: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """[M] the fitness by which members are ranked: drawn to the mean where it rests on few generations.

        s = m + (f − m) w / (w + 1)

    so that a newcomer's luck in its first games does not put it above those who have proved themselves. Without memory
    all weights are alike, and so is the order.
    """
    mean = fitness.mean()
    return mean + (fitness - mean) * weight / (weight + 1)


def points(
    config: Config, game: Game[Any], opponents: tuple[Policy, ...], params: Any, seating: np.ndarray, *, seed: int
) -> np.ndarray:
    """[M] points a game of all members."""
    made, num_members = genome_of(config, game), config.islands * config.population
    opening = opening_of(config, game)
    if tables := tables_of(made, game):
        returns = tables.play(params, seating, opening=opening, seed=seed)
    else:
        members = [made.policy(game, member(params, index)) for index in range(num_members)]
        returns = matches.play(game, members, opponents, seating, opening=opening, seed=seed)
    return matches.points(returns, seating, num_members)


def opening_of(config: Config, game: Game[Any]) -> int:
    """Moves at random that a game begins with."""
    if config.opening is not None:
        return config.opening
    return 0 if game.spec.num_outcomes else OPENING


def member(params: Any, index: int) -> Any:
    """One member's part of the params of all."""
    return jax.tree.map(lambda leaf: leaf[index], params)
