"""DQN: targets by hand, gradients by finite differences, and what it remembers of real games."""

import dataclasses
import functools

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from algorithms import dqn
from algorithms.learning import pretraining, q_net, rewards
from algorithms.learning.q_net import QNet
from algorithms.learning.transitions import Transition
from boardrl import presets, registry
from boardrl.errors import UserError
from boardrl.game import TERMINAL
from boardrl.runs import checkpoint

GAME = registry.make("tic_tac_toe")
TINY = dqn.Config(
    play="jax",
    games=1000,
    lanes=4,
    window=6,
    hidden=(5,),
    capacity=64,
    warm_up=20,
    batch=8,
    learning_steps=2,
    copy_every=3,
)


step = jax.jit(GAME.step)
targets = jax.jit(dqn.targets, static_argnames=("net", "double"))


def linear(bias):
    """Parameters of a linear net whose values are its bias."""
    return {"params": {"layers_0": {"kernel": jnp.zeros((27, 9)), "bias": jnp.array(bias, jnp.float32)}}}


def batch_of(moves, reward, discount):
    """One transition from the first state to the one after some moves."""
    first = after = GAME.init()
    for move in moves:
        after = step(after, jnp.int32(move))
    one = Transition(first, jnp.int32(0), jnp.float32(reward), jnp.float32(discount), after)
    return jax.tree.map(lambda leaf: leaf[None], one)


@pytest.mark.parametrize(
    ("double", "moves", "discount", "wanted"),
    [
        (False, [8, 7], 0.5, 0.25 + 0.5 * 6),  # of the old copy's values 0 to 8, the two highest are taken
        (True, [8, 7], 0.5, 0.25 + 0.5 * 0),  # the net likes action 0 best, which the copy values 0
        (True, [8, 0], 0.5, 0.25 + 0.5 * 1),  # and after that action 1
        (False, [8, 7], 0.0, 0.25),  # the end
        (False, [0, 3, 1, 4, 2], 0.0, 0.25),  # a state without legal actions
    ],
)
def test_targets_by_hand(double, moves, discount, wanted):
    net = QNet(GAME, "observe", hidden=())
    params, target = linear(-np.arange(9)), linear(np.arange(9))
    found = targets(net, params, target, batch_of(moves, 0.25, discount), double=double)
    assert found.tolist() == [wanted]


def test_one_plain_step_by_hand():
    """Q(s, 0) = 0 moves by the rate times the error towards y = ¼ + ½ · 8: the bias, and what it is shown of s."""
    config = dataclasses.replace(
        TINY, inputs="observe", hidden=(), capacity=1, warm_up=1, batch=1, learning_steps=1, copy_every=2,
        optimizer="sgd", learning_rate=0.1, learning_rate_end=0.1, double=False,
    )  # fmt: skip
    state = dqn.init(config, GAME, jax.random.key(0))
    remembered = batch_of([7, 6], 0.25, 0.5)
    state = state._replace(
        params=linear(np.zeros(9)),
        target=linear(np.arange(9)),
        replay=state.replay._replace(transitions=remembered, added=jnp.int32(1)),
    )
    net = dqn.value_net(config, GAME)
    after, errors = dqn._learn(config, net, state, jax.random.key(1))
    assert errors.tolist() == [4.25**2]
    layer = after.params["params"]["layers_0"]
    np.testing.assert_allclose(layer["bias"], [0.425, *[0] * 8], rtol=1e-6)
    shown = np.asarray(net.encode(GAME.init()))
    np.testing.assert_allclose(layer["kernel"][:, 0], 0.425 * shown, rtol=1e-6)
    assert not layer["kernel"][:, 1:].any()
    chex.assert_trees_all_equal(after.target, state.target)  # copied with every second step
    after, _ = dqn._learn(config, net, after, jax.random.key(2))
    chex.assert_trees_all_equal(after.target, after.params)


@pytest.mark.parametrize("inputs", ["observe", "afterstate"])
def test_gradients_are_those_of_finite_differences(inputs):
    net = QNet(GAME, inputs, hidden=(4,), activation="tanh")
    init = jax.jit(net.init)
    params, target = (init(jax.random.key(seed)) for seed in (0, 1))
    parts = [batch_of([8, 7], 0.5, 0.9), batch_of([4, 2], -0.5, 0.9), batch_of([1, 2], 1.0, 0.0)]
    batch = jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *parts)
    batch = batch._replace(choice=jnp.array([0, 3, 8], jnp.int32))
    flat, unflatten = jax.flatten_util.ravel_pytree(params)
    # The target is held fixed, as its gradient is not followed.
    wanted = targets(net, params, target, batch, double=True)

    @jax.jit
    def fixed(flat):
        return 0.5 * jnp.mean((wanted - q_net.chosen_values(net, unflatten(flat), batch)) ** 2)

    gradient, _ = jax.flatten_util.ravel_pytree(
        jax.jit(jax.grad(lambda p: dqn.loss(net, p, target, batch, double=True)))(params)
    )
    width = 1e-2
    picked = np.random.default_rng(0).choice(len(flat), 12, replace=False)
    for index in picked:
        nudge = width * (np.arange(len(flat)) == index).astype(np.float32)
        slope = (fixed(flat + nudge) - fixed(flat - nudge)) / (2 * width)
        assert float(gradient[index]) == pytest.approx(float(slope), abs=2e-4)
    assert float(jnp.abs(gradient).max()) > 0.01


