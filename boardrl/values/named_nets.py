"""Nets by name: `mlp`, `conv(channels=32,layers=3)`, `residual(channels=32)`, `package.module:Class(width=32)`.

A net is a flax.linen module that maps one observation, not a batch, to [num_outputs] numbers: one for each player in
td_lambda, one for each action in dqn, or one for the action in its input. The input of `mlp` is a flat vector. The
input of every other net is the observation in its own shape [..., C]; in games whose seats are not symmetric, P more
entries on the last axis give the seat as a one-hot code: P constant planes of a board, P more entries of a vector.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import types
import typing
from typing import Any, Literal

import flax.linen as nn
import jax
import jax.numpy as jnp
from jax import Array

from boardrl import options, trust
from boardrl.errors import UserError, did_you_mean
from boardrl.options import Option
from boardrl.values.nets import ACTIVATIONS, MLP, Activation

HELP = (
    "mlp, conv(channels=32,layers=3), residual(channels=32,blocks=3), or your own flax module as "
    "package.module:Class(option=value)"
)
KERNEL = (3, 3)


class Conv(nn.Module):
    """3×3 convolutions over a board [H, W, C], then dense layers."""

    num_outputs: int
    hidden: tuple[int, ...] = ()
    activation: Activation = "relu"
    channels: int = 32
    layers: int = 3

    @nn.compact
    def __call__(self, board: Array) -> Array:
        x = _board(board, "conv")
        for _ in range(self.layers):
            x = ACTIVATIONS[self.activation](nn.Conv(self.channels, KERNEL)(x))
        return MLP(self.hidden, self.num_outputs, self.activation)(x)


class Residual(nn.Module):
    """A 3×3 convolution over a board [H, W, C], blocks x ← f(x + conv f(conv x)), then dense layers (He et al. 2016).

    Without normalisation; instead each block is initialised to x ← f(x), so that deep nets train from the first step.
    """

    num_outputs: int
    hidden: tuple[int, ...] = ()
    activation: Activation = "relu"
    channels: int = 32
    blocks: int = 3

    @nn.compact
    def __call__(self, board: Array) -> Array:
        activate = ACTIVATIONS[self.activation]
        x = activate(nn.Conv(self.channels, KERNEL)(_board(board, "residual")))
        for _ in range(self.blocks):
            y = activate(nn.Conv(self.channels, KERNEL)(x))
            x = activate(x + nn.Conv(self.channels, KERNEL, kernel_init=nn.initializers.zeros)(y))
        return MLP(self.hidden, self.num_outputs, self.activation)(x)


NETS: dict[str, Any] = {"mlp": MLP, "conv": Conv, "residual": Residual}


def make(text: str, num_outputs: int, *, hidden: tuple[int, ...], activation: Activation) -> nn.Module:
    """Makes the net that a text names.

    Args:
      num_outputs: number of outputs; passed to a user's own module if it has a field of that name.
      hidden: units of the final dense layers of the built-in nets.
      activation: activation between the layers of the built-in nets.
    """
    name, rest = options.split_call(text)
    cls, owner = find(name), f"net {name!r}"
    own = cls not in NETS.values()
    fixed = {"num_outputs": num_outputs} | ({} if own else {"hidden": hidden, "activation": activation})
    takes = [option for option in _fields(cls) if own or option.name not in fixed]
    given = options.parse(rest, [option for option in takes if option.name != "num_outputs"], owner)
    for key, value in given.items():
        if not own and value < 1:
            raise UserError(f"{owner} has {key}={value}: expected at least 1")
    names = {field.name for field in dataclasses.fields(cls)}
    try:
        return cls(**given, **{key: value for key, value in fixed.items() if key in names})
    except Exception as error:  # a user's own class may raise anything
        raise UserError(f"{owner} cannot be made: {_first_line(error)}; give its options in parentheses") from error


def find(name: str) -> Any:
    """The class of a name: a built-in net, or an imported class, which an untrusted run may not name."""
    if name in NETS:
        return NETS[name]
    trust.check(name)
    return _import(name)


@functools.cache
def _import(name: str) -> Any:
    module_name, colon, class_name = name.partition(":")
    if not colon:
        hint = did_you_mean(name, NETS)
        raise UserError(f"unknown net {name!r}{hint}; known nets: {', '.join(NETS)} and package.module:Class")
    try:
        found = getattr(importlib.import_module(module_name), class_name)
    except (ImportError, AttributeError, ValueError) as error:
        raise UserError(f"net {name!r} cannot be loaded: {error}; is its file on the PYTHONPATH?") from error
    if not (isinstance(found, type) and issubclass(found, nn.Module)):
        raise UserError(f"net {name!r} is not a flax.linen Module; write it as class {class_name}(flax.linen.Module)")
    return found


def check(text: str, module: nn.Module, seen: jax.ShapeDtypeStruct, num_outputs: int) -> None:
    """Raises UserError unless a net maps its input to [num_outputs] numbers."""
    what = f"net {text!r}, with an input of shape {seen.shape},"
    try:
        variables = jax.eval_shape(module.init, jax.random.key(0), seen)
        outputs = jax.eval_shape(module.apply, variables, seen)
    except UserError:
        raise
    except Exception as error:  # a user's own module may raise anything
        raise UserError(f"{what} fails: {type(error).__name__}: {_first_line(error)}; correct its __call__") from error
    if list(variables) != ["params"]:
        raise UserError(
            f"net {text!r} has variables {', '.join(variables) or 'of no kind'}, expected only params: others, such "
            "as running means, are not updated in training"
        )
    if not isinstance(outputs, jax.ShapeDtypeStruct) or outputs.shape != (num_outputs,) or outputs.dtype != jnp.float32:
        gives = jax.tree.map(lambda leaf: f"{leaf.dtype}{list(leaf.shape)}", outputs)
        raise UserError(
            f"{what} gives {gives}, expected float32[{num_outputs}]; a field `num_outputs: int` receives that number"
        )


def _board(board: Array, name: str) -> Array:
    if board.ndim != 3:
        raise UserError(
            f"net {name!r} needs a board [height, width, planes], but its input has shape {board.shape}; "
            "give --net=mlp, or choose an --encoding (td_lambda) or --inputs (dqn) of that shape"
        )
    return board


def _fields(cls: type) -> list[Option]:
    """The fields of a module that can be given as text, without those that flax adds."""
    try:
        hints = typing.get_type_hints(cls)
    except Exception:  # names that only a type checker sees
        hints = {}
    found = []
    for field in dataclasses.fields(cls):
        default = field.default_factory() if callable(field.default_factory) else field.default
        kind = hints.get(field.name, type(default))
        if field.init and field.name not in ("parent", "name") and _is_text(kind):
            shown = "none, so it must be given" if default is dataclasses.MISSING else default
            found.append(Option(field.name, kind, shown))
    return found


def _is_text(kind: Any) -> bool:
    """Whether `boardrl.options` can parse values of a type."""
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType, tuple):
        parts = [part for part in typing.get_args(kind) if part not in (type(None), ...)]
        return bool(parts) and all(_is_text(part) for part in parts)
    return origin is Literal or kind in (int, float, bool, str)


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0].rstrip(".") or type(error).__name__
