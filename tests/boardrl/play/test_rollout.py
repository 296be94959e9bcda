"""Batched play: what is chosen, what restarts, what is never compiled twice."""

import dataclasses
import json
import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np

from boardrl import registry
from boardrl.game import select
from boardrl.play import rollout
from boardrl.play.policy import Policy, Strategy, Uniform
from games.pig import Pig

SCRIPT = """
import json, jax, numpy as np
from boardrl import registry
from boardrl.play import rollout
from boardrl.play.policy import Policy, Uniform
game = registry.make("pig:players=3,target=12")
lanes = rollout.start(game, 8)
total, sizes = 0.0, []
for i in range(3):
    lanes, ended = rollout.play(game, (Policy(Uniform(game)),), None, lanes, jax.random.key(i), num_turns=40)
    total += float(np.where(np.asarray(ended.over)[..., None], np.asarray(ended.returns), 0).sum((0, 1))[0])
    sizes.append(rollout.play._cache_size())
where = sorted({len(leaf.sharding.device_set) for leaf in jax.tree.leaves(lanes)})
print(json.dumps([total, np.asarray(lanes.state.scores).tolist(), sizes, where]))
"""


def test_choose_follows_the_softmax_of_legal_logits():
    game = registry.make("tic_tac_toe")
    state = game.from_text("XX. OO. ... 0")
    logits = jnp.log(jnp.array([9.0, 9.0, 1.0, 9.0, 9.0, 2.0, 3.0, 4.0, 10.0]))
    uniforms = (jnp.arange(2000, dtype=jnp.float32) + 0.5) / 2000
    actions = jax.vmap(lambda u: rollout.choose(game, logits, state, u))(uniforms)
    np.testing.assert_allclose(np.bincount(actions, minlength=9) / 2000, np.array([0, 0, 1, 0, 0, 2, 3, 4, 10]) / 20)


def test_a_policy_that_rules_out_every_legal_action_plays_any_of_them():
    game = registry.make("tic_tac_toe")
    state = game.from_text("XX. OOX XOO 0")
    assert rollout.choose(game, jnp.full(9, -jnp.inf), state, jnp.float32(0.3)) == 2


def test_dice_fall_evenly():
    game = registry.make("pig")
    rolling = game.step(game.init(), jnp.int32(0))
    uniforms = (jnp.arange(600, dtype=jnp.float32) + 0.5) / 600
    totals = jax.vmap(lambda u: rollout.settle_chance(game, rolling, u).total)(uniforms)
    assert np.bincount(totals).tolist() == [100, 0, 100, 100, 100, 100, 100]


def test_finished_games_restart_and_report_their_returns():
    game = registry.make("tic_tac_toe")
    lanes = rollout.start(game, 64)
    lanes, ended = rollout.play(game, (Policy(Uniform(game)),), None, lanes, jax.random.key(0), num_turns=9)
    over = np.asarray(ended.over)
    assert over.any(0).all()  # nine turns finish any game
    assert not over[:4].any()  # none ends before the fifth move
    assert set(np.asarray(ended.length)[over].tolist()) <= {5, 6, 7, 8, 9}
    np.testing.assert_array_equal(np.asarray(ended.returns)[over].sum(-1), 0.0)
    since = np.array([8 - np.flatnonzero(lane)[-1] for lane in over.T])
    np.testing.assert_array_equal(np.asarray(lanes.steps), since)
    np.testing.assert_array_equal((np.asarray(lanes.state.board) != 0).sum(1), since)


def test_endless_games_are_cut_at_max_steps():
    game = registry.make("pig:target=1")  # 880 steps
    never_holds = Policy(AlwaysRoll())
    lanes = rollout.start(game, 4)
    lanes, ended = rollout.play(game, (never_holds,), None, lanes, jax.random.key(0), num_turns=game.spec.max_steps)
    assert np.asarray(ended.cut).any(0).all()
    first = np.asarray(ended.cut).argmax(0)
    np.testing.assert_array_equal(np.asarray(ended.length)[first, range(4)], game.spec.max_steps)
    np.testing.assert_array_equal(np.asarray(ended.returns)[first, range(4)], 0.0)


class AlwaysRoll:
    def __call__(self, params, state):
        return jnp.array([0.0, -jnp.inf])


