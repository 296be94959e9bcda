"""Searchers by name: the registered ones, those that play a game, and how one is made."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from boardrl import host, registry
from boardrl.errors import UserError
from boardrl.game import CHANCE, TERMINAL
from search import random_step
from search.budget import Budget
from search.declaration import Declaration
from search.evaluators import Evaluator

if TYPE_CHECKING:
    from search.searcher import Searcher


def names() -> list[str]:
    """The searchers that the installed packages register."""
    return registry.names(registry.SEARCHERS)


@functools.cache
def find(name: str) -> Declaration:
    """The declaration of a searcher."""
    found = registry.load(name, registry.SEARCHERS)
    if not isinstance(found, Declaration) or found.name != name:
        docs = registry.SEARCHERS.docs
        raise UserError(
            f"searcher {name!r} is not registered as a search.declaration.Declaration of that name; see {docs}"
        )
    return found


def make(
    game: Any,
    name: str,
    options: Any = None,
    *,
    budget: Budget,
    evaluator: Evaluator | None = None,
) -> Searcher:
    """The searcher of a name, such as `negascout` or `mcts`, for a game.

    Args:
      options: of the type that the searcher declares; none: its defaults.
      evaluator: values positions where the search ends; none: the game's weights of features, else playouts.
    """
    return find(name).searcher(game, name, options, budget=budget, evaluator=evaluator)


class Unsuited(UserError):
    """A searcher cannot play a game; the sentence ends with those that can."""

    def __init__(self, reason: str, game: Any, *, dice: bool = False) -> None:
        super().__init__(reason)
        self._game, self._dice = game, dice

    def __str__(self) -> str:  # only when it is shown, as `fitting` asks every searcher
        return f"{self.args[0]}; use {_any_of(fitting(self._game, dice=self._dice))}"


def refuse(name: str, game: Any) -> None:
    """Raises if a searcher cannot play a game."""
    if (reason := _objection(find(name), game)) is not None:
        raise Unsuited(reason, game)


def dice_met(name: str, game: Any) -> UserError:
    """The error of a searcher that comes upon dice which it cannot see through."""
    return Unsuited(_dice_objection(name, game), game, dice=True)


def fitting(game: Any, *, dice: bool = False) -> list[str]:
    """The searchers that play a game.

    Args:
      dice: whether the game is known to have dice, although `has_dice` found none.
    """

    def plays(name: str) -> bool:
        try:
            declaration = find(name)
        except UserError:  # of a broken package
            return False
        return _objection(declaration, game) is None and (declaration.dice or not dice)

    return [name for name in names() if plays(name)]


def by_depth(game: Any) -> str:
    """The usual search of a game by depth: Negascout, with dice expectimax, for more players maxⁿ."""
    return next(name for name in ("negascout", "expectimax", "maxn") if _objection(find(name), game) is None)


def _objection(declaration: Declaration, game: Any) -> str | None:
    """Why a searcher cannot play a game; none: it can."""
    name, spec = declaration.name, game.spec
    if declaration.num_players not in (None, spec.num_players):
        wanted = {2: "two"}.get(declaration.num_players or 0, str(declaration.num_players))
        return f"{name} plays games of {wanted} players, and {spec.name} has {spec.num_players}"
    if declaration.returns != "any" and spec.return_sum is None:
        return f"{name} plays games whose returns have a fixed sum, unlike {spec.name}"
    if declaration.returns == "zero_sum" and spec.return_sum != 0:
        return f"{name} plays games in which one wins what the other loses, unlike {spec.name}"
    if not declaration.dice and spec.num_outcomes and has_dice(game):
        return _dice_objection(name, game)
    return None


def _dice_objection(name: str, game: Any) -> str:
    return f"{name} cannot see through the dice of {game.spec.name}"


def _any_of(names: Sequence[str]) -> str:
    """Names as a choice: 'a, b or c'."""
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


@functools.cache
def has_dice(game: Any) -> bool:
    """Whether a random game meets chance after its first decision; a game that only deals at random has none."""
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
