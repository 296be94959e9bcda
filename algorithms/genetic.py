"""A genetic algorithm: a population of vectors of genes, whose fitness is the points of their players in matches.

Each generation, children of the fittest take the place of the least fit: their genes come from two parents by
crossover, and some of them mutate. Then all play, and are ranked. With one child of the two best in a population of
four this is the algorithm of derakhshan2010 (section 3) and saederup2010 (section 2.2); a child for each member makes
it generational; several populations are islands, between which the best migrate. What genes mean is a genome's
business (algorithms.genomes).
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from algorithms.genomes import births, breeding, checks, climb, genome, matches, playoff
from algorithms.genomes.births import games_per_update as games_per_update
from algorithms.genomes.breeding import Crossover
from algorithms.learning import settings
from boardrl import optional, options
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.play.players import HostPlayer
from boardrl.play.policy import Policy

OPENING = 6  # moves at random where nothing else is: the same two players would play the same game again and again
ON_HOST = True  # `update` calls compiled games and what a genome brings along


@dataclasses.dataclass(frozen=True)
class Config:
    games: int = setting(200_000, "go on until the population has played this many games")
    opponents: str = setting(
        "", "players that take a seat each in the matches of a generation; empty: members meet each other alone"
    )
    genome: str = setting("", "what genes mean; empty: truth_table where the game has what it needs, else weights")
    population: int = setting(16, "members of each island")
    games_per_generation: int = setting(2000, "games of each island between one ranking and the next")
    opening: int | None = setting(
        None, f"moves at random that each of these games begins with; none: {OPENING} where there are no dice"
    )
    memory: float = setting(
        0.9, "what a member's earlier generations count in its fitness, against the one after; 0: nothing"
    )
    parents: int = setting(4, "of the fittest of an island, of whom two are drawn for each child")
    children: int = setting(4, "of each island a generation, who replace the least fit; all of them: generational")
    crossover: Crossover = setting(
        "single_point",
        "how a child gets genes of both parents: single_point, uniform, none for those of one, or mean of all parents",
    )
    mutated: float = setting(0.3, "share of a child's genes that change")
    mutation_least: float = setting(0.0, "by at least this share of a gene's range")
    mutation_most: float = setting(0.3, "and by at most this one")
    mutation_end: float = setting(1.0, "factor of both in the last generation, to which a straight line leads from 1")
    first: tuple[float, ...] = setting(
        (), "genes of the first member, whose mutants are the others; empty: all are drawn within the bounds"
    )
    islands: int = setting(1, "populations that evolve side by side")
    migrate_every: int = setting(20, "generations after which an island's best takes the place of a child of the next")
    playoff_games: int = setting(
        0,
        "games after the last generation that alone decide who is the fittest of all islands, in rounds of the better "
        "half; 0: none",
    )
    finalists: int = setting(0, "of the fittest who play the playoff; 0: all members")
    climb: int = setting(
        0,
        "generations at the end in which the fittest climbs: one gene is tried at other values, all in matches against "
        "--opponents with the same dice",
    )
    climb_games: int = setting(0, "games of each generation of a climb; 0: as many as of the others")


PRESETS: dict[str, dict[str, Any]] = {
    "saederup2010": {
        "games": 16_500_000,  # 16,500 generations
        "genome": "truth_table(encoding=saederup,hidden=3,error=0.01)",
        "population": 4,
        "games_per_generation": 1000,
        "memory": 0.0,
        "parents": 2,
        "children": 1,
        "crossover": "single_point",
        "mutated": 0.4,
        "mutation_least": 0.0,
        "mutation_most": 0.4,
        "islands": 1,
    },
    # The first recipe, made by hand, is not printed: ours has half of the most that each gene can be.
    "derakhshan2010": {
        "games": 810_000,  # 81 generations
        "genome": "reward_recipe(preset=derakhshan2010)",
        "population": 4,
        "games_per_generation": 10_000,
        "memory": 0.0,
        "parents": 2,
        "children": 1,
        "crossover": "single_point",
        "mutated": 0.4,
        "mutation_least": 0.1,
        "mutation_most": 0.3,
        "first": (0.5, 0.5, 0.5, -0.5, 0.5, -0.5, 0.5, 0.5, 0.5, 0.5),
        "islands": 1,
    },
}


class TrainState(NamedTuple):
    """All members, island by island: M = islands · population."""

    genes: Array  # [M, G] float32
    params: Any  # of their players, with a leading axis [M]
    fitness: Array  # [M] float32: points a game
    weight: Array  # [M] float32: generations that the fitness rests on, the earlier ones discounted
    key: Array  # raw key data: with a generation's number it decides all that is random in it
    games: Array  # [] int32: of all matches so far
    updates: Array  # [] int32: generations


def check(config: Config, game: Game[Any]) -> None:
    """Refuses settings that make no sense, in one sentence."""
    settings.check(
        config,
        game,
        fractions=("memory", "mutated", "mutation_least", "mutation_most", "mutation_end"),
        counts=("games", "population", "games_per_generation", "parents", "children", "islands", "migrate_every"),
    )
    if config.opening is not None and config.opening < 0:
        raise UserError(f"--opening={config.opening} is no number of moves: expected 0 or more")
    for name in ("parents", "children"):
        if getattr(config, name) > config.population:
            raise UserError(
                f"--{name}={getattr(config, name)} are more than the --population={config.population} has members"
            )
    if config.parents < 2 and config.crossover != "none":
        raise UserError("--parents=1 leaves nobody to cross with; expected 2 or more, or --crossover=none")
    if config.mutation_least > config.mutation_most:
        raise UserError(
            f"--mutation_least={config.mutation_least} is above --mutation_most={config.mutation_most}; exchange them"
        )
    per_update = games_per_update(config)
    if config.games % per_update:
        whole = -(-config.games // per_update) * per_update
        raise UserError(
            f"--games={config.games} ends within a generation, which has {per_update} games on all islands; "
            f"expected a multiple of that, like {whole}"
        )
    made = _genome(config, game)
    made.check(game)
    genes = made.genes(game)
    genome.check_bounds(genome_text(config, game), genes)
    if config.first:
        checks.check_first(config.first, genes)
    seats = game.spec.num_players - len(options.split(config.opponents))
    if config.games_per_generation * seats < config.population:
        raise UserError(
            f"--games_per_generation={config.games_per_generation} leaves members without a game; with "
            f"--population={config.population} expected at least {-(-config.population // seats)}"
        )
    checks.check_playoff(config, seats)
    checks.check_climb(config)
    if config.opponents and _tables(made, game):
        raise UserError(
            f"--opponents={config.opponents} cannot be seated where members search, as those of "
            f"{genome_text(config, game)!r} do; leave it out, or give genome weights(depth=0)"
        )


def genome_text(config: Config, game: Game[Any]) -> str:
    """The genome that was asked for, or that suits the game."""
    return config.genome or ("truth_table" if optional.action_encodings(game) else "weights")


def init(config: Config, game: Game[Any], key: Array) -> TrainState:
    made, members = _genome(config, game), config.islands * config.population
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
    made = _genome(config, game)
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
    made, generation = _genome(config, game), int(state.updates)
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
    return _genome(config, game).policy(game, _member(state.params, best(state)))


def player(config: Config, game: Game[Any], state: TrainState) -> HostPlayer | None:
    """The fittest member where it plays on the host, as search does; None where its policy plays."""
    return _genome(config, game).player(game, jax.device_get(_member(state.params, best(state))))


def describe(config: Config, game: Game[Any], state: TrainState) -> dict[str, str]:
    """The genes of the fittest member by name, for reports."""
    genes = _genome(config, game).genes(game)
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
    made, num_members = _genome(config, game), config.islands * config.population
    opening = _opening(config, game)
    if tables := _tables(made, game):
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


def _tables(made: Any, game: Game[Any]) -> Any:
    """Where members meet, if not as policies."""
    return made.tables(game) if hasattr(made, "tables") else None


def _genome(config: Config, game: Game[Any]) -> Any:
    return _made(genome_text(config, game))


@functools.cache  # to look through entry points takes longer than a generation
def _made(text: str) -> Any:
    return genome.make(text)
