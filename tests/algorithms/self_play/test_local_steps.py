"""Local steps of td_lambda: each shard learns by itself, then all go on from their mean."""

import dataclasses
import functools

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from algorithms import td_lambda
from algorithms.learning import optimizers
from algorithms.self_play import shards, window_shards
from boardrl import registry, workers
from boardrl.runs import checkpoint
from boardrl.workers import Local

TINY = td_lambda.Config(
    games=1000, lanes=8, shards=2, window=6, local_steps=3, hidden=(6,), learning_rate=0.01, decay=0.6,
    anneal_learning_rate=False,
)  # fmt: skip
GAME = registry.make("pig:players=3,target=12")
WAYS = [{"play": "jax"}, {"play": "compiled"}, {"play": "jax", "view": "backward"}]


def started(config, game=GAME):
    """The state after two updates of one step each, so that something is pending, and its Adam has moments."""
    state = td_lambda.init(config, game, jax.random.key(5))
    for _ in range(2):
        state, _ = td_lambda.update(dataclasses.replace(config, local_steps=1), game, (), state)
    return state


def updated(config, state, count=1, game=GAME):
    state = jax.tree.map(jnp.copy, state)  # as an update may reuse its memory
    for _ in range(count):
        state, metrics = td_lambda.update(config, game, (), state)
    return state, metrics


def by_hand(config, state, shard):
    """(state, losses) of a shard after its windows, each followed by a step along its gradient alone."""
    mine = shards.shard_of((state.lanes, state.pending, state.traces), shard, config.shards)
    state = state._replace(**dict(zip(("lanes", "pending", "traces"), mine, strict=True)))
    part = td_lambda.learn if config.play == "jax" else td_lambda.learn_compiled
    step = jax.jit(functools.partial(optimizers.step, config.optimizer))
    losses = []
    for _ in range(config.local_steps):
        (lanes, pending, traces), seen, sums = part(config, GAME, (), state, shard)
        gradient = sums.gradient if config.optimizer == "sgd" else sums.mean_gradient()
        params, optimizer_state = step(state.params, state.optimizer_state, gradient, rate=jnp.float32(0.01))
        key, games = jax.random.key_data(shards.keys(state, config.shards)[0]), state.games + sums.games
        state = state._replace(params=params, optimizer_state=optimizer_state, key=key, games=games)
        state = state._replace(lanes=lanes, pending=pending, traces=traces, seen=seen)
        losses.append(float(sums.loss) / float(sums.known))
    return state, losses


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
@pytest.mark.parametrize("way", WAYS)
def test_an_update_is_the_mean_of_shards_that_learn_alone(way, optimizer):
    config = dataclasses.replace(TINY, optimizer=optimizer, **way)
    state = started(config)
    (one, other), losses = zip(*(by_hand(config, state, shard) for shard in range(2)), strict=True)
    after, metrics = updated(config, state)
    for name in ("params", "optimizer_state"):
        halves = getattr(one, name), getattr(other, name)
        wanted = jax.tree.map(lambda a, b: (np.asarray(a) + np.asarray(b)) / 2, *halves)
        chex.assert_trees_all_close(getattr(after, name), wanted, atol=1e-5)
        if jax.tree.leaves(halves):
            with pytest.raises(AssertionError):
                chex.assert_trees_all_close(*halves, atol=1e-4)
    chex.assert_trees_all_equal(after.lanes, shards.joined([one.lanes, other.lanes]))
    assert int(after.games) == int(one.games) + int(other.games) - int(state.games) > int(state.games)
    assert int(after.updates) == int(state.updates) + 1
    assert float(metrics["loss"]) == pytest.approx(np.mean(losses), rel=1e-4)
    assert float(metrics["decisions"]) == 8 * 6 * 3


@pytest.mark.parametrize("way", WAYS)
def test_with_one_shard_they_are_plain_steps(way):
    config = dataclasses.replace(TINY, shards=1, **way)
    state = started(config)
    plain, _ = updated(dataclasses.replace(config, local_steps=1), state, 3)
    after, _ = updated(config, state)
    chex.assert_trees_all_close(after._replace(updates=plain.updates), plain, atol=1e-5)
    chex.assert_trees_all_equal((after.lanes, after.key, after.games), (plain.lanes, plain.key, plain.games))


@pytest.mark.parametrize("way", WAYS)
def test_windows_follow_each_other_as_those_of_updates_do(way):
    """Where nothing is learned, three windows of an update are those of three updates."""
    config = dataclasses.replace(TINY, learning_rate=0.0, **way)
    state = started(config)
    plain, _ = updated(dataclasses.replace(config, local_steps=1), state, 3)
    after, _ = updated(config, state)
    chex.assert_trees_all_equal(*(one._replace(updates=0, optimizer_state=(), traces=()) for one in (plain, after)))


@pytest.mark.parametrize("way", WAYS)
def test_neither_workers_nor_a_checkpoint_change_anything(way, tmp_path):
    config = dataclasses.replace(TINY, lanes=12, shards=4, **way)
    found = []
    for count in (1, 3):
        with workers.using(Local(count)):
            state = started(config)
            for _ in range(2):
                state, metrics = td_lambda.update(config, GAME, (), state)
                if count == 3:  # as --resume does
                    at = checkpoint.save(tmp_path / str(int(state.updates)), state, notes={})
                    template = jax.eval_shape(functools.partial(td_lambda.init, config, GAME), jax.random.key(0))
                    state = checkpoint.restore(at, checkpoint.verify(at), template)
            found.append((jax.device_get(state), jax.device_get(metrics)))
    chex.assert_trees_all_equal(*found)


def test_metrics_of_several_windows():
    rows = [{"loss": 1.0, "td_error": 0.5, "decisions": 3.0, "rolls": 0.0}, dict.fromkeys(window_shards.METRICS, 2.0)]
    wanted = {"loss": 1.5, "td_error": 1.25, "decisions": 5.0, "rolls": 2.0}
    assert {name: float(value) for name, value in window_shards.joined_metrics(rows).items()} == wanted
