"""The operators of a genetic algorithm: selection, crossover, mutation and migration, on arrays of genes."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from algorithms.genomes.genome import Genes

Crossover = Literal["single_point", "uniform", "mean", "none"]


class Mutation(NamedTuple):
    """How much a child differs from its parents."""

    share: float  # of its genes that change
    least: float  # by at least this part of a gene's range, up or down
    most: float  # and at most this one


def ranked(fitness: np.ndarray) -> np.ndarray:
    """[N] numbers of members, the fittest first; of equals the one with the lower number."""
    return np.argsort(-fitness, kind="stable")


def crossed(first: np.ndarray, second: np.ndarray, kind: Crossover, rng: np.random.Generator) -> np.ndarray:
    """[G] genes of both: of the first up to a point that is drawn, and of the second from there on; or of either."""
    if kind == "none" or len(first) < 2:
        return first.copy()
    if kind == "uniform":
        return np.where(rng.random(len(first)) < 0.5, first, second)
    cut = rng.integers(1, len(first))
    return np.concatenate([first[:cut], second[cut:]])


def mutated(vector: np.ndarray, genes: Genes, mutation: Mutation, rng: np.random.Generator) -> np.ndarray:
    """[G] the same with some genes moved, none out of its bounds."""
    count = max(round(mutation.share * len(vector)), 1) if mutation.share > 0 else 0
    chosen = rng.choice(len(vector), count, replace=False)
    step = rng.uniform(mutation.least, mutation.most, count) * rng.choice([-1, 1], count)
    changed = vector.astype(np.float64)
    changed[chosen] += step * (genes.high - genes.low)[chosen]
    return np.clip(changed, genes.low, genes.high).astype(np.float32)


def first_members(
    num_members: int, genes: Genes, first: np.ndarray | None, mutation: Mutation, rng: np.random.Generator
) -> np.ndarray:
    """[N, G] anywhere within the bounds; or the given vector and mutants of it (derakhshan2010, section 3.3)."""
    if first is None:
        return rng.uniform(genes.low, genes.high, (num_members, len(genes.names))).astype(np.float32)
    start = first.astype(np.float32)
    return np.stack([start, *(mutated(start, genes, mutation, rng) for _ in range(num_members - 1))])


def bred(
    vectors: np.ndarray,
    fitness: np.ndarray,
    genes: Genes,
    *,
    num_parents: int,
    num_children: int,
    crossover: Crossover,
    mutation: Mutation,
    rng: np.random.Generator,
) -> np.ndarray:
    """[C, G] children, each of two of the fittest; the fitter one gives the first genes.

    With crossover `mean` all parents have a part in every child: the intermediate recombination of evolution strategies
    (Beyer and Schwefel 2002, section 3.2), which averages out much of the noise by which parents were chosen. The first
    of several children is the mean itself: the mutants around it are worse on average.
    """
    best = ranked(fitness)[:num_parents]
    children = []
    for number in range(num_children):
        if crossover == "mean":
            middle = vectors[best].mean(0)
            plain = number == 0 and num_children > 1
            children.append(middle if plain else mutated(middle, genes, mutation, rng))
            continue
        pair = np.sort(rng.choice(num_parents, min(2, num_parents), replace=False))
        first, second = vectors[best[pair[0]]], vectors[best[pair[-1]]]
        children.append(mutated(crossed(first, second, crossover, rng), genes, mutation, rng))
    return np.array(children, np.float32).reshape(num_children, vectors.shape[1])
