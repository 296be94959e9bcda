"""Hill climbing of the fittest member after an evolution: one gene is tried at other values, all on the same dice.

Members that are alike differ in few decisions, and on the same dice their games are equal up to the first of them. So
their difference shows after far fewer games than an evolution needs, whose members are ranked by games of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np

from algorithms.genomes import births, breeding, matches, playoff, population
from algorithms.genomes.genome import Genes
from algorithms.settings.genetic import Config, genome_of
from boardrl.game import Game
from boardrl.play.policy import Policy

Returns = Callable[[int, int, int], np.ndarray]  # (candidate, games, number of the round) -> [games] points a game


class Climbed(NamedTuple):
    """The winner and what all candidates reached."""

    winner: int
    challenger: int  # who came closest to candidate 0 or beat it; 0 if it was alone
    fitness: np.ndarray  # [N] mean points a game; the winner's is the highest


def generation(
    config: Config, game: Game[Any], opponents: tuple[Policy, ...], state: population.TrainState
) -> tuple[population.TrainState, dict[str, Any]]:
    """A generation in which the fittest, and variants of it in one gene, meet the opponents on the same dice."""
    made, number = genome_of(config, game), int(state.updates)
    genes, key = made.genes(game), np.asarray(state.key).tolist()
    vectors, fitness = np.array(state.genes), np.array(state.fitness)
    params = jax.tree.map(np.array, jax.device_get(state.params))
    seeds = np.random.SeedSequence([*key, number]).generate_state(len(vectors))
    rng = np.random.default_rng([*key, number])

    # 1. The fittest takes the first place, its variants the next ones. Where there are few, copies of it do not play.
    for leaf in (vectors, *jax.tree.leaves(params)):
        leaf[:] = leaf[population.best(state)]
    gene = gene_of(number - births.num_bred(config), vectors.shape[1], key)
    tried = variants(made, game, genes, vectors[0], gene, len(vectors) - 1, rng)
    places = np.arange(1, 1 + len(tried))
    vectors[places] = tried
    expressed = made.express(game, tried, seeds[places])
    population.put(params, places, expressed)

    # 2. Matches, in which a candidate has all seats that the opponents have not.
    seats = game.spec.num_players
    dice = rng.integers(1 << 32, size=1 + playoff.num_rounds(len(vectors)))

    def returns(candidate: int, games: int, round_number: int) -> np.ndarray:
        seats_of_games = seating(games, seats, len(opponents))
        member = made.policy(game, population.member(params, candidate))
        opening = population.opening_of(config, game)
        played = matches.play(game, [member], opponents, seats_of_games, opening=opening, seed=int(dice[round_number]))
        return played.mean(1, where=seats_of_games == 0)

    # 3. The winner stays in the first place, where those are looked for who are equally fit.
    games = births.games_per_update(config)  # counted, as any progress shows them; those of a climb may be more
    climbed = best(1 + len(tried), config.climb_games or games, returns)
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
    return population.advanced(state, vectors, params, fitness, np.ones(len(vectors), np.float32), games), metrics


def gene_of(turn: int, num_genes: int, key: Any) -> int:
    """The gene whose turn it is: all of them once, in an order that is drawn, before any comes again."""
    sweep, place = divmod(turn, num_genes)
    return int(np.random.default_rng([*key, sweep]).permutation(num_genes)[place])


def variants(made: Any, game: Any, genes: Genes, vector: np.ndarray, gene: int, most: int, rng: Any) -> np.ndarray:
    """[N, G] at most so many vectors with another value of the gene: the genome's `neighbours`, else evenly spaced."""
    if hasattr(made, "neighbours"):
        found = made.neighbours(game, vector, gene)
    else:
        found = np.tile(vector, (most, 1))
        found[:, gene] = np.linspace(genes.low[gene], genes.high[gene], most)
    if len(found) > most:
        found = found[np.sort(rng.choice(len(found), most, replace=False))]
    return np.asarray(found, np.float32)


def seating(num_games: int, num_players: int, num_opponents: int) -> np.ndarray:
    """[G, P] int32: 0 for a candidate, who has all seats but the opponents' -1 - k, spread evenly; all move one on."""
    mine = num_players - num_opponents
    lineup = np.zeros(num_players, np.int32)
    others = np.setdiff1d(np.arange(num_players), np.arange(mine) * num_players // mine)
    lineup[others] = -1 - np.arange(num_opponents)
    seats = np.arange(num_players)
    return lineup[(seats[None] - np.arange(num_games)[:, None]) % num_players]


def best(num_candidates: int, num_games: int, returns: Returns) -> Climbed:
    """Candidate 0, or the one that beats it by more than the standard error of their difference in all their games.

    Rounds of equally many games in all, each by the better half of the round before and candidate 0 (successive
    halving). All candidates of a round have the same dice. Without the margin luck would move a gene back and forth.
    """
    rounds = max((num_candidates - 1).bit_length(), 1)
    stay = np.arange(num_candidates)
    played: list[list[np.ndarray]] = [[] for _ in stay]
    for number in range(rounds):
        each = max(num_games // rounds // len(stay), 1)
        for candidate in stay:
            played[candidate].append(returns(int(candidate), each, number))
        means = np.array([np.concatenate(played[candidate]).mean() for candidate in stay])
        if len(stay) > 2:
            others = stay[breeding.ranked(means)]
            stay = np.sort(np.append(0, others[others != 0][: -(-len(stay) // 2) - 1]))
    fitness = np.array([np.concatenate(games).mean() for games in played])
    challenger = int(stay[-1])
    gain = np.concatenate(played[challenger]) - np.concatenate(played[0])
    winner = challenger if gain.mean() > gain.std() / np.sqrt(len(gain)) else 0
    return Climbed(winner, challenger, np.minimum(fitness, fitness[winner]))
