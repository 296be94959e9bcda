"""Q-learning over strategies: updates by hand, and which strategies can be followed where."""

import dataclasses

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from algorithms import q_strategies
from algorithms.learning.q_net import QNet
from algorithms.learning.transitions import Transition
from boardrl import presets, registry
from boardrl.errors import UserError
from boardrl.runs import checkpoint

LUDO = registry.make("ludo")
PIG = registry.make("pig:target=6")
PAPER = q_strategies.Config(**presets.find("alhajry2012", "q_strategies", LUDO))
TINY = q_strategies.Config(games=1000, lanes=4, window=8, hidden=(5,), strategies="hold(total=1),hold(total=9)")


@pytest.mark.parametrize(
    ("position", "fit"),
    [
        # Of defensive, aggressive, fast, random, random(prefer_release=true); see test_ludo_strategies for the places.
        ("20.30.0.0 5.0.0.0 0.0.0.0 0.0.0.0 0 plays 3", [1, 0, 1, 1, 0]),  # piece 0 is pursued
        ("4.30.0.0 46.0.0.0 0.0.0.0 0.0.0.0 0 plays 3", [0, 1, 1, 1, 0]),  # piece 0 can hit
        ("20.30.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 6", [0, 0, 1, 1, 1]),  # pieces can be released
        ("20.20.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 3", [0, 0, 0, 1, 0]),  # nothing to choose from
    ],
)
def test_strategies_apply_where_they_prefer_something(position, fit):
    follower = q_strategies.follower(PAPER, LUDO)
    state = LUDO.from_text(position)
    assert follower.applicable(follower.scripts(state), state).tolist() == [bool(f) for f in fit]
    free = q_strategies.follower(dataclasses.replace(PAPER, applicable=False), LUDO)
    assert free.applicable(free.scripts(state), state).all()


def test_the_best_applicable_strategy_is_followed():
    config = dataclasses.replace(PAPER, hidden=())
    follower = q_strategies.follower(config, LUDO)
    prefers = {"params": {"layers_0": {"kernel": jnp.zeros((236, 5)), "bias": jnp.array([3.0, 4.0, 2.0, 1.0, 5.0])}}}
    for position, pieces in {
        "20.30.0.0 5.0.0.0 0.0.0.0 0.0.0.0 0 plays 6": [2, 3],  # release, as it is valued most
        "4.30.0.0 46.14.0.0 0.0.0.0 0.0.0.0 0 plays 3": [0],  # attack before defence
        "20.30.0.0 5.0.0.0 0.0.0.0 0.0.0.0 0 plays 3": [0],  # defence
        "20.30.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 3": [1],  # fast
    }.items():
        logits = follower(prefers, LUDO.from_text(position))
        assert np.flatnonzero(np.isfinite(logits)).tolist() == pieces


def test_one_plain_step_by_hand():
    """Two decisions of a linear net of zeros, one strategy each, and one that is not known yet.

    The errors are ½ + 0.9 · 2 = 2.3 and −1, so that the biases move by α/2 times each: the mean is over what is known.
    """
    net = QNet(PIG, "observe", hidden=(), num_choices=2)
    shown = net.encode(PIG.init())
    params = {"params": {"layers_0": {"kernel": jnp.zeros((shown.size, 2)), "bias": jnp.zeros(2)}}}
    inputs = jnp.stack([jnp.ones_like(shown), 2 * jnp.ones_like(shown), 9 * jnp.ones_like(shown)])[:, None]
    value = jnp.array([[0.0], [0.0], [0.0]])
    batch = Transition(
        q_strategies.Memo(inputs, value),
        jnp.array([[0], [1], [1]], jnp.int32),
        jnp.array([[0.5], [-1.0], [7.0]]),
        jnp.array([[0.9], [0.0], [0.9]]),
        q_strategies.Memo(inputs, jnp.array([[2.0], [5.0], [5.0]])),
    )
    known = jnp.array([[True], [True], [False]])
    (value, error), gradient = jax.value_and_grad(q_strategies.loss, argnums=1, has_aux=True)(net, params, batch, known)
    assert float(value) == pytest.approx(0.5 * (2.3**2 + 1) / 2)
    assert float(error) == pytest.approx(np.sqrt((2.3**2 + 1) / 2))
    layer = gradient["params"]["layers_0"]
    np.testing.assert_allclose(layer["bias"], [-2.3 / 2, 1 / 2], rtol=1e-6)
    np.testing.assert_allclose(layer["kernel"], np.broadcast_to([-2.3 / 2, 2 * 1 / 2], (shown.size, 2)), rtol=1e-6)


