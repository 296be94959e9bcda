"""Positions and moves as readable text: in the game's notation, or the fields of the state by name."""

from __future__ import annotations

import jax
import numpy as np

from boardrl import optional
from boardrl.game import CHANCE, Game, State


def position(game: Game[State], state: State) -> str:
    """The game's `to_text` of a state or, if it has none, the fields of the state, one per line."""
    if (to_text := optional.to_text(game)) is not None:
        return to_text(state)
    leaves, _ = jax.tree_util.tree_flatten_with_path(state)
    named = [(jax.tree_util.keystr(path).lstrip("."), np.array2string(np.asarray(leaf))) for path, leaf in leaves]
    width = max(len(name) for name, _ in named)
    indent = "\n" + " " * (width + 2)
    return "\n".join(f"{name:{width}}  {value.replace(chr(10), indent)}" for name, value in named)


def move(game: Game[State], state: State, actor: int, number: int) -> str:
    """An action or outcome as the game's `move_text` describes it or, if it has none, by its number."""
    if (move_text := optional.move_text(game)) is not None:
        return move_text(state, np.int32(number))
    return f"dice: outcome {number}" if actor == CHANCE else f"action {number}"