def test_seats_say_who_plays():
    """The one who holds at once banks points; the one who never does keeps none."""
    game = registry.make("pig:target=500")
    policies = (Policy(AlwaysRoll()), Policy(Strategy(game, "hold", (("total", 2),))))
    seats = jnp.array([[0, 1], [1, 0]] * 2, jnp.int32)
    lanes, _ = rollout.play(game, policies, seats, rollout.start(game, 4), jax.random.key(0), num_turns=60)
    np.testing.assert_array_equal(np.asarray(lanes.state.scores) > 0, np.asarray(seats) == 1)


def test_counting_steps_agrees_with_playing():
    game = registry.make("pig:target=12")
    policies = (Policy(Uniform(game)),)
    lanes, ended = rollout.play(game, policies, None, rollout.start(game, 16), jax.random.key(3), num_turns=50)
    total = int(jnp.where(ended.over, ended.length, 0).sum() + lanes.steps.sum())
    _, steps = rollout.count_steps(game, policies, rollout.start(game, 16), jax.random.key(3), num_turns=50)
    assert int(steps) == total


def test_games_along_the_last_axis_are_the_same_games():
    @dataclasses.dataclass(frozen=True)
    class LanesFirst(Pig):
        lanes_last = False

    results = []
    for game in (Pig(target=12), LanesFirst(target=12)):
        policies = (Policy(Strategy(game, "hold", (("total", 4),))), Policy(Uniform(game)))
        seats = jnp.array([[0, 1], [1, 0]] * 4, jnp.int32)
        results.append(rollout.play(game, policies, seats, rollout.start(game, 8), jax.random.key(0), num_turns=50))
    jax.tree.map(np.testing.assert_array_equal, *results)
    assert results[0][1].over.sum() > 8


def test_all_local_devices_play_the_same_games_without_a_second_compile():
    results = []
    for devices in (1, 2):
        env = dict(os.environ, XLA_FLAGS=f"--xla_force_host_platform_device_count={devices}")
        out = subprocess.run([sys.executable, "-c", SCRIPT], env=env, capture_output=True, text=True, check=True)
        results.append(json.loads(out.stdout))
    assert results[0][:2] == results[1][:2]
    assert [result[2] for result in results] == [[1, 1, 1]] * 2
    assert [result[3] for result in results] == [[1], [2]]


def rolling(game, *, steps):
    """Two lanes in which the die is in the air."""
    lanes = rollout.fresh(game, 2)
    return rollout.Lanes(lanes.state._replace(rolling=jnp.ones(2, bool)), jnp.array(steps, jnp.int32))


def hold_if_possible(game):
    """Decides to hold wherever something is at stake, else to roll, and notes what is at stake."""

    def decide(lanes, due):
        after = jax.vmap(game.step)(lanes.state, (lanes.state.total > 0).astype(jnp.int32))
        return rollout.Decided(jax.vmap(select)(due, after, lanes.state), notes=lanes.state.total)

    return decide


def test_a_turn_is_told_roll_by_roll():
    """Lane 0 throws a 6 and holds. Lane 1 throws a 1, which passes the turn to a player who can only roll."""
    game = registry.make("pig:target=20")
    uniform = jnp.array([[0.99, 0.0], [0.5, 0.4]])  # nobody waits for the second roll
    turn = rollout.turn(game, rolling(game, steps=[3, 5]), hold_if_possible(game), uniform)
    assert [rolled.tolist() for rolled in turn.rolled] == [[True, True], [False, False]]
    assert turn.decided.tolist() == [True, True]
    assert turn.notes.tolist() == [6, 0]
    before, first, second, after = turn.states
    assert before.rolling.tolist() == [True, True]
    assert (first.turn.tolist(), first.total.tolist()) == ([0, 1], [6, 0])
    assert second.total.tolist() == [6, 0]
    assert (after.scores.tolist(), after.rolling.tolist()) == ([[6, 0], [0, 0]], [False, True])
    assert turn.lanes.steps.tolist() == [5, 7]
    assert not turn.ended.over.any()


def test_nothing_is_decided_past_the_last_step():
    """The roll is the last step that the game may take, so that it is cut there, as in a match."""
    game = registry.make("pig:target=20")
    last = game.spec.max_steps - 1
    turn = rollout.turn(game, rolling(game, steps=[last, 3]), hold_if_possible(game), jnp.full((1, 2), 0.99))
    assert turn.decided.tolist() == [False, True]
    assert turn.ended.cut.tolist() == [True, False]
    assert turn.ended.length.tolist() == [game.spec.max_steps, 5]
    assert turn.lanes.steps.tolist() == [0, 5]