def test_experiments_try_every_action():
    """Whether to explore and what to try are independent: half of the first moves are spread over all nine cells."""
    config = dataclasses.replace(TINY, lanes=256, window=1, capacity=1024, epsilon=0.5, epsilon_end=0.5)
    state = dqn.init(config, GAME, jax.random.key(0))
    state, _ = dqn.update(config, GAME, (), state)
    first = np.asarray(state.lanes.state.board).argmax(1)
    counts = np.sort(np.bincount(first, minlength=9))
    assert 110 < counts[-1] < 175  # the best known, and a ninth of the experiments
    assert (counts[:-1] > 3).all()


def test_nothing_is_learned_before_the_warm_up_is_over():
    config = dataclasses.replace(TINY, warm_up=60)
    state = dqn.init(config, GAME, jax.random.key(0))
    params = jax.tree.map(np.array, state.params)
    sizes = []
    while not sizes or sizes[-1] < 60:
        chex.assert_trees_all_equal(state.params, params)
        assert int(state.learned) == 0
        state, metrics = dqn.update(config, GAME, (), state)
        sizes.append(int(metrics["remembered"]))
    assert int(state.learned) == 2
    assert len(sizes) > 2


def test_rewards_far_below_1_are_learned_in_units_of_their_own():
    """A step towards y = 0.1 in units of 0.1 is one towards 1."""
    assert [float(rewards.reward_unit(jnp.float32(most))) for most in (0.0, 0.125, 1.0, 50.0)] == [1.0, 0.125, 1.0, 1.0]


def test_what_is_remembered_are_the_players_own_decisions():
    """In self-play on tic_tac_toe a decision and the next of the same player are two moves apart."""
    config = dataclasses.replace(TINY, steps=1, epsilon=1.0, epsilon_end=1.0)
    state = dqn.init(config, GAME, jax.random.key(0))
    for _ in range(4):
        state, _ = dqn.update(config, GAME, (), state)
    rows = jax.tree.map(np.asarray, state.replay.transitions)
    actors, legal = (jax.jit(jax.vmap(function)) for function in (GAME.actor, GAME.legal))
    actor, after = np.asarray(actors(rows.memo)), np.asarray(actors(rows.after))
    goes_on = rows.discount > 0
    assert goes_on.any()
    assert (~goes_on).any()
    assert (actor[goes_on] == after[goes_on]).all()
    count = (np.asarray(legal(rows.memo)).sum(1), np.asarray(legal(rows.after)).sum(1))
    assert (count[0][goes_on] == count[1][goes_on] + 2).all()
    # Of a finished game the last mover has won, or it was a draw; the one before has lost, or it was a draw.
    ends = jax.jit(jax.vmap(lambda s, a: GAME.returns(GAME.step(s, a))))(rows.memo, rows.choice)
    won = np.asarray(ends).max(1) > 0
    assert (rows.reward[~goes_on & won] == 1).all()
    assert set(np.unique(rows.reward[~goes_on & ~won])) <= {-1.0, 0.0}
    assert (rows.reward[~goes_on] == -1).any()
    assert not rows.reward[goes_on].any()


def test_wins_and_losses_of_ludo_go_to_who_won_and_lost():
    """With extra rolls and passed turns in between; who makes the last move has won, and all who wait have lost."""
    game = registry.make("ludo:players=3,pieces=1,ring=12,column=1")
    config = dataclasses.replace(
        TINY, rewards="win=1,lose=-1", steps=1, lanes=16, window=40, capacity=4096, epsilon=1.0, epsilon_end=1.0,
        warm_up=4096,
    )  # fmt: skip
    state = dqn.init(config, game, jax.random.key(0))
    for _ in range(4):
        state, _ = dqn.update(config, game, (), state)
    rows = jax.tree.map(lambda leaf: np.asarray(leaf)[: int(state.replay.added)], state.replay.transitions)
    goes_on = rows.discount > 0
    actors = jax.jit(jax.vmap(game.actor))
    actor, later = (np.asarray(actors(states)) for states in (rows.memo, rows.after))
    assert (actor[goes_on] == later[goes_on]).all()
    assert not rows.reward[goes_on].any()
    after = jax.jit(jax.vmap(game.step))(rows.memo, rows.choice)
    ends = np.asarray(actors(after)) == TERMINAL
    assert (rows.reward[ends] == 1).all()
    assert (rows.reward[~goes_on & ~ends] == -1).all()
    # Every game has one winner; of the others, those who never had a decision have nothing to learn from.
    assert 20 < ends.sum() == int(state.games) < (~goes_on & ~ends).sum() <= 2 * ends.sum()


