"""The searchers by name: kernel, options, and which games each can play."""

from __future__ import annotations

import dataclasses
import functools
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from boardrl import host
from boardrl.config import setting
from boardrl.errors import UserError, did_you_mean
from boardrl.game import CHANCE, TERMINAL
from search import alphabeta, expectimax, maxn, mcts, minimax, random_step


@dataclasses.dataclass(frozen=True)
class Deepening:
    """Options of every searcher."""

    deepening: bool = setting(True, "search to depth 1, 2, … until the budget is used up; else to the depth at once")


@dataclasses.dataclass(frozen=True)
class Alphabeta(Deepening):
    table: bool = setting(False, "remember positions")
    killers: bool = setting(False, "try moves early that refuted others at the same distance from the root")
    history: bool = setting(False, "try moves early that refuted others anywhere")
    symmetry: bool = setting(False, "let the table know mirror images as one position")
    aspiration: float = setting(0.0, "half the width of the window about the last depth's value; 0: none")
    reverse: bool = setting(False, "without ordering: try moves from the last to the first")

    def __post_init__(self) -> None:
        if not 0 <= self.aspiration < float("inf"):
            raise UserError(f"aspiration={self.aspiration} is no width of a window; expected 0 (none) or more")


@dataclasses.dataclass(frozen=True)
class Negascout(Alphabeta):
    table: bool = setting(True, "remember positions")
    killers: bool = setting(True, "try moves early that refuted others at the same distance from the root")
    history: bool = setting(True, "try moves early that refuted others anywhere")


@dataclasses.dataclass(frozen=True)
class Expectimax(Deepening):
    table: bool = setting(True, "remember positions")
    star: int = setting(1, "cutoffs at the dice: 0 none, 1 Star1, 2 Star2, which pays where moves are many")

    def __post_init__(self) -> None:
        if self.star not in (0, 1, 2):
            raise UserError(f"star={self.star} is no way to prune at the dice; expected 0 (none), 1 or 2")


@dataclasses.dataclass(frozen=True)
class Mcts:
    exploration: float = setting(0.5, "the constant c of UCT, for values scaled to a range of 1")
    reuse: bool = setting(True, "keep what the tree knows of a position from move to move")

    def __post_init__(self) -> None:
        if not 0 <= self.exploration < float("inf"):
            raise UserError(f"exploration={self.exploration} is no constant of UCT; expected 0 or more, like 0.5")


@dataclasses.dataclass(frozen=True)
class Kind:
    """A searcher's code and what it is for."""

    name: str
    kernel: types.ModuleType
    options: type
    flags: Callable[[Any], Sequence[int]]  # the options as the kernel numbers them
    refuse: Callable[[str, Any], None]  # raises for games that it cannot play
    samples: bool = False  # whether it is made of random simulations, so that it has no end of its own
    playouts: int = 8  # random games that value a position by default, in games that bring no evaluation

    def score_columns(self, game: Any) -> int:
        """Numbers that the kernel keeps of each row."""
        return {minimax: 0, alphabeta: 1, expectimax: 3, maxn: 1 + game.spec.num_players}[self.kernel]

    def to_view(self, value: float, view: int, who: int) -> float:
        """What the kernel returns, as a number to the seat that looks, when `who` is to act."""
        return -value if self.kernel in (alphabeta, minimax) and who != view else value

    def vector(self, value: float, scores: np.ndarray, view: int, game: Any) -> np.ndarray:
        """[P] from what the kernel returns, and the scores that it leaves."""
        return scores[0, maxn.VALUES :].copy() if self.kernel is maxn else against_the_rest(value, view, game)


def find(name: str) -> Kind:
    if name not in KINDS:
        hint = did_you_mean(name, KINDS)
        raise UserError(f"unknown searcher {name!r}{hint}; known searchers: {', '.join(KINDS)}")
    return KINDS[name]


