"""Shards of the lanes that play and learn at the same time, each on a worker: by default a thread of this process."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, TypeVar, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from boardrl import registry, workers
from boardrl.game import Game
from boardrl.play import players
from boardrl.play.policy import Policy
from boardrl.workers import addresses, shipped_files
from boardrl.workers.job import Handler

Result = TypeVar("Result")


class Work(NamedTuple):
    """What an algorithm does in a shard, and what of its TrainState that takes; functions at the top level of a module.

    Other processes are sent the lanes of a shard and, once an update, the other fields of the TrainState that it takes.
    """

    # (config, game, opponents, state, shard), with a state that has only the shard's lanes
    part: Callable[[Any, Game[Any], tuple[Policy, ...], Any, int], Any]
    init: Any  # the algorithm's
    like: Callable[[Any], Any]  # a pytree with the structure of the result of `part`, from a TrainState
    carried: tuple[str, ...]  # fields of a TrainState with a leading axis of lanes
    unused: tuple[str, ...]  # fields that `part` does not take

    def names(self) -> dict[str, Any]:
        """By which another process finds the same."""
        functions = (getattr(function, "__wrapped__", function) for function in self[:3])  # jitted: by their names
        named = dict(zip(self._fields[:3], map(addresses.of, functions), strict=True))
        return {**named, "carried": self.carried, "unused": self.unused}

    @classmethod
    def find(cls, names: dict[str, Any]) -> Work:
        """The work of these names."""
        part, init, like = (addresses.find(names[name]) for name in cls._fields[:3])
        return cls(part, init, like, tuple(names["carried"]), tuple(names["unused"]))

    def lanes_of(self, shard: int, count: int, state: Any) -> dict[str, Any]:
        """The carried fields of a TrainState, of one of `count` shards."""
        return {name: _cut(getattr(state, name), shard, count) for name in self.carried}


class Shared(NamedTuple):
    """What all shards of an update have in common."""

    work: Work
    opponents: tuple[Policy, ...]
    state: Any  # the TrainState
    num_shards: int


def spread(work: Work, config: Any, game: Game[Any], opponents: tuple[Policy, ...], state: Any) -> tuple[Any, ...]:
    """The results of the work in all of `config.shards` shards, by the workers in use; the same whoever they are."""
    if config.shards == 1:
        return (jax.block_until_ready(work.part(config, game, opponents, state, 0)),)
    shared = Shared(work, opponents, state, config.shards)
    job = workers.Job(ShardWork, (work, config, cast(Hashable, game)), range(config.shards), shared)
    return tuple(workers.active().map(job))


def update(
    work: Work, apply: Any, config: Any, game: Game[Any], opponents: tuple[Policy, ...], state: Any, *, traced: bool
) -> tuple[Any, dict[str, Array]]:
    """`apply(config, state, results)` with the results of the work in all shards: the state after it, and metrics.

    Args:
      apply: jitted.
      traced: the work is a jitted function too.
    """
    if traced and config.shards == 1:
        return cast(tuple[Any, dict[str, Array]], _update_unsharded(work.part, apply, config, game, opponents, state))
    return cast(tuple[Any, dict[str, Array]], apply(config, state, spread(work, config, game, opponents, state)))


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


class ShardWork(Handler):
    """Does the work of shards by their number."""

    LOCALLY = "threads"

    def __init__(self, work: Work, config: Any, game: Game[Any]) -> None:
        self.work, self.config, self.game = work, config, game
        self.shared = Shared(work, (), None, 1)

    @classmethod
    def to_data(cls, work: Work, config: Any, game: Game[Any]) -> dict[str, Any] | None:
        if (text := registry.portable(game)) is None:
            return None
        settings = addresses.settings_to_data(config)
        files = shipped_files.collect([config.opponents])
        return {"game": text, "work": work.names(), "config": settings, "files": files}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Any:
        config, game = addresses.settings_from_data(data["config"]), registry.make(data["game"])
        (text,) = shipped_files.place([config.opponents], data["files"])
        policies = [player.policy for player in players.make_lineup(text, game)]
        opponents = tuple(policy for policy in policies if policy is not None)
        return ShardElsewhere(Work.find(data["work"]), config, game, opponents)

    @classmethod
    def name(cls, item: Any) -> str:
        return f"a window of shard {item if isinstance(item, int) else item['shard']}"

    def load(self, shared: Any) -> None:
        self.shared = shared

    def run(self, item: Any) -> Any:
        _, opponents, state, num_shards = self.shared
        state = state._replace(**self.work.lanes_of(item, num_shards, state))
        return jax.block_until_ready(self.work.part(self.config, self.game, opponents, state, item))

    @classmethod
    def shared_to_data(cls, shared: Shared) -> dict[str, Any]:
        """What the work takes of the TrainState but for what belongs to lanes."""
        work = shared.work
        fields = {name: field for name, field in shared.state._asdict().items() if name not in work.carried}
        return {name: jax.tree.leaves(field) for name, field in fields.items() if name not in work.unused}

    @classmethod
    def item_to_data(cls, item: int, shared: Shared) -> dict[str, Any]:
        """The lanes of a shard."""
        lanes = shared.work.lanes_of(item, shared.num_shards, shared.state)
        return {"shard": item, **{name: jax.tree.leaves(field) for name, field in lanes.items()}}

    @classmethod
    def result_from_data(cls, result: list[Any], shared: Shared) -> Any:
        return jax.tree.unflatten(jax.tree.structure(shared.work.like(shared.state)), result)


class ShardElsewhere(ShardWork):
    """The same in another process: the TrainState comes as arrays, its lanes with each shard."""

    def __init__(self, work: Work, config: Any, game: Game[Any], opponents: tuple[Policy, ...]) -> None:
        super().__init__(work, config, game)
        shapes = jax.eval_shape(lambda: work.init(config, game, jax.random.key(0)))
        state = jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), shapes)
        self.shared = Shared(work, opponents, state, config.shards)

    def load(self, shared: dict[str, Any]) -> None:
        self.shared = self.shared._replace(state=self._with(shared))

    def run(self, item: dict[str, Any]) -> list[Any]:
        """The leaves of the result."""
        _, opponents, _, _ = self.shared
        state = self._with({name: item[name] for name in self.work.carried})
        return jax.tree.leaves(self.work.part(self.config, self.game, opponents, state, item["shard"]))

    def _with(self, fields: dict[str, list[Any]]) -> Any:
        """The TrainState with fields of these leaves."""
        state = self.shared.state
        made = {name: jax.tree.unflatten(jax.tree.structure(getattr(state, name)), fields[name]) for name in fields}
        return state._replace(**made)


def _cut(field: Any, shard: int, count: int) -> Any:
    """One of `count` equal shards of every leaf's first axis, in NumPy."""

    def cut(leaf: Any) -> np.ndarray:
        size = leaf.shape[0] // count
        return np.asarray(leaf)[shard * size : (shard + 1) * size]

    return jax.tree.map(cut, field)
