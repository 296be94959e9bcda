"""Who is born in a generation of a genetic algorithm, and who migrates; `config` is that of `algorithms.genetic`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from algorithms.genomes import breeding
from algorithms.genomes.breeding import Mutation
from algorithms.genomes.genome import Genes


class Births(NamedTuple):
    """Who takes which place in the next generation."""

    children: np.ndarray  # [C] places that children take
    vectors: np.ndarray  # [C, G] their genes
    source: np.ndarray  # [M] who was in each place before: its own number, or that of a member who migrates there


def of_generation(
    config: Any,
    genes: Genes,
    islands: np.ndarray,
    vectors: np.ndarray,
    fitness: np.ndarray,  # by which members are ranked
    generation: int,
    rngs: list[np.random.Generator],
) -> Births:
    """Children for the places of the least fit of each island; at times its neighbour's best takes one of them."""
    migrates = config.islands > 1 and generation % config.migrate_every == 0
    children, born, source = [], [], np.arange(len(vectors))
    for members, neighbours, rng in zip(islands, np.roll(islands, 1, axis=0), rngs, strict=True):
        places = members[breeding.ranked(fitness[members])][config.population - config.children :]
        if migrates:
            *others, last = places
            source[last] = neighbours[breeding.ranked(fitness[neighbours])[0]]
            places = np.array(others, int)
        children.append(places)
        born.append(
            breeding.bred(
                vectors[members],
                fitness[members],
                genes,
                num_parents=config.parents,
                num_children=len(places),
                crossover=config.crossover,
                mutation=mutation(config, generation),
                rng=rng,
            )
        )
    return Births(np.concatenate(children), np.concatenate(born), source)


def first_island(config: Any, genes: Genes, rng: np.random.Generator) -> np.ndarray:
    """[N, G] genes of the first members of an island."""
    first = np.array(config.first, np.float32) if config.first else None
    return breeding.first_members(config.population, genes, first, mutation(config, 0), rng)


def mutation(config: Any, generation: int) -> Mutation:
    """How children of a generation mutate, the less the later they are born."""
    share = min(generation / max(num_bred(config) - 1, 1), 1.0)
    factor = 1 + share * (config.mutation_end - 1)
    return Mutation(config.mutated, factor * config.mutation_least, factor * config.mutation_most)


def num_generations(config: Any) -> int:
    """Of the whole evolution."""
    return config.games // games_per_update(config)


def num_bred(config: Any) -> int:
    """Generations that have children; in those after them the fittest climbs."""
    climb: int = config.climb
    return num_generations(config) - climb


def games_per_update(config: Any) -> int:
    """Of all islands together."""
    islands: int = config.islands
    return islands * int(config.games_per_generation)
