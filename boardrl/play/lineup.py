"""Players lowered to compiled code, so that kernels can play whole games without calling JAX.

A player decides by the values of afterstates (`ByValue`: only legal actions are looked at) or by logits over actions
(`ByLogits`). `lower(game, deciders, params)` compiles several of them into one module, which fills
`boardrl.play.lineup_slots`; `boardrl.play.turn_kernel` plays turns with it:

    policies = (learned, opponent)                                  # boardrl.play.policy.Policy
    lineup = lower(game, tuple(map(decider, policies)), tuple(policy.params for policy in policies))
    module = host.specialise(kernel, host.of(game), slots={lineup_slots.__name__: lineup.module})
    module.play(..., lineup.params(tuple(policy.params for policy in policies)), ...)
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import types
import warnings
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np

from boardrl import host
from boardrl.game import Game
from boardrl.lowering import Argument, Function, Layout, lower_module
from boardrl.lowering.ir import LoweringError
from boardrl.lowering.layout import LINE, WORD, zeroed_words
from boardrl.play.policy import Apply, Greedy, Policy, Utility, Value, for_host


@dataclasses.dataclass(frozen=True)
class ByValue:
    """Decides for the afterstate of the highest utility to the actor."""

    value: Value
    utility: Utility = "own"
    ends: bool = True  # whether an afterstate where the game is over is worth its returns, whatever `value` says


@dataclasses.dataclass(frozen=True)
class ByLogits:
    """Decides by logits over actions."""

    apply: Apply


Decider = ByValue | ByLogits


def decider(policy: Policy) -> Decider:
    """How a policy decides."""
    apply = policy.apply
    return ByValue(apply.value, apply.utility) if isinstance(apply, Greedy) else ByLogits(apply)


@dataclasses.dataclass(frozen=True, eq=False)
class Lineup:
    """Compiled players; their parameters are data."""

    module: types.ModuleType  # fills `boardrl.play.lineup_slots`
    layouts: tuple[Layout, ...]  # of each player's parameters

    def params(self, params: tuple[Any, ...]) -> np.ndarray:
        """The parameters of all players as the flat array that compiled code takes."""
        *starts, end = _starts(self.layouts)
        flat = zeroed_words(end)
        for start, layout, one in zip(starts, self.layouts, params, strict=True):
            layout.pack(one, out=flat[start : start + layout.num_words])
        return flat


def lower(game: Game[Any], deciders: tuple[Decider, ...], params: tuple[Any, ...]) -> Lineup:
    """Compiles players of a game.

    Args:
      params: of each player, examples; other parameters of the same shapes need no new code.

    Raises:
      LoweringError: the rules or a player use something that has no compiled form.
    """
    shapes = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(jnp.shape(leaf), jnp.result_type(leaf)), params)
    leaves, structure = jax.tree.flatten(shapes)
    found = _lower(game, deciders, structure, tuple(leaves))  # type: ignore[arg-type]
    if isinstance(found, LoweringError):
        raise found
    return found


@functools.cache
def _lower(game: Any, deciders: tuple[Decider, ...], structure: Any, leaves: tuple[Any, ...]) -> Lineup | LoweringError:
    """The error is returned, so that it is remembered too: to trace the rules again at every update takes long."""
    try:
        return _lower_new(game, deciders, structure, leaves)
    except LoweringError as error:
        return error


def _lower_new(game: Any, deciders: tuple[Decider, ...], structure: Any, leaves: tuple[Any, ...]) -> Lineup:
    check_rules(game)
    params = jax.tree.unflatten(structure, leaves)
    state = jax.tree.map(jnp.asarray, game.init())
    row, player = Argument("row", state), Argument("player", jnp.int32(0))
    functions = {}
    alike = _alike(deciders, params)
    for number, one in enumerate(deciders):
        if alike[number] != number:
            continue
        mine = Argument("params", params[number], in_memory=True)
        title = f"player {number} of {game.spec.name}"
        if isinstance(one, ByValue):
            functions[f"value_{number}"] = Function(for_host(one.value), [mine, row, player], title=title)
        else:
            functions[f"logits_{number}"] = Function(for_host(one.apply), [mine, row], title=title)
    layouts = tuple(Layout(one, "params") for one in params)
    module, _ = lower_module(f"{game.spec.name}_lineup", functions, extra=_dispatch(deciders, alike, layouts))
    return Lineup(module, layouts)


def check_rules(game: Game[Any]) -> None:
    """Raises LoweringError for a game whose rules have no compiled form."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", host.SlowHostWarning)  # the error says as much
        refused = host.of(game).refused
    if refused:
        raise LoweringError(next(iter(refused.values())))


def _alike(deciders: tuple[Decider, ...], params: tuple[Any, ...]) -> list[int]:
    """For each player the first that needs the same code, such as a net of the same layers."""
    shapes = [(jax.tree.structure(one), [(leaf.shape, leaf.dtype) for leaf in jax.tree.leaves(one)]) for one in params]
    kinds = list(zip(deciders, shapes, strict=True))
    return [kinds.index(kind) for kind in kinds]


def _dispatch(deciders: tuple[Decider, ...], alike: list[int], layouts: tuple[Layout, ...]) -> str:
    """The source of the constants, of `value` and of `logits`, which call the functions of the player that is asked.

    Args:
      alike: for each player the number of the one whose functions it uses, with its own parameters.
    """
    ours = [cast(Any, one) for one in deciders]
    flags = {
        "BY_VALUE": [isinstance(one, ByValue) for one in ours],
        "BY_RETURNS": [isinstance(one, ByValue) and one.ends for one in ours],
        "BY_MARGIN": [isinstance(one, ByValue) and one.utility == "margin" for one in ours],
    }
    lines = ["LINEUP_WORDS = WORK_WORDS", *(f"{name} = {tuple(values)}" for name, values in flags.items())]
    starts = _starts(layouts)
    for name, arguments in {"value": "row, player, out, work", "logits": "row, out, work"}.items():
        lines += ["", "", "@njit(**OPTIONS, _nrt=False)", f"def {name}(number, params, {arguments}):"]
        lines.append(f'    """The {name} of the player of that number."""')
        for number, one in enumerate(ours):
            if isinstance(one, ByValue) == (name == "value"):
                params = f"params[{starts[number]}:{starts[number] + layouts[number].num_words}]"
                lines += [f"    if number == {number}:", f"        {name}_{alike[number]}({params}, {arguments})"]
    return "\n".join(lines) + "\n"


def _starts(layouts: tuple[Layout, ...]) -> list[int]:
    """The first word of each player's parameters, which begin on a line of memory, and the number of all words."""
    line = LINE // WORD
    return list(itertools.accumulate((-(-layout.num_words // line) * line for layout in layouts), initial=0))
