"""Value functions in JAX, such as nets, compiled for rows of a game's lowered facet."""

from __future__ import annotations

import dataclasses
import functools
import types
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from boardrl.game import Game
from boardrl.lowering import Argument, Function, Layout, lower_module
from boardrl.play.policy import Value, for_host


@dataclasses.dataclass(frozen=True, eq=False)
class LoweredValue:
    """A compiled value function; its parameters are data."""

    module: types.ModuleType  # fills `boardrl.host.value_slots`
    layout: Layout  # of the parameters

    def params(self, params: Any) -> np.ndarray:
        """The parameters as the flat array that `evaluate` takes."""
        return self.layout.pack(params)

    def work(self) -> np.ndarray:
        """Scratch memory for one thread."""
        return np.zeros(self.module.EVALUATOR_WORDS, np.uint64)


def lower_value(value: Value, params: Any, game: Game[Any]) -> LoweredValue:
    """Compiles value(params, state, player) -> [P] for rows of the game's lowered facet.

    Args:
      params: an example; other parameters of the same shapes need no new code.
    """
    state = jax.tree.map(jnp.asarray, game.init())
    arguments = [Argument("params", params, in_memory=True), Argument("row", state), Argument("player", jnp.int32(0))]
    value, title = for_host(value), f"the value of {game.spec.name}"
    every_view = functools.partial(_own_values, value, game.spec.num_players)
    functions = {
        "evaluate": Function(value, arguments, title=title),
        "evaluate_all": Function(every_view, arguments[:2], title=title, interleaved=True),
    }
    module, layouts = lower_module(f"{game.spec.name}_value", functions, extra="EVALUATOR_WORDS = WORK_WORDS\n")
    return LoweredValue(module, layouts["evaluate"][0])


def _own_values(value: Value, num_players: int, params: Any, state: Any) -> jax.Array:
    """[P] what each player can expect, as it sees the state itself; what all see alike is computed once."""
    return jnp.stack([value(params, state, jnp.int32(player))[player] for player in range(num_players)])