def test_updates_do_not_retrace_and_repeat_exactly_from_a_checkpoint_too(tmp_path):
    runs = []
    for _ in range(2):
        state = dqn.init(TINY, GAME, jax.random.key(5))
        for _ in range(5):
            state, metrics = dqn.update(TINY, GAME, (), state)
            if int(state.updates) == 2:  # as --resume does
                at = checkpoint.save(tmp_path / str(len(runs)), state, notes={})
                template = jax.eval_shape(lambda: dqn.init(TINY, GAME, jax.random.key(0)))
                state = checkpoint.restore(at, checkpoint.verify(at), template) if runs else state
        runs.append(state)
    chex.assert_trees_all_equal(*runs)
    assert int(state.learned) == 2 * 4  # the first window does not remember enough
    assert float(metrics["loss"]) > 0
    size = dqn._update_in_jax._cache_size()
    dqn.update(TINY, registry.make("tic_tac_toe"), (), runs[0])
    assert dqn._update_in_jax._cache_size() == size


@pytest.fixture(scope="module")
def recorded():
    """Three games of `fifo` in one seat and a random player in the other, with γ = ½."""
    game = registry.make("ludo:rules=ludopy131,players=2,pieces=1,ring=24,column=2")
    config = dataclasses.replace(
        TINY, pretrain_from="fifo", opponents="random", rewards="win=1,lose=-1", discount=0.5, hidden=(8,)
    )
    player, opponent = pretraining._players(config, game)

    @jax.jit
    def record(key):
        return pretraining.record(
            game, player, [opponent], rewards.parse(config.rewards, game), key, num_games=3, discount=config.discount
        )

    return config, game, record(jax.random.key(0))


def test_recorded_games_are_whole_and_have_their_outcomes(recorded):
    """A decision's outcome halves with each decision before the end."""
    _, game, games = recorded
    valid = np.asarray(games.valid)
    number = int(valid.sum())
    assert valid[:number].all()
    assert number > 10
    outcome = np.abs(np.asarray(games.outcome[:number]))
    logs = np.log2(outcome)
    np.testing.assert_allclose(logs, np.round(logs), atol=1e-5)
    assert (outcome == 1).sum() == 3  # the last decision of each game
    actors = np.asarray(jax.jit(jax.vmap(game.actor))(games.state))
    assert (actors[:number] >= 0).all()


def test_pretraining_moves_values_to_outcomes(recorded):
    config, game, games = recorded
    net = dqn.value_net(config, game)
    before = jax.jit(net.init)(jax.random.key(1))
    fit = functools.partial(pretraining.fit, net, epochs=60, batch=16, learning_rate=config.pretrain_learning_rate)
    after = jax.jit(fit)(before, games, jax.random.key(2))
    number = int(games.valid.sum())
    games = jax.tree.map(lambda leaf: np.asarray(leaf)[:number], games)
    rows = Transition(games.state, games.action, games.outcome, games.outcome, games.state)

    @jax.jit
    def error(params):
        return jnp.mean((q_net.chosen_values(net, params, rows) - games.outcome) ** 2)

    assert error(after) < 0.5 * error(before)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"discount": 1.5}, "--discount=1.5"),
        ({"shards": 3}, "--shards=3 does not divide --lanes=4"),
        ({"batch": 100}, "--batch=100 is more than the replay buffer holds"),
        ({"batch": 64}, "--warm_up=20 must be as many"),
        ({"inputs": "tiles"}, "--inputs=tiles is not known"),
        ({"rewards": "victory=1"}, "unknown reward 'victory'"),
        ({"opponents": "random,random"}, "fewer than 2"),
        ({"pretrain_from": "nobody"}, "unknown player 'nobody'"),
        ({"steps": 0}, "--steps=0"),
    ],
)
def test_bad_settings_are_refused(change, words):
    with pytest.raises(UserError, match=words):
        dqn.check(dataclasses.replace(TINY, **change), GAME)


def test_the_preset_of_the_paper_fits_its_game():
    game = registry.make("ludo:rules=ludopy131")
    config = dqn.Config(**presets.find("szurkowski2021", "dqn", game))
    dqn.check(config, game)
    net = dqn.value_net(config, game)
    params = jax.eval_shape(net.init, jax.random.key(0))
    shapes = [leaf.shape for leaf in jax.tree.leaves(params)]
    assert sorted(shapes) == sorted([(242, 21), (21,), (21, 1), (1,)])
