"""Shards of the lanes that play and learn at the same time, each on a worker: by default a thread of this process."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, TypeVar, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from algorithms.learning import afterstates
from boardrl import registry, workers
from boardrl.game import Game
from boardrl.play import players, rollout
from boardrl.play.policy import Policy
from boardrl.values import return_scale
from boardrl.workers import addresses, shipped_files
from boardrl.workers.job import Handler

Result = TypeVar("Result")


class Carried(NamedTuple):
    """What lanes carry from one window of play into the next."""

    lanes: rollout.Lanes
    pending: afterstates.Pending
    traces: Any


class Sums(NamedTuple):
    """What is added up over all shards."""

    gradient: Any
    loss: Array  # []
    squared_error: Array  # [] of the returns
    known: Array  # [] float32: number of afterstates with a target
    games: Array  # [] int32: that ended
    decisions: Array  # [] int32
    rolls: Array  # [] int32


class ShardResult(NamedTuple):
    """What one shard of the lanes has played, and the gradient that follows."""

    carried: Carried
    seen: return_scale.Range  # with the returns of the games that ended
    sums: Sums


class Shared(NamedTuple):
    """What all shards of an update have in common."""

    opponents: tuple[Policy, ...]
    state: Any  # the TrainState
    num_shards: int


# Plays and learns in one shard, (config, game, opponents, state, shard); a function at the top level of a module.
Part = Callable[[Any, Game[Any], tuple[Policy, ...], Any, int], ShardResult]


def spread(
    part: Part, init: Any, config: Any, game: Game[Any], opponents: tuple[Policy, ...], state: Any
) -> tuple[ShardResult, ...]:
    """The results of `part` in all of `config.shards` shards, by the workers in use; the same whoever they are.

    Args:
      init: the algorithm's, which says what a TrainState looks like.
    """
    if config.shards == 1:
        return (jax.block_until_ready(part(config, game, opponents, state, 0)),)
    shared = Shared(opponents, state, config.shards)
    job = workers.Job(ShardWork, (part, init, config, cast(Hashable, game)), range(config.shards), shared)
    return tuple(workers.active().map(job))


def update(learn: Any, apply: Any, init: Any, config: Any, game: Game[Any], opponents: Any, state: Any) -> Any:
    """`apply(config, state, results)` with the results of `learn(config, game, opponents, state, shard)` in all shards.

    Args:
      learn, apply: jitted functions, `config.shards` says for how many shards.
    """
    if config.shards == 1:
        return _update_unsharded(learn, apply, config, game, opponents, state)
    return apply(config, state, spread(learn, init, config, game, opponents, state))


@functools.partial(jax.jit, static_argnames=("learn", "apply", "config", "game"), donate_argnames="state")
def _update_unsharded(
    learn: Any, apply: Any, config: Any, game: Game[Any], opponents: tuple[Policy, ...], state: Any
) -> Any:
    """`update` as one program: small updates are over before two could be called."""
    return apply(config, state, (learn(config, game, opponents, state, 0),))


def keys(state: Any, count: int) -> Array:
    """For the next update, then one for each shard's play, then for what all shards share."""
    return jax.random.split(jax.random.wrap_key_data(state.key), 2 + count)


def shard_of(batch: Result, shard: Any, count: int) -> Result:
    """One of `count` equal shards of every leaf's first axis."""

    def cut(leaf: Array) -> Array:
        size = leaf.shape[0] // count
        return jax.lax.dynamic_slice_in_dim(leaf, shard * size, size)

    return jax.tree.map(cut, batch)


def joined(shards: Sequence[Result]) -> Result:
    """All shards along the first axis of every leaf."""
    return jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *shards)


def summed(results: Sequence[Result]) -> Result:
    """The sum of every leaf over all shards."""
    return jax.tree.map(lambda *leaves: functools.reduce(jnp.add, leaves), *results)


# --- workers ----------------------------------------------------------------------------------------------------------

NOT_SENT = "optimizer_state"  # of a TrainState, as workers take no steps


