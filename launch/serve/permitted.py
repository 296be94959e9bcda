"""Texts from the page: which games, players and runs they may name.

On a command line a user may name any file and any code. A page may not: a game must be registered, a player must be one
of the game's, a searcher or a run below the folder that the server was started for. Texts that were typed on the
server's own command line are the user's, and are taken as they are.
"""

from __future__ import annotations

import os
import pathlib
import re
from typing import Any

from boardrl import options, registry, trust
from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.play import players

RUNS = "runs"  # how the page writes the folder of runs, wherever it is
HUMAN = "human"
MOST_KILOBYTES = 1 << 18
MOST_MS = 600_000
_BREAKS = re.compile(r"[,()=\"\s]+")


class Permitted:
    """What texts of the page may name.

    Args:
      runs: the folder whose runs may be read.
      texts: games and players that the user typed on the command line.
    """

    def __init__(self, runs: pathlib.Path, texts: tuple[str, ...] = ()) -> None:
        self.runs, self._texts = runs, frozenset(texts)

    def game(self, text: str) -> Game[Any]:
        """The game of a text."""
        self._no_paths(text)
        return registry.make(text)

    def is_human(self, text: str) -> bool:
        return text.strip() == HUMAN

    def player_text(self, text: str, game: Game[Any]) -> str:
        """The text from which `players.make` makes the player, with runs in their folder; UserError if it may not."""
        text = text.strip()
        if text in self._texts:
            return text
        if trust.names_code(text) or players.BOT.fullmatch(text):
            raise UserError(
                f"player {text!r} names code, which a page may not; give it on the command line with --players"
            )
        placed = re.sub(rf"(?<![\w./-]){RUNS}/[^,()=\"\s]*", lambda found: str(self.run(found[0])), text)
        self._no_paths(re.sub(rf"(?<![\w./-]){RUNS}/[^,()=\"\s]*", "", text))
        self._limits(text)
        return placed

    def run(self, text: str) -> pathlib.Path:
        """The folder of `runs/<run>`, or of a checkpoint in it."""
        name = text.removeprefix(f"{RUNS}/")
        parts = pathlib.PurePosixPath(name).parts
        if not parts or name.startswith("/") or ".." in parts or "\\" in name or "\0" in name:
            raise UserError(f"{text!r} is no run; expected {RUNS}/ and the name of a run")
        root = self.runs.resolve()
        path = self.runs.joinpath(*parts)
        if not path.resolve().is_relative_to(root) or path.resolve() == root or not path.is_dir():
            raise UserError(f"{text!r} is no run below the folder that the server was started for")
        return path

    def _no_paths(self, text: str) -> None:
        """Refuses a text with a part that is, or looks like, a path."""
        for part in _BREAKS.split(text):
            if "/" in part or "\\" in part or part in (".", "..") or (part and os.path.exists(part)):
                raise UserError(f"{part!r} is a path; a page may name runs alone, as {RUNS}/ and the name of a run")

    def _limits(self, text: str) -> None:
        """Refuses a searcher that asks for too much of the machine."""
        _, inner = options.split_call(text)
        for part in options.split(inner):
            key, _, value = part.partition("=")
            most = {"kilobytes": MOST_KILOBYTES, "ms": MOST_MS, "game_ms": MOST_MS}.get(key.strip())
            try:
                beyond = most is not None and float(value) > most
            except ValueError:  # whoever makes the player says so
                continue
            if beyond:
                raise UserError(f"{key.strip()}={value} is too much for a page; expected at most {most}")
