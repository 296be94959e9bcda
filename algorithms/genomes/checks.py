"""Settings of a genetic algorithm that make no sense, each refused in one sentence; `config` is `genetic.Config`."""

from __future__ import annotations

from typing import Any

from algorithms.genomes import births, playoff
from algorithms.genomes.genome import Genes
from boardrl.errors import UserError

SHOWN = 20  # names of genes in a sentence at most


def check_first(first: tuple[float, ...], genes: Genes) -> None:
    """The genes of the first member."""
    shown = "+".join(f"{value:g}" for value in first)
    if len(first) != len(genes.names):
        names = genes.names if len(genes.names) <= SHOWN else (*genes.names[:SHOWN], "…")
        raise UserError(f"--first={shown} has {len(first)} genes: expected {len(genes.names)}, for {', '.join(names)}")
    for name, value, low, high in zip(genes.names, first, genes.low.tolist(), genes.high.tolist(), strict=True):
        if not low <= value <= high:
            raise UserError(f"--first={shown} has {value:g} for {name!r}: expected {low:g} to {high:g}")


def check_playoff(config: Any, seats: int) -> None:
    """The finalists, and whether each has a game in every round; `seats` are those of members in a game."""
    members = config.islands * config.population
    if not 0 <= config.finalists <= members:
        raise UserError(f"--finalists={config.finalists}: expected 0 for all, or at most the {members} of all islands")
    if config.finalists and not config.playoff_games:
        raise UserError(f"--finalists={config.finalists} have no playoff; give --playoff_games too, or leave it out")
    members = config.finalists or members
    least = playoff.num_rounds(members) * -(-members // seats)
    if config.playoff_games and config.playoff_games < least:
        raise UserError(
            f"--playoff_games={config.playoff_games} leaves members without a game; expected at least {least}, or 0 "
            "for none"
        )


def check_climb(config: Any) -> None:
    """Whom the fittest and its variants play against, and for how long."""
    if config.climb < 0:
        raise UserError(f"--climb={config.climb} is no number of generations: expected 0 or more")
    if not config.climb:
        return
    if not config.opponents:
        raise UserError(f"--climb={config.climb} needs --opponents, against whom the fittest and its variants play")
    if config.climb >= (generations := births.num_generations(config)):
        raise UserError(
            f"--climb={config.climb} leaves none of the {generations} generations of --games={config.games} to evolve "
            "in; expected fewer"
        )
    members = config.islands * config.population
    if members < 2:
        raise UserError("--population=1 leaves no place for variants of the fittest; expected 2 or more with --climb")
    least = playoff.num_rounds(members) * members
    if (config.climb_games or births.games_per_update(config)) < least:
        raise UserError(f"--climb_games={config.climb_games} leaves variants without a game; expected at least {least}")
