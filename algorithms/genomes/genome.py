"""Genomes by name: `truth_table`, `reward_recipe(training_games=20000)`, `weights(depth=2)`, or another package's.

A genome is a frozen dataclass whose fields are its options, registered in the entry point group `boardrl.genomes`.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple, Protocol

import numpy as np

from boardrl import options, registry
from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.play.players import HostPlayer
from boardrl.play.policy import Policy


class Genes(NamedTuple):
    """The G genes of a vector and the bounds that they stay within."""

    names: tuple[str, ...]
    low: np.ndarray  # [G] float32
    high: np.ndarray  # [G] float32


class Expressed(NamedTuple):
    """The players that some vectors stand for."""

    params: Any  # pytree with a leading axis of players
    metrics: dict[str, float]  # how well that went


class Genome(Protocol):
    """What a vector of genes means.

    A genome may also have
        tables(game)    where members meet who are more than their policy, such as those that search; it has
                        play(params, seating, *, opening, seed) -> [G, P] returns. None: their policies play
        neighbours(game, vector, gene)
                        -> [N, G] vectors that are tried in place of one where the fittest climbs
        mature(game, genes, seeds)
                        like express, for the finalists of the playoff: players after more work; None: as they are
    """

    def check(self, game: Game[Any]) -> None:
        """UserError where the options make no sense, or the game lacks what they need."""

    def genes(self, game: Game[Any]) -> Genes: ...

    def blank(self, game: Game[Any]) -> Any:
        """Params of a player that nothing is known of: their shapes, without work."""

    def express(self, game: Game[Any], genes: np.ndarray, seeds: np.ndarray) -> Expressed:
        """The players of [N, G] genes; what is random in making one follows from its [N] uint32 seed."""

    def policy(self, game: Game[Any], params: Any) -> Policy:
        """The player of one entry of params."""

    def player(self, game: Game[Any], params: Any) -> HostPlayer | None:
        """Who plays in matches in place of the policy, if anybody."""


@functools.cache  # to look through entry points takes longer than a generation
def make(text: str) -> Any:
    """The genome of a text like `weights(depth=2)`."""
    name, rest = options.split_call(text)
    cls = registry.load(name, registry.GENOMES)
    return cls(**options.parse(rest, options.of_dataclass(cls), f"genome {name!r}"))


def check_bounds(text: str, genes: Genes) -> None:
    """Refuses bounds that leave nothing to evolve."""
    if not genes.names:
        raise UserError(f"genome {text!r} has no genes: expected at least one")
    for name, low, high in zip(genes.names, genes.low.tolist(), genes.high.tolist(), strict=True):
        if not low < high:
            raise UserError(
                f"gene {name!r} of genome {text!r} goes from {low:g} to {high:g}: expected the lower bound first, and "
                "below the upper one"
            )
