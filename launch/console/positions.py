"""Positions given by users: a text in the game's notation, or a file with one."""

from __future__ import annotations

import pathlib
from typing import Any

from boardrl.errors import UserError

SHOWN = 80  # characters of a text in an error


def parse(game: Any, text: str) -> Any:
    """The state of a text; raises UserError if the game's `from_text` cannot read it."""
    if not hasattr(game, "from_text"):
        raise UserError(f"{game.spec.name} cannot read positions; leave out --position")
    try:
        return game.from_text(text)
    except UserError:
        raise
    except (ValueError, LookupError) as error:  # from a game that raises no UserError itself
        shown = text if len(text) <= SHOWN else text[:SHOWN] + "…"
        wanted = f"; expected one like {game.to_text(game.init())!r}" if hasattr(game, "to_text") else ""
        raise UserError(f"{shown!r} is not a position of {game.spec.name} ({_reason(error)}){wanted}") from error


def read(game: Any, path: str) -> Any:
    """The state in a file, or the initial state for an empty path."""
    if not path:
        return game.init()
    try:
        text = pathlib.Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read --position={path}: {error}; expected a text file with one position") from None
    return parse(game, text.strip("\r\n"))


def _reason(error: Exception) -> str:
    """An exception's message, or its type if it has none."""
    return " ".join(f"{type(error).__name__}: {error}".split())