def test_an_update_is_the_rate_times_the_gradient():
    config = dataclasses.replace(TINY, optimizer="sgd", learning_rate=0.25, learning_rate_end=0.25)
    before = q_strategies.init(config, PIG, jax.random.key(0))
    kept = jax.tree.map(np.array, before.params)
    slow, _ = q_strategies.update(config, PIG, (), before)
    double = dataclasses.replace(config, learning_rate=0.5, learning_rate_end=0.5)
    fast, _ = q_strategies.update(double, PIG, (), q_strategies.init(double, PIG, jax.random.key(0)))
    steps = [jax.tree.map(lambda a, b: np.asarray(a) - b, state.params, kept) for state in (slow, fast)]
    chex.assert_trees_all_close(jax.tree.map(lambda step: 2 * step, steps[0]), steps[1], atol=1e-6)
    assert max(np.abs(step).max() for step in jax.tree.leaves(steps[0])) > 1e-4


def test_gradients_are_those_of_finite_differences():
    net = QNet(PIG, "observe", hidden=(4,), activation="sigmoid", num_choices=3)
    params = jax.jit(net.init)(jax.random.key(0))
    rng = np.random.default_rng(0)
    size = net.encode(PIG.init()).size

    def memo(seed):
        keys = np.random.default_rng(seed)
        return q_strategies.Memo(
            jnp.asarray(keys.normal(size=(5, 2, size)), jnp.float32), jnp.asarray(keys.normal(size=(5, 2)), jnp.float32)
        )

    batch = Transition(
        memo(1),
        jnp.asarray(rng.integers(3, size=(5, 2)), jnp.int32),
        jnp.asarray(rng.normal(size=(5, 2)), jnp.float32),
        jnp.full((5, 2), 0.9),
        memo(2),
    )
    known = jnp.asarray(rng.random((5, 2)) < 0.7)
    flat, unflatten = jax.flatten_util.ravel_pytree(params)
    loss = jax.jit(lambda flat: q_strategies.loss(net, unflatten(flat), batch, known)[0])
    gradient = jax.grad(loss)(flat)
    for index in rng.choice(len(flat), 12, replace=False):
        nudge = jnp.zeros_like(flat).at[index].set(1e-2)
        assert float(gradient[index]) == pytest.approx(float(loss(flat + nudge) - loss(flat - nudge)) / 2e-2, abs=1e-3)


def test_updates_do_not_retrace_and_repeat_exactly_from_a_checkpoint_too(tmp_path):
    runs = []
    for _ in range(2):
        state = q_strategies.init(TINY, PIG, jax.random.key(5))
        for _ in range(3):
            state, metrics = q_strategies.update(TINY, PIG, (), state)
            if int(state.updates) == 2:  # as --resume does
                at = checkpoint.save(tmp_path / str(len(runs)), state, notes={})
                template = jax.eval_shape(lambda: q_strategies.init(TINY, PIG, jax.random.key(0)))
                state = checkpoint.restore(at, checkpoint.verify(at), template) if runs else state
        runs.append(state)
    chex.assert_trees_all_equal(*runs)
    assert int(state.games) > 0
    assert float(metrics["loss"]) > 0
    size = q_strategies.update._cache_size()
    q_strategies.update(TINY, registry.make("pig:target=6"), (), runs[0])
    assert q_strategies.update._cache_size() == size


@pytest.mark.parametrize(
    ("game", "change", "words"),
    [
        ("tic_tac_toe", {}, "tic_tac_toe offers no strategies"),
        ("pig", {"strategies": "hold,brave"}, "unknown strategy 'brave' of pig; expected some of random, hold"),
        ("pig", {"strategies": "hold(total=1,brave=2)"}, "unknown option 'brave'"),
        ("pig", {"inputs": "afterstate"}, "--inputs=afterstate describes actions"),
        ("pig", {"epsilon": 2.0}, "--epsilon=2.0"),
        ("pig", {"rewards": "knock=1"}, "unknown reward 'knock'"),
    ],
)
def test_bad_settings_are_refused(game, change, words):
    with pytest.raises(UserError, match=words):
        q_strategies.check(dataclasses.replace(TINY, **change), registry.make(game))


def test_the_preset_of_the_paper_fits_its_game():
    q_strategies.check(PAPER, LUDO)
    state = jax.eval_shape(lambda: q_strategies.init(PAPER, LUDO, jax.random.key(0)))
    shapes = sorted(leaf.shape for leaf in jax.tree.leaves(state.params))
    assert shapes == sorted([(236, 20), (20,), (20, 5), (5,)])