class Unsuited(UserError):
    """A searcher cannot play a game; the sentence ends with those that can."""

    def __init__(self, reason: str, game: Any, *, dice: bool = False) -> None:
        super().__init__(reason)
        self._game, self._dice = game, dice

    def __str__(self) -> str:  # only when it is shown, as `fitting` asks every searcher
        return f"{self.args[0]}; use {any_of(fitting(self._game, dice=self._dice))}"


def fitting(game: Any, *, dice: bool = False) -> list[str]:
    """The searchers that play a game; `dice`: of which it turned out that it has some."""

    def plays(kind: Kind) -> bool:
        try:
            kind.refuse(kind.name, game)
        except UserError:
            return False
        return not (dice and kind.refuse is refuse_dice)

    return [kind.name for kind in KINDS.values() if plays(kind)]


def any_of(names: Sequence[str]) -> str:
    """Names as a choice: 'a, b or c'."""
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def refuse_other_than_two_players(name: str, game: Any) -> None:
    spec = game.spec
    if spec.num_players != 2:
        raise Unsuited(f"{name} plays games of two players, and {spec.name} has {spec.num_players}", game)
    refuse_open_sums(name, game)


def refuse_dice(name: str, game: Any) -> None:
    refuse_other_than_two_players(name, game)
    if game.spec.return_sum != 0:  # values change sign with the turn
        raise Unsuited(f"{name} plays games in which one wins what the other loses, unlike {game.spec.name}", game)
    if game.spec.num_outcomes and has_dice(game):
        raise dice_met(name, game)


def refuse_open_sums(name: str, game: Any) -> None:
    if game.spec.return_sum is None:
        raise Unsuited(f"{name} plays games whose returns have a fixed sum, unlike {game.spec.name}", game)


def refuse_nothing(name: str, game: Any) -> None:
    """Any game will do."""


def dice_met(name: str, game: Any) -> UserError:
    """The error of a searcher that sees the dice of a game."""
    return Unsuited(f"{name} cannot see through the dice of {game.spec.name}", game, dice=True)


@functools.cache
def has_dice(game: Any) -> bool:
    """Whether chance has a say after the first decision; a game that only deals at random is searched after that."""
    facet, rng = host.of(game), np.random.default_rng(0)
    row, work = facet.rows(), facet.work()
    facet.init(row)
    decided = False
    for _ in range(min(game.spec.max_steps, 1000)):
        who = facet.actor(row, work)
        if who == TERMINAL or (who == CHANCE and decided):
            return bool(who == CHANCE)
        decided |= who >= 0
        row = random_step.step(facet, row, rng)
    return False


def against_the_rest(value: float, view: int, game: Any) -> np.ndarray:
    """[P] what one player gets; of what is left each of the others gets as much."""
    spec = game.spec
    vector = np.full(spec.num_players, (spec.return_sum - value) / (spec.num_players - 1))
    vector[view] = value
    return vector + 0.0  # no -0.0


def alphabeta_flags(options: Alphabeta) -> tuple[int, ...]:
    return (isinstance(options, Negascout), options.table, options.killers, options.history, options.reverse)


def expectimax_flags(options: Expectimax) -> tuple[int, ...]:
    return (options.star, options.table)


def no_flags(options: Deepening) -> tuple[int, ...]:
    return ()


KINDS = {
    kind.name: kind
    for kind in (
        Kind("minimax", minimax, Deepening, no_flags, refuse_dice),
        Kind("alphabeta", alphabeta, Alphabeta, alphabeta_flags, refuse_dice),
        Kind("negascout", alphabeta, Negascout, alphabeta_flags, refuse_dice),
        Kind("expectimax", expectimax, Expectimax, expectimax_flags, refuse_other_than_two_players),
        Kind("paranoid", expectimax, Expectimax, expectimax_flags, refuse_open_sums),
        Kind("maxn", maxn, Deepening, no_flags, refuse_nothing),
        Kind("mcts", mcts, Mcts, no_flags, refuse_nothing, samples=True, playouts=1),
    )
}
