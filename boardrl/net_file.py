"""A value net as a small file: JSON with its shape, half-precision weights in base64, and the command that made it."""

from __future__ import annotations

import base64
import json
import pathlib
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from boardrl import atomic, nets
from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.nets import MLP, Scaled, ScaledParams, ValueNet
from boardrl.return_scale import Scale

FORMAT = 1
KIND = "value net"
DTYPE = np.dtype("<f2")  # 11 bits of precision: what a net chooses hardly ever hangs on more


class NetFile(NamedTuple):
    game: str  # by whose rules it was trained
    num_inputs: int
    num_outputs: int
    hidden: tuple[int, ...]
    activation: nets.Activation
    made_by: str  # a command


def save(path: pathlib.Path, described: NetFile, params: ScaledParams) -> None:
    """Writes the file, whole or not at all."""
    flat = np.concatenate([np.asarray(leaf, np.float32).ravel() for leaf in jax.tree.leaves(params)])
    if not np.isfinite(flat.astype(DTYPE)).all():
        raise UserError("the net has weights beyond ±65504, the most that half precision can hold; train it anew")
    content = {"format": FORMAT, "kind": KIND, **described._asdict()}
    content["weights"] = base64.b64encode(flat.astype(DTYPE).tobytes()).decode()
    atomic.write(path, (json.dumps(content, indent=1, allow_nan=False) + "\n").encode())


def trained_on(path: pathlib.Path) -> str:
    """The game by whose rules the net of a file that can be loaded was trained."""
    return str(json.loads(path.read_text())["game"])


def load(path: pathlib.Path, game: Game[Any]) -> tuple[Scaled, ScaledParams]:
    """The value of a file and its parameters, in NumPy, for a game that is observed as the one it was trained on."""
    try:
        content = json.loads(path.read_text())
        if (content["format"], content["kind"]) != (FORMAT, KIND):
            raise ValueError
        found = NetFile(**{name: content[name] for name in NetFile._fields})
        flat = np.frombuffer(base64.b64decode(content["weights"], validate=True), DTYPE).astype(np.float32)
        found = found._replace(hidden=tuple(int(size) for size in found.hidden))
    except FileNotFoundError:
        raise UserError(f"{str(path)!r} is no file of a net; give one that exists") from None
    except (OSError, ValueError, TypeError, KeyError):
        raise UserError(f"{str(path)!r} cannot be read as a net of format {FORMAT}; make it again") from None
    net = ValueNet(game, MLP(found.hidden, game.spec.num_players, found.activation))
    template = jax.eval_shape(lambda: ScaledParams(net.init(jax.random.key(0)), Scale(jnp.float32(0), jnp.float32(1))))
    sizes = [leaf.size for leaf in jax.tree.leaves(template)]
    if (net.num_inputs, game.spec.num_players) != (found.num_inputs, found.num_outputs) or sum(sizes) != len(flat):
        raise UserError(
            f"{str(path)!r} is a net of {found.game}, with {found.num_inputs} inputs for {found.num_outputs} players; "
            f"this game has {net.num_inputs} for {game.spec.num_players}"
        )
    parts = np.split(flat, np.cumsum(sizes)[:-1])
    leaves = [part.reshape(leaf.shape) for part, leaf in zip(parts, jax.tree.leaves(template), strict=True)]
    return Scaled(net), jax.tree.unflatten(jax.tree.structure(template), leaves)
