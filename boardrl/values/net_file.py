"""Files of value nets: JSON with the architecture, half-precision weights in base64, and the command that made it."""

from __future__ import annotations

import base64
import json
import pathlib
import typing
from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from boardrl import optional
from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.system import atomic_files, untrusted_files
from boardrl.values import nets
from boardrl.values.nets import MLP, Scaled, ScaledParams, ValueNet
from boardrl.values.return_scale import Scale

FORMAT = 1
KIND = "value net"
MOST_BYTES = 64 << 20  # of a file
MOST_UNITS = 1 << 20  # of a layer
DTYPE = np.dtype("<f2")  # 11 bits of precision hardly ever change a net's choice


class NetFile(NamedTuple):
    game: str  # the game that it was trained on
    num_inputs: int
    num_outputs: int
    hidden: tuple[int, ...]
    activation: nets.Activation
    made_by: str  # the command that made it
    encoding: str = ""  # which of the game's encodings it is shown; empty: the game's `observe`
    whole_turns: bool = False  # whether it has learned positions at the end of turns alone


OPTIONAL = NetFile._field_defaults  # fields that files may leave out


def save(path: pathlib.Path, described: NetFile, params: ScaledParams) -> None:
    """Writes the file atomically."""
    flat = np.concatenate([np.asarray(leaf, np.float32).ravel() for leaf in jax.tree.leaves(params)])
    if not np.isfinite(flat.astype(DTYPE)).all():
        raise UserError("the net has weights beyond ±65504, the largest half-precision number; train it again")
    fields = described._asdict()
    told = {name: value for name, value in fields.items() if value != OPTIONAL.get(name)}
    content = {"format": FORMAT, "kind": KIND, **told}
    content["weights"] = base64.b64encode(flat.astype(DTYPE).tobytes()).decode()
    atomic_files.write(path, (json.dumps(content, indent=1, allow_nan=False) + "\n").encode())


def trained_on(path: pathlib.Path) -> str:
    """The game that the net of a file was trained on."""
    return _read(path)[0].game


def by_whole_turns(path: pathlib.Path) -> bool:
    """Whether the net of a file has learned positions at the end of turns alone."""
    return _read(path)[0].whole_turns


def load(path: pathlib.Path, game: Game[Any]) -> tuple[Scaled, ScaledParams]:
    """The value function of a file and its parameters, in NumPy, for a game with the same observation."""
    found, flat = _read(path)
    if found.encoding and found.encoding not in optional.encodings(game):
        raise UserError(f"{str(path)!r} is a net of {found.game}; this game has no encoding {found.encoding!r}")
    net = ValueNet(game, MLP(found.hidden, game.spec.num_players, found.activation), found.encoding)
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


def _read(path: pathlib.Path) -> tuple[NetFile, np.ndarray]:
    """The description of a file's net, and [N] float32 weights."""
    try:
        content = untrusted_files.read_json(path, most=MOST_BYTES, follow=True)
        found = _checked(content)
        flat = np.frombuffer(base64.b64decode(content["weights"], validate=True), DTYPE).astype(np.float32)
    except FileNotFoundError:
        raise UserError(f"{str(path)!r} is not the file of a net; give one that exists") from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise UserError(f"{str(path)!r} cannot be read as a net of format {FORMAT} ({why}); make it again") from None
    if not np.isfinite(flat).all():
        raise UserError(f"{str(path)!r} has weights that are not finite; make it again")
    return found, flat


def _checked(content: Any) -> NetFile:
    """The description in a file's content; raises ValueError if a field is missing or has the wrong type."""
    if not isinstance(content, Mapping) or (content.get("format"), content.get("kind")) != (FORMAT, KIND):
        raise ValueError(f"expected a {KIND} of format {FORMAT}")
    for name in ("game", "made_by", "weights"):
        if type(content.get(name)) is not str:
            raise ValueError(f"its {name} is not a text")
    hidden = content.get("hidden")
    if not isinstance(hidden, list) or not all(type(size) is int and 1 <= size <= MOST_UNITS for size in hidden):
        raise ValueError(f"its hidden layers are not a list of 1 to {MOST_UNITS:,} units each")
    if content.get("activation") not in typing.get_args(nets.Activation):
        raise ValueError(f"its activation is none of {', '.join(typing.get_args(nets.Activation))}")
    for name in ("num_inputs", "num_outputs"):
        if type(content.get(name)) is not int:
            raise ValueError(f"its {name} is not an integer")
    told = {**OPTIONAL, **content}
    for name, default in OPTIONAL.items():
        if type(told[name]) is not type(default):
            raise ValueError(f"its {name} is not a {'text' if type(default) is str else 'truth value'}")
    found = NetFile(**{name: told[name] for name in NetFile._fields})
    return found._replace(hidden=tuple(hidden))
