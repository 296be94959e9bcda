"""Files of feature weights: JSON with the names of the features and the command that made it."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from boardrl import optional
from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.system import atomic_files, untrusted_files
from boardrl.values import linear

FORMAT = 1
MOST_BYTES = 16 << 20  # of a file
MOST_WEIGHT = 2.0**100  # keeps weighted sums of features finite in float32


class Weights(NamedTuple):
    game: str  # the game's name: the same weights fit boards of all sizes
    features: str  # name of the game's feature set
    names: tuple[str, ...]
    values: tuple[float, ...]
    made_by: str  # the command that made it


def save(path: pathlib.Path, weights: Weights) -> None:
    """Writes the file atomically."""
    content = {"format": FORMAT, **_checked(weights._asdict())._asdict()}
    atomic_files.write(path, (json.dumps(content, indent=1, allow_nan=False) + "\n").encode())


def load(text: str, game: Game[Any]) -> Weights:
    """The weights of a file, or of a name in the game's `weight_files`."""
    shipped = optional.weight_files(game)
    path = shipped.get(text, pathlib.Path(text))
    known = f"; {game.spec.name} has {', '.join(shipped)}" if shipped else ""
    try:
        content = untrusted_files.read_json(path, most=MOST_BYTES, follow=True)
        if not isinstance(content, dict) or type(content.get("format")) is not int or content["format"] != FORMAT:
            raise ValueError(f"expected format {FORMAT}")
        found = _checked(content)
    except FileNotFoundError:
        raise UserError(f"learned={text} is not a file of weights{known}; give one that exists") from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise UserError(
            f"learned={text} cannot be read as weights of format {FORMAT} ({why}){known}; make it again"
        ) from None
    if found.game != game.spec.name or found.names != linear.find(game, found.features).names:
        raise UserError(f"learned={text} has weights for other features than {game.spec.name}'s{known}; make it again")
    return found


def check_values(values: Sequence[float] | np.ndarray, what: str) -> None:
    """Raises UserError for weights that are not finite or too large."""
    for value in values:
        if not abs(float(value)) <= MOST_WEIGHT:
            raise UserError(f"{what} has the weight {value}; expected numbers of magnitude {MOST_WEIGHT:g} at most")


def _checked(content: Mapping[str, Any]) -> Weights:
    """The weights of a file's content; raises ValueError if a field is missing or has the wrong type."""
    for name in ("game", "features", "made_by"):
        if type(content.get(name)) is not str:
            raise ValueError(f"its {name} is not a text")
    names, values = content.get("names"), content.get("values")
    if not isinstance(names, list | tuple) or not all(type(name) is str for name in names):
        raise ValueError("its names are not a list of texts")
    if not isinstance(values, list | tuple) or not all(type(value) in (int, float) for value in values):
        raise ValueError("its values are not a list of numbers")
    if not all(abs(value) <= MOST_WEIGHT for value in values):
        raise ValueError(f"its values are not all finite and of magnitude {MOST_WEIGHT:g} at most")
    if len(names) != len(values):
        raise ValueError(f"it has {len(names)} names and {len(values)} values")
    return Weights(content["game"], content["features"], tuple(names), tuple(map(float, values)), content["made_by"])