class ShardWork(Handler):
    """Plays and learns in shards by their number."""

    LOCALLY = "threads"

    def __init__(self, part: Part, init: Any, config: Any, game: Game[Any]) -> None:
        self.part, self.config, self.game = part, config, game
        self.shared = Shared((), None, 1)

    @classmethod
    def to_data(cls, part: Part, init: Any, config: Any, game: Game[Any]) -> dict[str, Any] | None:
        if (text := registry.portable(game)) is None:
            return None
        part, init = (getattr(function, "__wrapped__", function) for function in (part, init))  # jitted: by their names
        settings = addresses.settings_to_data(config)
        files = shipped_files.collect([config.opponents])
        functions = {"part": addresses.of(part), "init": addresses.of(init)}
        return {"game": text, **functions, "config": settings, "files": files}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Any:
        config, game = addresses.settings_from_data(data["config"]), registry.make(data["game"])
        (text,) = shipped_files.place([config.opponents], data["files"])
        policies = [player.policy for player in players.make_lineup(text, game)]
        opponents = tuple(policy for policy in policies if policy is not None)
        return ShardElsewhere(addresses.find(data["part"]), addresses.find(data["init"]), config, game, opponents)

    @classmethod
    def name(cls, item: Any) -> str:
        return f"a window of shard {item if isinstance(item, int) else item['shard']}"

    def load(self, shared: Any) -> None:
        self.shared = shared

    def run(self, item: Any) -> Any:
        return jax.block_until_ready(self.part(self.config, self.game, self.shared.opponents, self.shared.state, item))

    @classmethod
    def shared_to_data(cls, shared: Shared) -> dict[str, Any]:
        """All of the TrainState but what belongs to lanes."""
        fields = {name: field for name, field in shared.state._asdict().items() if name not in Carried._fields}
        return {name: jax.tree.leaves(field) for name, field in fields.items() if name != NOT_SENT}

    @classmethod
    def item_to_data(cls, item: int, shared: Shared) -> dict[str, Any]:
        """The lanes of a shard."""
        carried = [getattr(shared.state, name) for name in Carried._fields]
        return {"shard": item, "carried": [_cut(leaf, item, shared.num_shards) for leaf in jax.tree.leaves(carried)]}

    @classmethod
    def result_from_data(cls, result: list[Any], shared: Shared) -> ShardResult:
        state = shared.state
        carried = Carried(*(getattr(state, name) for name in Carried._fields))
        like: Any = ShardResult(carried, state.seen, Sums(state.params, *[state.games] * (len(Sums._fields) - 1)))
        found: ShardResult = jax.tree.unflatten(jax.tree.structure(like), result)
        return found


class ShardElsewhere(ShardWork):
    """The same in another process: the TrainState comes as arrays, and has only the lanes of the shard at hand."""

    def __init__(self, part: Part, init: Any, config: Any, game: Game[Any], opponents: tuple[Policy, ...]) -> None:
        super().__init__(part, init, config, game)
        shapes = jax.eval_shape(lambda: init(config, game, jax.random.key(0)))
        state = jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), shapes)
        self.shared = Shared(opponents, state, config.shards)

    def load(self, shared: dict[str, Any]) -> None:
        state = self.shared.state
        fields = {name: jax.tree.unflatten(jax.tree.structure(getattr(state, name)), shared[name]) for name in shared}
        self.shared = self.shared._replace(state=state._replace(**fields))

    def run(self, item: dict[str, Any]) -> list[Any]:
        """The leaves of a ShardResult."""
        carried = [getattr(self.shared.state, name) for name in Carried._fields]
        for leaf, mine in zip(jax.tree.leaves(carried), item["carried"], strict=True):
            size = len(mine)
            leaf[item["shard"] * size : (item["shard"] + 1) * size] = mine
        return jax.tree.leaves(super().run(item["shard"]))


def _cut(leaf: Any, shard: int, count: int) -> np.ndarray:
    size = leaf.shape[0] // count
    return np.asarray(leaf)[shard * size : (shard + 1) * size]
