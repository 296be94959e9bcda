"""A genetic algorithm: a population of vectors of genes, whose fitness is the points of their players in matches.

Each generation, children of the fittest take the place of the least fit: their genes come from two parents by
crossover, and some of them mutate. Then all play, and are ranked. With one child of the two best in a population of
four this is the algorithm of derakhshan2010 (section 3) and saederup2010 (section 2.2); a child for each member makes
it generational; several populations are islands, between which the best migrate. What genes mean is a genome's
business (algorithms.genomes).
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from algorithms.genomes import births, breeding, climb, matches, playoff, population
from algorithms.genomes.births import games_per_update as games_per_update
from algorithms.genomes.population import TrainState as TrainState
from algorithms.settings.genetic import Config, genome_of
from algorithms.settings.genetic import check as check
from boardrl.game import Game
from boardrl.play.players import HostPlayer
from boardrl.play.policy import Policy

ON_HOST = True  # `update` calls compiled games and what a genome brings along


def init(config: Config, game: Game[Any], key: Array) -> TrainState:
    made, members = genome_of(config, game), config.islands * config.population
    num_genes = len(made.genes(game).names)
    blank = jax.tree.map(lambda leaf: jnp.zeros((members, *leaf.shape), leaf.dtype), made.blank(game))
    zeros = jnp.zeros(members, jnp.float32)
    genes = jnp.zeros((members, num_genes), jnp.float32)
    return TrainState(genes, blank, zeros, zeros, jax.random.key_data(key), jnp.int32(0), jnp.int32(0))


def update(
    config: Config, game: Game[Any], opponents: tuple[Policy, ...], state: TrainState
) -> tuple[TrainState, dict[str, Any]]:
    """A generation: children are born, then all members play, and are ranked by their points."""
    if int(state.updates) >= births.num_bred(config):
        return climb.generation(config, game, opponents, state)
    made = genome_of(config, game)
    genes, generation = made.genes(game), int(state.updates)
    vectors, fitness, weight, key = (np.array(leaf) for leaf in (state.genes, state.fitness, state.weight, state.key))
    params = jax.tree.map(np.array, jax.device_get(state.params))
    islands = np.arange(len(vectors)).reshape(config.islands, config.population)
    rngs = [np.random.default_rng([*key.tolist(), generation, island]) for island in range(config.islands)]

    # 1. Who is new: everybody at first, later the children, and those who migrate.
    if generation == 0:
        vectors[:] = np.concatenate([births.first_island(config, genes, rng) for rng in rngs])
        born = moved = np.arange(len(vectors))
    else:
        ranking = population.standing(fitness, weight)
        born_now = births.of_generation(config, genes, islands, vectors, ranking, generation, rngs)
        moved = np.flatnonzero(born_now.source != np.arange(len(vectors)))
        for leaf in (vectors, *jax.tree.leaves(params)):
            leaf[moved] = leaf[born_now.source[moved]]
        vectors[born_now.children], born = born_now.vectors, born_now.children
    fitness[born], weight[born] = 0.0, 0.0
    fitness[moved], weight[moved] = 0.0, 0.0  # of points against others than those whom they meet now

    # 2. The players of the children, all at once.
    seeds = np.random.SeedSequence([*key.tolist(), generation]).generate_state(len(vectors) + 1)
    expressed = made.express(game, vectors[born], seeds[born])
    population.put(params, born, expressed)

    # 3. Matches within each island.
    seats = game.spec.num_players
    played = [
        matches.seatings(config.games_per_generation, seats, members, len(opponents), rng)
        for members, rng in zip(islands, rngs, strict=True)
    ]
    seating = np.concatenate(played)
    points = population.points(config, game, opponents, params, seating, seed=int(seeds[-1]))

    # 4. Fitness: the mean over a member's generations, the earlier ones discounted.
    kept = config.memory * weight
    fitness[:] = (points + kept * fitness) / (1 + kept)
    weight[:] = 1 + kept
    metrics = {
        "best": float(fitness.max()),
        "mean": float(fitness.mean()),
        "worst": float(fitness.min()),
        **expressed.metrics,
    }

    # 5. After the last generation a playoff on games of its own: the fittest of many by the games that it was chosen by
    # is often the luckiest.
    if config.playoff_games and generation + 1 >= births.num_bred(config):
        finalists = np.sort(breeding.ranked(population.standing(fitness, weight))[: config.finalists or len(vectors)])
        if hasattr(made, "mature"):
            again = np.random.SeedSequence([*key.tolist(), generation, 1]).generate_state(len(finalists))
            if grown := made.mature(game, vectors[finalists], again):
                population.put(params, finalists, grown)

        def round_points(members: np.ndarray, games: int, number: int) -> np.ndarray:
            rng = np.random.default_rng([*key.tolist(), generation, config.islands, number])
            last = matches.seatings(games, seats, members, len(opponents), rng)
            return population.points(config, game, opponents, params, last, seed=int(rng.integers(1 << 32)))

        fitness[:] = playoff.fitness(len(vectors), config.playoff_games, round_points, finalists)
        weight[:] = 1
    return population.advanced(state, vectors, params, fitness, weight, len(seating)), metrics


def policy(config: Config, game: Game[Any], state: TrainState) -> Policy:
    """The player of the fittest member."""
    return genome_of(config, game).policy(game, population.member(state.params, population.best(state)))


def player(config: Config, game: Game[Any], state: TrainState) -> HostPlayer | None:
    """The fittest member where it plays on the host, as search does; None where its policy plays."""
    return genome_of(config, game).player(game, jax.device_get(population.member(state.params, population.best(state))))


def describe(config: Config, game: Game[Any], state: TrainState) -> dict[str, str]:
    """The genes of the fittest member by name, for reports."""
    genes = genome_of(config, game).genes(game)
    values = np.asarray(state.genes)[population.best(state)]
    return {name: f"{value:.4g}" for name, value in zip(genes.names, values.tolist(), strict=True)}
