"""Games, algorithms, searchers and genomes by name, from all installed packages: `make("pig:players=3,target=30")`."""

from __future__ import annotations

import dataclasses
import functools
import pathlib
import sys
from collections.abc import Hashable
from typing import Any, NamedTuple

from boardrl import entry_points, options
from boardrl.errors import UserError, did_you_mean
from boardrl.game import Game
from boardrl.system import machine


class Group(NamedTuple):
    """An entry point group in which packages, boardrl included, register one kind of object."""

    name: str
    noun: str  # name of the kind in messages
    docs: str  # the page that explains how to write one


GAMES = Group("boardrl.games", "game", "docs/adding_a_game.md")
ALGORITHMS = Group("boardrl.algorithms", "algorithm", "CONTRIBUTING.md")
SEARCHERS = Group("boardrl.searchers", "searcher", "docs/search.md")
# A package may register, under a game's name, the reason why it does not offer that game: a sentence.
REFUSED = Group("boardrl.refused_games", "refused game", "docs/guests.md")
GENOMES = Group("boardrl.genomes", "genome", "docs/evolving.md")
LOGGERS = Group("boardrl.loggers", "logger", "docs/scaling.md")


def names(group: Group = GAMES) -> list[str]:
    """All names that installed packages register in a group."""
    return sorted({point.name for point in entry_points.of(group.name)})


def load(name: str, group: Group = GAMES) -> Any:
    """Loads the object registered under a name: a game's or genome's class, an algorithm's module, a searcher."""
    points = {point.value: point for point in entry_points.of(group.name) if point.name == name}
    noun = group.noun
    if not points and group is GAMES and name.replace("-", "_") in names(REFUSED):
        raise UserError(f"the game {name!r} is not offered: {load(name.replace('-', '_'), REFUSED)}")
    if not points:
        known = ", ".join(names(group)) or "none; run pip install -e . again"
        raise UserError(f"unknown {noun} {name!r}{did_you_mean(name, names(group))}; known {noun}s: {known}")
    if len(points) > 1:
        places = " and ".join(sorted(points))
        raise UserError(f"{noun} {name!r} is registered twice, as {places}; uninstall one of them")
    (point,) = points.values()
    try:
        found = entry_points.load(point)
    except entry_points.Unloadable as error:
        missing = isinstance(error.__cause__, ImportError | AttributeError)
        reason = (missing and _shadowed(point.value)) or f"{error}; fix its entry point, or reinstall its package"
        raise UserError(f"{noun} {name!r} cannot be loaded from {point.value!r}: {reason}") from error
    if group in (GAMES, GENOMES) and not (isinstance(found, type) and dataclasses.is_dataclass(found)):
        raise UserError(f"{noun} {name!r} at {point.value!r} is not a dataclass; see {group.docs}")
    return found


def make(text: str) -> Game[Any]:
    """Makes the game of a text like `pig` or `pig:players=3,target=30`."""
    name, _, rest = text.partition(":")
    cls = load(name.strip())
    try:
        game = cls(**options.parse(rest, options.of_dataclass(cls), f"game {name.strip()!r}"))
    except UserError:
        raise
    except Exception as error:
        raise UserError(f"game {text!r} cannot be made: {entry_points.reason(error)}; fix its class") from error
    machine.check_game(game, text)
    return game


def algorithm(name: str) -> Any:
    """The module of an algorithm; `boardrl.runs.training` describes its members."""
    return load(name, ALGORITHMS)


def describe(game: Game[Any]) -> str:
    """The text from which `make` makes an equal game: its name and all options that differ from their defaults."""
    changed = {
        option.name: getattr(game, option.name)
        for option in options.of_dataclass(type(game))
        if getattr(game, option.name) != option.default
    }
    return game.spec.name + (":" + options.format_options(changed) if changed else "")


def portable(game: Game[Any]) -> str | None:
    """The text by which another process makes the same game; None if it is registered nowhere."""
    return _portable(game) if isinstance(game, Hashable) else _portable.__wrapped__(game)


@functools.lru_cache(maxsize=64)  # to look through entry points takes milliseconds
def _portable(game: Any) -> str | None:
    try:
        text = describe(game)
        return text if make(text) == game else None
    except UserError:
        return None


def _shadowed(place: str) -> str | None:
    """The reason of a failed import if a folder without code shadows an installed package."""
    found = sys.modules.get(place.partition(":")[0].partition(".")[0])
    folders = list(getattr(found, "__path__", ()))
    if not folders or getattr(found, "__file__", None) is not None:
        return None
    parent = pathlib.Path(folders[0]).resolve().parent
    where = "the current folder" if parent == pathlib.Path.cwd() else "a folder on Python's path"
    return (
        f"Python imports the folder {folders[0]!r} instead, which is in {where} and has the same name as the module; "
        "run the command from another folder"
    )
