"""Weights of a game's features as a small file: JSON with the names of what is weighed and the command that made it."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Mapping
from typing import Any, NamedTuple

from boardrl import atomic, linear
from boardrl.errors import UserError
from boardrl.game import Game

FORMAT = 1


class Weights(NamedTuple):
    game: str  # the game's name: the same weights fit boards of all sizes
    features: str  # which set of the game's features
    names: tuple[str, ...]
    values: tuple[float, ...]
    made_by: str  # a command


def save(path: pathlib.Path, weights: Weights) -> None:
    """Writes the file, whole or not at all."""
    content = {"format": FORMAT, **weights._asdict()}
    atomic.write(path, (json.dumps(content, indent=1, allow_nan=False) + "\n").encode())


def load(text: str, game: Game[Any]) -> Weights:
    """The weights of a file, or of a name that the game knows under `weight_files`."""
    shipped: Mapping[str, pathlib.Path] = getattr(game, "weight_files", {})
    path = shipped.get(text, pathlib.Path(text))
    known = f"; {game.spec.name} brings {', '.join(shipped)}" if shipped else ""
    try:
        content = json.loads(path.read_text())
        found = Weights(**{name: content[name] for name in Weights._fields})
        if content["format"] != FORMAT:
            raise ValueError
        found = found._replace(names=tuple(found.names), values=tuple(map(float, found.values)))
    except FileNotFoundError:
        raise UserError(f"learned={text} is no file of weights{known}; give one that exists") from None
    except (OSError, ValueError, TypeError, KeyError):
        raise UserError(f"learned={text} cannot be read as weights of format {FORMAT}{known}; make it again") from None
    if found.game != game.spec.name or found.names != linear.find(game, found.features).names:
        raise UserError(f"learned={text} weighs other features than {game.spec.name} has{known}; make it again")
    return found
