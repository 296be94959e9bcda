"""Games by name: `make("pig:players=3,target=30")`."""

from __future__ import annotations

import dataclasses
import difflib
import pathlib
import sys
from typing import Any

from boardrl import entry_points, options
from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.system import machine

GROUP = "boardrl.games"  # entry point group in which packages, this one too, register their games


def names() -> list[str]:
    """All games that the installed packages register."""
    return sorted({point.name for point in entry_points.of(GROUP)})


def make(text: str) -> Game[Any]:
    """The game of a text like `pig` or `pig:players=3,target=30`."""
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


def load(name: str) -> type:
    """The class of a registered game."""
    points = {point.value: point for point in entry_points.of(GROUP) if point.name == name}
    if not points:
        near = difflib.get_close_matches(name, names(), 1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise UserError(f"unknown game {name!r}{hint}; known games: {', '.join(names())}")
    if len(points) > 1:
        raise UserError(f"game {name!r} is registered twice, as {' and '.join(sorted(points))}; uninstall one of them")
    (point,) = points.values()
    try:
        cls = entry_points.load(point)
    except entry_points.Unloadable as error:
        missing = isinstance(error.__cause__, ImportError | AttributeError)
        reason = (missing and _shadowed(point.value)) or f"{error}; fix its entry point, or reinstall its package"
        raise UserError(f"game {name!r} cannot be loaded from {point.value!r}: {reason}") from error
    if not (isinstance(cls, type) and dataclasses.is_dataclass(cls)):
        raise UserError(f"game {name!r} at {point.value!r} is not a dataclass; see docs/adding_a_game.md")
    return cls


def _shadowed(place: str) -> str | None:
    """What to say where a folder without code has been imported in place of an installed package."""
    found = sys.modules.get(place.partition(":")[0].partition(".")[0])
    folders = list(getattr(found, "__path__", ()))
    if not folders or getattr(found, "__file__", None) is not None:
        return None
    parent = pathlib.Path(folders[0]).resolve().parent
    where = "the current folder" if parent == pathlib.Path.cwd() else "a folder on Python's path"
    return (
        f"Python takes the folder {folders[0]!r} for it, as that lies in {where} and has the same name as the module; "
        "run the command from another folder"
    )


def describe(game: Game[Any]) -> str:
    """The text that makes an equal game: its name and every option that is not the default."""
    changed = {
        option.name: getattr(game, option.name)
        for option in options.of_dataclass(type(game))
        if getattr(game, option.name) != option.default
    }
    return game.spec.name + (":" + options.format_options(changed) if changed else "")
