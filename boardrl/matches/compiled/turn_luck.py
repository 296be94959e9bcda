"""Luck by whole turns: a roll is worth what the best turn after it leads to.

For value functions that know nothing of positions in the midst of a turn, as those that `td_lambda` learns with
`whole_turns`. Where a turn is a single action, the luck is that of `boardrl.matches.luck`.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from boardrl import host
from boardrl.game import Game
from boardrl.matches.compiled import turn_luck_kernel
from boardrl.play import lineup, lineup_slots
from boardrl.play.lineup import ByValue
from boardrl.play.policy import Value


class TurnValues:
    """Values after all outcomes of a chance node, computed by compiled code that JAX calls."""

    def __init__(self, game: Game[Any], value: Value, params: Any) -> None:
        self.game, self._value, self._params = game, value, params

    def __call__(self, state: Any, viewer: Array) -> tuple[Array, Array]:
        """[C, P] values, and the seat whose dice they are."""
        spec = self.game.spec
        values = jax.ShapeDtypeStruct((spec.num_outcomes, spec.num_players), jnp.float32)
        seat = jax.ShapeDtypeStruct((), jnp.int32)
        return jax.pure_callback(self._compute, (values, seat), state, viewer, vmap_method="sequential")

    def _compute(self, state: Any, viewer: Any) -> tuple[np.ndarray, np.ndarray]:
        facet, module, params = self._compiled
        row = facet.row(jax.tree.map(np.asarray, state))
        out = np.zeros((self.game.spec.num_outcomes, self.game.spec.num_players), np.float32)
        seat = module.after_rolls(params, row, int(viewer), out)
        return out, np.asarray(seat, np.int32)

    @functools.cached_property
    def _compiled(self) -> tuple[Any, ...]:
        players = lineup.lower(self.game, (ByValue(self._value),), (self._params,))
        facet = host.of(self.game)
        module = host.specialise(turn_luck_kernel, facet, slots={lineup_slots.__name__: players.module})
        return facet, module, players.params((self._params,))
