"""Settings of `algorithms.genetic`, their checks, and the genome that they name."""

from __future__ import annotations

import dataclasses
from typing import Any

from algorithms.genomes import births, genome, playoff
from algorithms.genomes.breeding import Crossover
from algorithms.genomes.genome import Genes
from algorithms.settings import checks
from boardrl import optional, options
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.game import Game

OPENING = 6  # moves at random where nothing else is: the same two players would play the same game again and again
SHOWN = 20  # names of genes in a sentence at most


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


def check(config: Config, game: Game[Any]) -> None:
    """Refuses settings that make no sense, in one sentence."""
    checks.check(
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
    per_update = births.games_per_update(config)
    if config.games % per_update:
        whole = -(-config.games // per_update) * per_update
        raise UserError(
            f"--games={config.games} ends within a generation, which has {per_update} games on all islands; "
            f"expected a multiple of that, like {whole}"
        )
    made = genome_of(config, game)
    made.check(game)
    genes = made.genes(game)
    genome.check_bounds(genome_text(config, game), genes)
    if config.first:
        check_first(config.first, genes)
    seats = game.spec.num_players - len(options.split(config.opponents))
    if config.games_per_generation * seats < config.population:
        raise UserError(
            f"--games_per_generation={config.games_per_generation} leaves members without a game; with "
            f"--population={config.population} expected at least {-(-config.population // seats)}"
        )
    check_playoff(config, seats)
    check_climb(config)
    if config.opponents and tables_of(made, game):
        raise UserError(
            f"--opponents={config.opponents} cannot be seated where members search, as those of "
            f"{genome_text(config, game)!r} do; leave it out, or give genome weights(depth=0)"
        )


def check_first(first: tuple[float, ...], genes: Genes) -> None:
    """The genes of the first member."""
    shown = "+".join(f"{value:g}" for value in first)
    if len(first) != len(genes.names):
        names = genes.names if len(genes.names) <= SHOWN else (*genes.names[:SHOWN], "…")
        raise UserError(f"--first={shown} has {len(first)} genes: expected {len(genes.names)}, for {', '.join(names)}")
    for name, value, low, high in zip(genes.names, first, genes.low.tolist(), genes.high.tolist(), strict=True):
        if not low <= value <= high:
            raise UserError(f"--first={shown} has {value:g} for {name!r}: expected {low:g} to {high:g}")


def check_playoff(config: Config, seats: int) -> None:
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


def check_climb(config: Config) -> None:
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


def genome_text(config: Config, game: Game[Any]) -> str:
    """The same as text."""
    return config.genome or ("truth_table" if optional.action_encodings(game) else "weights")


def tables_of(made: Any, game: Game[Any]) -> Any:
    """Where members meet, if not as policies."""
    return made.tables(game) if hasattr(made, "tables") else None


def genome_of(config: Config, game: Game[Any]) -> Any:
    """The genome that was asked for, or that suits the game."""
    return genome.make(genome_text(config, game))
