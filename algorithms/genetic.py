"""A genetic algorithm: a population of vectors of genes, whose fitness is the points of their players in matches.

Each generation, children of the fittest take the place of the least fit: their genes come from two parents by
crossover, and some of them mutate. Then all play, and are ranked. With one child of the two best in a population of
four this is the algorithm of derakhshan2010 (section 3) and saederup2010 (section 2.2); a child for each member makes
it generational; several populations are islands, between which the best migrate. What genes mean is a genome's
business (algorithms.genomes).
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from algorithms.genomes import births, breeding, climb, genome, matches, playoff
from algorithms.genomes.births import games_per_update as games_per_update
from algorithms.settings.genetic import OPENING, Config, genome_of, tables_of
from algorithms.settings.genetic import check as check
from boardrl.game import Game
from boardrl.play.players import HostPlayer
from boardrl.play.policy import Policy

ON_HOST = True  # `update` calls compiled games and what a genome brings along


class TrainState(NamedTuple):
    """All members, island by island: M = islands · population."""

    genes: Array  # [M, G] float32
    params: Any  # of their players, with a leading axis [M]
    fitness: Array  # [M] float32: points a game
    weight: Array  # [M] float32: generations that the fitness rests on, the earlier ones discounted
    key: Array  # raw key data: with a generation's number it decides all that is random in it
    games: Array  # [] int32: of all matches so far
    updates: Array  # [] int32: generations


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
        return _climb(config, game, opponents, state)
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
        born_now = births.of_generation(config, genes, islands, vectors, standing(fitness, weight), generation, rngs)
        moved = np.flatnonzero(born_now.source != np.arange(len(vectors)))
        for leaf in (vectors, *jax.tree.leaves(params)):
            leaf[moved] = leaf[born_now.source[moved]]
        vectors[born_now.children], born = born_now.vectors, born_now.children
    fitness[born], weight[born] = 0.0, 0.0
    fitness[moved], weight[moved] = 0.0, 0.0  # of points against others than those whom they meet now

    # 2. The players of the children, all at once.
    seeds = np.random.SeedSequence([*key.tolist(), generation]).generate_state(len(vectors) + 1)
    expressed = made.express(game, vectors[born], seeds[born])
    _replace(params, born, expressed)

    # 3. Matches within each island.
    seats = game.spec.num_players
    played = [
        matches.seatings(config.games_per_generation, seats, members, len(opponents), rng)
        for members, rng in zip(islands, rngs, strict=True)
    ]
    seating = np.concatenate(played)
    points = _points(config, game, opponents, params, seating, seed=int(seeds[-1]))

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
        finalists = np.sort(breeding.ranked(standing(fitness, weight))[: config.finalists or len(vectors)])
        if hasattr(made, "mature"):
            again = np.random.SeedSequence([*key.tolist(), generation, 1]).generate_state(len(finalists))
            if grown := made.mature(game, vectors[finalists], again):
                _replace(params, finalists, grown)

        def round_points(members: np.ndarray, games: int, number: int) -> np.ndarray:
            rng = np.random.default_rng([*key.tolist(), generation, config.islands, number])
            last = matches.seatings(games, seats, members, len(opponents), rng)
            return _points(config, game, opponents, params, last, seed=int(rng.integers(1 << 32)))

        fitness[:] = playoff.fitness(len(vectors), config.playoff_games, round_points, finalists)
        weight[:] = 1
    return _next(state, vectors, params, fitness, weight, len(seating)), metrics


def _climb(
    config: Config, game: Game[Any], opponents: tuple[Policy, ...], state: TrainState
) -> tuple[TrainState, dict[str, Any]]:
    """A generation in which the fittest, and variants of it in one gene, meet the opponents on the same dice."""
    made, generation = genome_of(config, game), int(state.updates)
    genes, key = made.genes(game), np.asarray(state.key).tolist()
    vectors, fitness = np.array(state.genes), np.array(state.fitness)
    params = jax.tree.map(np.array, jax.device_get(state.params))
    seeds = np.random.SeedSequence([*key, generation]).generate_state(len(vectors))
    rng = np.random.default_rng([*key, generation])

    # 1. The fittest takes the first place, its variants the next ones. Where there are few, copies of it do not play.
    for leaf in (vectors, *jax.tree.leaves(params)):
        leaf[:] = leaf[best(state)]
    gene = climb.gene_of(generation - births.num_bred(config), vectors.shape[1], key)
    tried = climb.variants(made, game, genes, vectors[0], gene, len(vectors) - 1, rng)
    places = np.arange(1, 1 + len(tried))
    vectors[places] = tried
    expressed = made.express(game, tried, seeds[places])
    _replace(params, places, expressed)

    # 2. Matches, in which a candidate has all seats that the opponents have not.
    seats = game.spec.num_players
    dice = rng.integers(1 << 32, size=1 + playoff.num_rounds(len(vectors)))

    def returns(candidate: int, games: int, number: int) -> np.ndarray:
        seating = climb.seating(games, seats, len(opponents))
        member = made.policy(game, _member(params, candidate))
        opening = _opening(config, game)
        played = matches.play(game, [member], opponents, seating, opening=opening, seed=int(dice[number]))
        return played.mean(1, where=seating == 0)

    # 3. The winner stays in the first place, where those are looked for who are equally fit.
    games = games_per_update(config)  # counted, as any progress shows them; those of a climb may be more
    climbed = climb.best(1 + len(tried), config.climb_games or games, returns)
    fitness[:] = climbed.fitness.min()
    fitness[: 1 + len(tried)] = climbed.fitness
    for leaf in (vectors, fitness, *jax.tree.leaves(params)):
        leaf[[0, climbed.winner]] = leaf[[climbed.winner, 0]]
    metrics = {
        "best": float(fitness[0]),
        "mean": float(climbed.fitness.mean()),
        "worst": float(climbed.fitness.min()),
        **expressed.metrics,
    }
    return _next(state, vectors, params, fitness, np.ones(len(vectors), np.float32), games), metrics


def _next(state: TrainState, vectors: Any, params: Any, fitness: Any, weight: Any, games: int) -> TrainState:
    """The state after a generation."""
    put = functools.partial(jax.tree.map, jnp.asarray)
    counts = state.games + games, state.updates + 1
    return TrainState(put(vectors), put(params), put(fitness), put(weight), state.key, *counts)


def _replace(params: Any, places: np.ndarray, expressed: genome.Expressed) -> None:
    """Puts the params of players into places of those of all members."""
    for leaf, new in zip(jax.tree.leaves(params), jax.tree.leaves(expressed.params), strict=True):
        leaf[places] = np.asarray(new)


def policy(config: Config, game: Game[Any], state: TrainState) -> Policy:
    """The player of the fittest member."""
    return genome_of(config, game).policy(game, _member(state.params, best(state)))


def player(config: Config, game: Game[Any], state: TrainState) -> HostPlayer | None:
    """The fittest member where it plays on the host, as search does; None where its policy plays."""
    return genome_of(config, game).player(game, jax.device_get(_member(state.params, best(state))))


def describe(config: Config, game: Game[Any], state: TrainState) -> dict[str, str]:
    """The genes of the fittest member by name, for reports."""
    genes = genome_of(config, game).genes(game)
    values = np.asarray(state.genes)[best(state)]
    return {name: f"{value:.4g}" for name, value in zip(genes.names, values.tolist(), strict=True)}


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


def _points(
    config: Config, game: Game[Any], opponents: tuple[Policy, ...], params: Any, seating: np.ndarray, *, seed: int
) -> np.ndarray:
    """[M] points a game of all members."""
    made, num_members = genome_of(config, game), config.islands * config.population
    opening = _opening(config, game)
    if tables := tables_of(made, game):
        returns = tables.play(params, seating, opening=opening, seed=seed)
    else:
        members = [made.policy(game, _member(params, index)) for index in range(num_members)]
        returns = matches.play(game, members, opponents, seating, opening=opening, seed=seed)
    return matches.points(returns, seating, num_members)


def _opening(config: Config, game: Game[Any]) -> int:
    """Moves at random that a game begins with."""
    if config.opening is not None:
        return config.opening
    return 0 if game.spec.num_outcomes else OPENING


def _member(params: Any, index: int) -> Any:
    """One member's part of the params of all."""
    return jax.tree.map(lambda leaf: leaf[index], params)
