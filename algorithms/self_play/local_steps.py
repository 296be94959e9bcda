"""Local SGD: each shard of the lanes takes K steps of the optimizer by itself, then all go on from their mean.

    θ ← 1/S Σ_s θ_s, with θ_s the parameters of shard s after K windows of its own, a step after each

and so for the optimizer's moments. So parameters travel once in K windows, and every step is along a gradient of the
parameters that it changes. Sources: McMahan et al. 2017 (FederatedAveraging), Stich 2019 (local SGD).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from algorithms.self_play import shards
from algorithms.self_play.shards import Work
from algorithms.self_play.window_shards import COUNTS, METRICS, Carried
from boardrl.game import Game
from boardrl.play.policy import Policy
from boardrl.values import return_scale


class Trained(NamedTuple):
    """What a shard ends with."""

    state: Any  # TrainState with the lanes of the shard
    metrics: dict[str, Array]  # of all its windows


def work(part: Any, init: Any) -> Work:
    """The work of a `part` that calls `train`."""
    return Work(part, init, trained_like, Carried._fields, ())


def trained_like(state: Any) -> Trained:
    """The structure of a Trained."""
    return Trained(state, dict.fromkeys(METRICS, state.games))


def train(
    part: Any, apply: Any, config: Any, game: Game[Any], opponents: tuple[Policy, ...], state: Any, shard: int
) -> Trained:
    """K windows in a shard, with a step of the optimizer after each.

    Args:
      part: (config, game, opponents, state, shard) -> what follows from a window.
      apply: (config, state, results) -> (state after a step, metrics); may reuse the memory of its state.
    """
    state, rows = _copied(state), []
    for _ in range(config.local_steps):
        state, metrics = apply(config, state, (part(config, game, opponents, state, shard),))
        rows.append(metrics)
    return Trained(state, joined_metrics(rows))


_copied = jax.jit(functools.partial(jax.tree.map, jnp.copy))


def update(
    work: Work, config: Any, game: Game[Any], opponents: tuple[Policy, ...], state: Any
) -> tuple[Any, dict[str, Array]]:
    """K windows in every shard, by the workers in use, then the mean of all shards."""
    return averaged(state, shards.spread(work, config, game, opponents, state))


@jax.jit
def averaged(state: Any, trained: Sequence[Trained]) -> tuple[Any, dict[str, Array]]:
    """The TrainState of the next update, and the metrics of all windows.

    Args:
      state: before the windows.
    """
    after = [each.state for each in trained]

    def mean(*leaves: Array) -> Array:
        if not jnp.issubdtype(leaves[0].dtype, jnp.floating):
            return leaves[0]  # a count of steps, the same in all shards
        return functools.reduce(jnp.add, leaves) / len(leaves)

    params, optimizer_state = jax.tree.map(mean, *((each.params, each.optimizer_state) for each in after))
    carried = shards.joined([Carried(each.lanes, each.pending, each.traces) for each in after])
    state = state._replace(
        **carried._asdict(),
        params=params,
        optimizer_state=optimizer_state,
        seen=return_scale.joined(*(each.seen for each in after)),
        key=after[0].key,  # the same in all shards
        games=state.games + functools.reduce(jnp.add, [each.games - state.games for each in after]),
        updates=state.updates + 1,
    )
    return state, joined_metrics([each.metrics for each in trained])


@jax.jit
def joined_metrics(rows: Sequence[dict[str, Array]]) -> dict[str, Array]:
    """Of several windows: counts are added up, errors are averaged."""
    total = {name: functools.reduce(jnp.add, [row[name] for row in rows]) for name in rows[0]}
    return {name: whole if name in COUNTS else whole / len(rows) for name, whole in total.items()}
