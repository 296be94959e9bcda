"""Compiled turns of a Q-learner: the same turns, rewards and records as in JAX."""

import dataclasses
import functools

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from algorithms import dqn
from algorithms.learning import experience, rewards
from algorithms.learning.transitions import NOBODY
from algorithms.self_play import experience_kernel, windows
from algorithms.self_play.experiences import Experiences
from boardrl import registry
from boardrl.host import dice
from boardrl.play import players, sampling

TINY = dqn.Config(
    games=1000, lanes=16, window=10, hidden=(6,), epsilon=0.3, epsilon_end=0.3, capacity=200, warm_up=20, batch=8,
    play="compiled",
)  # fmt: skip


@functools.partial(jax.jit, static_argnames=("config", "game"))
def in_jax(config, game, opponents, state, uniforms):
    net = dqn.value_net(config, game)

    def decide(position, uniform):
        legal = game.legal(position)
        best = jnp.argmax(jnp.where(legal, net(state.params, position), -jnp.inf)).astype(jnp.int32)
        action = jnp.where(uniform[0] < config.epsilon, sampling.sample(legal.astype(jnp.float32), uniform[1]), best)
        return experience.Decision(action, action, position)

    return experience.play_drawn(game, decide, opponents, rewards.parse(config.rewards, game), state.lanes, uniforms)


def shares(seed, num_lanes, num_turns):
    count = experience_kernel.SHARES
    streams = [np.uint64(dice.stream(np.uint64(seed), np.uint64(lane))) for lane in range(num_lanes)]
    drawn = [[dice.fraction(stream, index) for index in range(count * num_turns)] for stream in streams]
    return np.array(drawn, np.float32).reshape(num_lanes, num_turns, count).transpose(1, 2, 0)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        (
            "ludo:pieces=2,ring=16,column=2",
            {"opponents": "mixed", "rewards": "release=0.25,knock=0.15,lost=-0.25,win=1"},
        ),
        ("pig:players=3,target=12", {"inputs": "observe", "output": "relu"}),
        ("tic_tac_toe", {"opponents": "random", "rewards": "win=1,lose=-1"}),
        ("jumper:size=5", {}),
    ],
)
def test_the_same_dice_and_net_give_the_same_turns(name, changes):
    """A lane may differ only from a tie within rounding on, as between two pieces at home."""
    game, config = registry.make(name), dataclasses.replace(TINY, **changes)
    opponents = tuple(player.policy for player in players.make_lineup(config.opponents, game))
    state = dqn.init(config, game, jax.random.key(1))
    compiled = dqn.find_experiences(config, game, opponents)
    assert isinstance(compiled, Experiences)
    rewarded = 0.0
    for _ in range(2):
        seed = windows.seed_of(state.key)
        theirs = jax.tree.map(np.asarray, in_jax(config, game, opponents, state, shares(seed, 16, 10)))
        lanes, turns = dqn.play_compiled(config, game, opponents, state, 0)
        same = np.ones(16, bool)
        for slot in range(10):
            same &= (turns.player[slot] == theirs[1].player[slot]) & (turns.ended[slot] == theirs[1].ended[slot])
            mine = (turns.player[slot] == NOBODY) | (turns.choice[slot] == theirs[1].choice[slot])
            same &= mine
            for ours, other in zip(turns[3:5], theirs[1][3:5], strict=True):
                np.testing.assert_allclose(ours[slot][same], other[slot][same], atol=1e-6)
                rewarded += np.abs(ours[slot]).sum()
            decided = same & (turns.player[slot] != NOBODY)
            memos = (jax.tree.map(lambda x, s=slot, d=decided: x[s][d], one.memo) for one in (turns, theirs[1]))
            chex.assert_trees_all_equal(*memos)
        assert same.mean() > (0.5 if "ludo" in name else 0.9)
        chex.assert_trees_all_equal(*(jax.tree.map(lambda x, s=same: x[s], one) for one in (lanes, theirs[0])))
        state, _ = dqn.update(config, game, opponents, state)
    assert rewarded > 0 or "jumper" in name


def test_updates_repeat_exactly_and_learn():
    game = registry.make("pig:players=3,target=12")
    runs = []
    for _ in range(2):
        state = dqn.init(TINY, game, jax.random.key(5))
        for _ in range(4):
            state, metrics = dqn.update(TINY, game, (), state)
        runs.append(state)
    chex.assert_trees_all_equal(*runs)
    assert int(state.learned) > 0
    assert float(metrics["loss"]) > 0
    assert int(state.games) > 0
    assert dqn.on_host(TINY, game, ())
    assert not dqn.on_host(dataclasses.replace(TINY, play="jax"), game, ())


def test_shards_change_nothing():
    """Random numbers belong to lanes: whoever plays them, the update is the same to the bit."""
    game = registry.make("pig:players=3,target=12")
    after = []
    for shards in (1, 2, 6):
        config = dqn.Config(
            games=100, lanes=6, shards=shards, window=5, hidden=(6,), warm_up=4, batch=4, capacity=50, play="compiled"
        )
        state = dqn.init(config, game, jax.random.key(2))
        for _ in range(3):
            state, metrics = dqn.update(config, game, (), state)
        after.append((state, metrics))
    chex.assert_trees_all_equal(after[0], after[1])
    chex.assert_trees_all_equal(after[0], after[2])
    assert int(after[0][0].learned) > 0
