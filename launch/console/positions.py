"""Positions given by users: a text in the game's notation, or a file with one."""

from __future__ import annotations

import pathlib

from boardrl import optional
from boardrl.errors import UserError
from boardrl.game import Game, State

SHOWN = 80  # characters of a text in an error


def parse(game: Game[State], text: str) -> State:
    """The state of a text; raises UserError if the game's `from_text` cannot read it."""
    if (from_text := optional.from_text(game)) is None:
        raise UserError(f"{game.spec.name} cannot read positions; leave out --position")
    try:
        return from_text(text)
    except UserError:
        raise
    except (ValueError, LookupError) as error:  # from a game that raises no UserError itself
        shown = text if len(text) <= SHOWN else text[:SHOWN] + "…"
        to_text = optional.to_text(game)
        wanted = f"; expected one like {to_text(game.init())!r}" if to_text is not None else ""
        raise UserError(f"{shown!r} is not a position of {game.spec.name} ({_reason(error)}){wanted}") from error


def read(game: Game[State], path: str) -> State:
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
