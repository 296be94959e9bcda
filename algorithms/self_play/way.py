"""Which way lanes are played: by compiled host code, or in JAX."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Literal, TypeVar

import jax

from boardrl.errors import UserError
from boardrl.lowering.ir import LoweringError
from boardrl.play.policy import Policy

Play = Literal["auto", "compiled", "jax"]
HELP = (
    "compiled: games are played by compiled code on this machine's cores; jax: on JAX's device; auto: compiled on a "
    "CPU where game and net can be compiled"
)
LARGE = 1_000_000  # parameters from which a batch in JAX is faster than one position after the other
CONVOLUTION = 700  # what a parameter of a convolution counts for, as it is used at every cell

Compiled = TypeVar("Compiled")


_FOUND: dict[Hashable, Any] = {}


def find(
    play: Play, params: Any, opponents: Sequence[Policy], key: Hashable, make: Callable[[], Compiled]
) -> Compiled | str:
    """What `make` compiles, or a sentence that says why play stays in JAX.

    Args:
      params: of the net that plays.
      key: what decides the result beside the shapes of parameters: found once, it is kept, as every update asks.
      make: raises LoweringError for what has no compiled form.
    """
    shapes = tuple((leaf.shape, leaf.dtype) for leaf in jax.tree.leaves([opponent.params for opponent in opponents]))
    full = (key, play, tuple(opponent.apply for opponent in opponents), shapes)
    if full not in _FOUND:
        _FOUND[full] = _find(play, params, make)
    found: Compiled | str = _FOUND[full]
    return found


def _find(play: Play, params: Any, make: Callable[[], Compiled]) -> Compiled | str:
    if play == "jax":
        return "--play=jax was given"
    if play == "auto" and (reason := _slower(params)):
        return reason
    try:
        return make()
    except LoweringError as error:
        if play == "compiled":
            raise UserError(f"--play=compiled does not work here: {error}; choose --play=jax") from None
        return f"there is no compiled form: {error}"


def remark(play: Play, found: Any) -> str:
    """One line for the user where --play=auto has ended in JAX; else empty."""
    return f"games are played in JAX, as {found} (--play)" if play == "auto" and isinstance(found, str) else ""


def _slower(params: Any) -> str:
    """Why JAX is likely faster; empty where it is not."""
    if jax.default_backend() != "cpu":
        return f"JAX has a device of its own, {jax.default_backend()}"
    if jax.local_device_count() > 1:
        return f"JAX has {jax.local_device_count()} devices to share the lanes among"
    size = sum(leaf.size * (CONVOLUTION if leaf.ndim > 2 else 1) for leaf in jax.tree.leaves(params))
    return "the net is large enough for batches to be faster" if size >= LARGE else ""
