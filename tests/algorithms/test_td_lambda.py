"""TD(λ): both views against each other and against numbers worked out by hand."""

import dataclasses
import functools

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from algorithms import td_lambda
from algorithms.learning import afterstates
from algorithms.learning.returns import Trail, Window, lambda_returns
from algorithms.learning.seats import seating
from algorithms.learning.traces import backward_gradient
from algorithms.self_play import shards
from boardrl import registry
from boardrl.errors import UserError
from boardrl.play.policy import Policy, Strategy, Uniform, utilities
from boardrl.values import nets

TINY = td_lambda.Config(games=1000, lanes=6, window=12, hidden=(5,), epsilon=0.3, decay=0.6, play="jax")


@functools.partial(jax.jit, static_argnames=("config", "game"))
def play(config, game, opponents, state, key):
    seats = seating(config.lanes, game.spec.num_players, len(opponents))
    params = td_lambda.scaled_params(game, state)
    net = td_lambda.value_net(config, game)
    choose = functools.partial(afterstates.choose, net, params, utility=config.utility, epsilon=config.epsilon)
    return afterstates.play_window(
        *(net, params, choose, opponents, state.lanes, state.pending, seats, key),
        num_turns=config.window,
        opening=config.opening,
    )


@functools.partial(jax.jit, static_argnames=("config", "net"))
def both_gradients(config, net, params, window):
    """The summed gradients of the forward and of the backward view over one window."""
    targets = jax.vmap(functools.partial(lambda_returns, decay=config.decay), 1, 1)(window.trail)
    forward, _ = jax.grad(td_lambda.loss, argnums=2, has_aux=True)(config, net, params, window, targets)
    lead = (window.viewer.shape[1], net.game.spec.num_players)
    traces = jax.tree.map(lambda leaf: jnp.zeros((*lead, *leaf.shape)), params)
    backward, _ = backward_gradient(net, params, window, targets.known, traces, loss=config.loss, decay=config.decay)
    return forward, backward


@pytest.mark.parametrize("loss", ["cross_entropy", "squared"])
@pytest.mark.parametrize(
    ("name", "separate"), [("tic_tac_toe", False), ("tic_tac_toe", True), ("pig:players=3,target=8", False)]
)
def test_both_views_give_the_same_update(name, separate, loss):
    game, config = registry.make(name), dataclasses.replace(TINY, loss=loss, separate=separate)
    state = td_lambda.init(config, game, jax.random.key(1))
    net = td_lambda.value_net(config, game)
    window = play(config, game, (), state, jax.random.key(2)).window
    assert window.trail.ended.any()
    assert window.trail.explored.any()
    forward, backward = both_gradients(config, net, state.params, window)
    chex.assert_trees_all_close(forward, backward, atol=1e-5)
    assert max(float(jnp.abs(leaf).max()) for leaf in jax.tree.leaves(forward)) > 0.01


@pytest.mark.parametrize(("loss", "slope"), [("cross_entropy", 1.0), ("squared", 0.5)])
def test_both_views_on_numbers_by_hand(loss, slope):
    """Two afterstates, then a win for seat 0; a linear net of zeros says ½ to both.

    With λ = ½ the shares to learn are (¾, ¼) and (1, 0), so that p − s is (−¼, ¼) and (−½, ½). Cross-entropy
    pulls the logits by that; the squared error passes it through the softmax: Σ_j (p_j − s_j) ∂p_j/∂z_i = half of it.
    """
    config = dataclasses.replace(TINY, loss=loss, decay=0.5, hidden=())
    net = td_lambda.value_net(config, registry.make("tic_tac_toe"))
    params = {"params": {"layers_0": {"kernel": jnp.zeros((2, 2)), "bias": jnp.zeros(2)}}}
    x = np.array([[1, 0], [0, 2], [5, 5]], np.float32)[:, None]  # [T, B=1, I]
    no, nothing = np.zeros((3, 1), bool), np.zeros((3, 1, 2), np.float32)
    trail = Trail(
        decided=np.ones((3, 1), bool),
        value=nothing,
        explored=no,
        best=nothing,
        ended=np.array([[False], [False], [True]]),
        returns=np.array([[0, 0], [0, 0], [1, -1]], np.float32)[:, None],
    )
    window = Window(x, np.zeros((3, 1), np.int32), trail)
    # Slot 0 counts as pending, whose trace the backward view carries in; so an idle slot goes before. Idle slots
    # between the decisions change nothing: λ counts decisions.
    idle = jax.tree.map(lambda leaf: np.zeros_like(leaf[:1]), window)
    slots = [jax.tree.map(lambda leaf, slot=slot: leaf[slot : slot + 1], window) for slot in range(3)]
    window = jax.tree.map(lambda *leaves: np.concatenate(leaves), idle, slots[0], idle, slots[1], idle, idle, slots[2])
    kernel = slope * np.array([[-0.25, 0.25], [-1.0, 1.0]])
    bias = slope * np.array([-0.75, 0.75])
    for gradient in both_gradients(config, net, params, window):
        np.testing.assert_allclose(gradient["params"]["layers_0"]["kernel"], kernel, atol=1e-6)
        np.testing.assert_allclose(gradient["params"]["layers_0"]["bias"], bias, atol=1e-6)


def test_one_update_is_one_step_of_adam():
    """Adam's first step is the learning rate against the sign of the gradient."""
    game = registry.make("tic_tac_toe")
    state = td_lambda.init(TINY, game, jax.random.key(1))
    before = jax.tree.map(np.array, state.params)
    after, metrics = td_lambda.update(TINY, game, (), state)
    steps = jax.tree.map(lambda a, b: np.abs(a - b).max(), before, after.params)
    assert max(jax.tree.leaves(steps)) == pytest.approx(TINY.learning_rate, rel=1e-3)
    assert int(after.updates) == 1
    assert int(after.games) > 0
    assert float(metrics["loss"]) == pytest.approx(np.log(2), abs=0.2)


def test_pending_afterstates_learn_in_the_next_window():
    game = registry.make("tic_tac_toe")
    config = dataclasses.replace(TINY, window=1)
    state = td_lambda.init(config, game, jax.random.key(1))
    first, _ = td_lambda.update(config, game, (), state)
    assert first.pending.waits.all()  # one move in, nobody knows yet what it was worth
    window = play(config, game, (), first, jax.random.key(2)).window
    targets = jax.vmap(functools.partial(lambda_returns, decay=config.decay), 1, 1)(window.trail)
    assert targets.known[0].all()
    assert not targets.known[1].any()


def test_updates_do_not_retrace_and_repeat_exactly():
    game = registry.make("pig:players=3,target=8")
    runs = []
    for _ in range(2):
        state = td_lambda.init(TINY, game, jax.random.key(5))
        for _ in range(3):
            state, _ = td_lambda.update(TINY, game, (), state)
        runs.append(state)
    chex.assert_trees_all_equal(*runs)
    size = shards._update_unsharded._cache_size()
    td_lambda.update(TINY, registry.make("pig:players=3,target=8"), (), runs[0])
    assert shards._update_unsharded._cache_size() == size


def test_shards_play_apart_and_learn_together():
    """Two shards of three lanes: each plays as three lanes with its key would; the step follows both gradients."""
    game = registry.make("pig:players=3,target=8")
    config = dataclasses.replace(TINY, shards=2, optimizer="sgd", learning_rate=0.01, anneal_learning_rate=False)
    state = td_lambda.init(config, game, jax.random.key(5))
    state, _ = td_lambda.update(config, game, (), state)  # so that something is pending
    keys = jax.random.split(jax.random.wrap_key_data(state.key), 4)
    params, lanes, ended, decisions, rolls = state.params, [], 0, 0, 0
    for shard, rows in enumerate((slice(3), slice(3, 6))):
        in_lanes = jax.tree.map(lambda leaf, rows=rows: leaf[rows], (state.lanes, state.pending))
        mine = state._replace(lanes=in_lanes[0], pending=in_lanes[1])
        played = play(dataclasses.replace(config, lanes=3), game, (), mine, keys[1 + shard])
        gradient, _ = both_gradients(config, td_lambda.value_net(config, game), state.params, played.window)
        params = jax.tree.map(lambda p, g: p - 0.01 * g, params, gradient)
        lanes.append(played.lanes)
        ended += int(played.window.trail.ended.sum())
        decisions += int(played.window.trail.decided[1:].sum())
        rolls += int(played.rolls)
    games = int(state.games)
    after, metrics = td_lambda.update(config, game, (), state)
    chex.assert_trees_all_close(after.params, params, atol=1e-6)
    chex.assert_trees_all_equal(after.lanes, jax.tree.map(lambda *each: jnp.concatenate(each), *lanes))
    assert int(after.games) == games + ended
    assert float(metrics["decisions"]) == decisions
    assert float(metrics["rolls"]) == rolls


def test_every_step_is_a_roll_or_a_decision():
    game, config = registry.make("pig:players=3,target=60"), dataclasses.replace(TINY, window=4)
    state = td_lambda.init(config, game, jax.random.key(1))
    played = play(config, game, (), state, jax.random.key(2))
    assert not played.window.trail.ended.any()
    assert 0 < int(played.rolls) == int(played.lanes.steps.sum() - played.window.trail.decided.sum())


def test_opponents_play_their_own_moves():
    """An opponent that holds at once keeps every total at one throw in its own turns."""
    game = registry.make("pig:players=2,target=60")
    config = dataclasses.replace(TINY, lanes=2, window=64, epsilon=0.0, opponents="hold(total=2)")
    state = td_lambda.init(config, game, jax.random.key(0))
    rolls_on = Policy(Strategy(game, "hold", (("total", 60),)))
    holds_at_once = Policy(Strategy(game, "hold", (("total", 2),)))
    scores = {}
    for name, opponent in {"rolls_on": rolls_on, "holds_at_once": holds_at_once}.items():
        lanes = play(config, game, (opponent,), state, jax.random.key(3)).lanes
        scores[name] = lanes.state.scores
    # In lane 0 the opponent has seat 0. Holding at once banks something; rolling on to 60 never does in 64 turns.
    assert scores["rolls_on"][0, 0] == 0
    assert scores["holds_at_once"][0, 0] > 0


def test_opponents_make_no_experiments_and_all_seats_look():
    """What an opponent does is never taken for the learner's exploring move; its seat is the number of the lane."""
    game = registry.make("tic_tac_toe")
    config = dataclasses.replace(TINY, lanes=32, window=5, epsilon=1.0, opponents="random")
    state = td_lambda.init(config, game, jax.random.key(0))
    window = play(config, game, (Policy(Uniform(game)),), state, jax.random.key(3)).window
    explored, viewer = np.asarray(window.trail.explored)[1:], np.asarray(window.viewer)[1:]
    opponent = np.arange(5)[:, None] % 2 == np.arange(32)[None] % 2  # no game is over before the fifth move
    assert not explored[opponent].any()
    assert explored[~opponent].mean() > 0.6
    assert 0.35 < viewer.mean() < 0.65


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"decay": 1.5}, "--decay=1.5"),
        ({"lanes": 0}, "--lanes=0"),
        ({"local_steps": 0}, "--local_steps=0 is too small: expected at least 1"),
        ({"local_steps": -2}, "--local_steps=-2 is too small"),
        ({"hidden": (0,)}, "--hidden=0"),
        ({"opponents": "random,random"}, "fewer than 2"),
        ({"thin": 5}, "--thin=5 does not divide --window=12"),
        ({"opening": -1}, "--opening=-1 is no number of steps"),
        ({"shards": 4}, "--shards=4 does not divide --lanes=6"),
        ({"thin": 2, "view": "backward"}, "--thin=2 needs --view=forward"),
        ({"encoding": "braille"}, "--encoding=braille is not one of tic_tac_toe; expected one of none"),
    ],
)
def test_bad_settings_are_refused(change, words):
    with pytest.raises(UserError, match=words):
        td_lambda.check(dataclasses.replace(TINY, **change), registry.make("tic_tac_toe"))


def test_games_without_symmetry_tell_the_net_its_seat():
    @dataclasses.dataclass(frozen=True)
    class Lopsided:
        game: object

        def __getattr__(self, name):
            if name == "rotate":
                raise AttributeError(name)
            return getattr(self.game, name)

    game = registry.make("tic_tac_toe")
    assert td_lambda.value_net(TINY, game).inputs(game.init(), jnp.int32(1)).shape == (27,)
    seen = td_lambda.value_net(TINY, Lopsided(game)).inputs(game.init(), jnp.int32(1))
    np.testing.assert_array_equal(seen[27:], [0.0, 1.0])


@pytest.mark.parametrize(("rotate", "empty"), [(True, [[True, False], [False, True]]), (False, [[True, False]] * 2)])
def test_opponents_keep_their_seats_or_move_on(rotate, empty):
    """Who only ever rolls on has banked nothing; a learner who decides at random has."""
    game = registry.make("pig:players=2,target=100")
    config = dataclasses.replace(TINY, lanes=2, window=64, epsilon=1.0, rotate_opponents=rotate)
    rolls_on = Policy(Strategy(game, "hold", (("total", 100),)))
    state = td_lambda.init(config, game, jax.random.key(0))
    state, _ = td_lambda.update(config, game, (rolls_on,), state)
    np.testing.assert_array_equal(state.lanes.state.scores == 0, empty)


def test_plain_steps_follow_the_summed_gradient():
    game = registry.make("tic_tac_toe")
    config = dataclasses.replace(TINY, optimizer="sgd", learning_rate=0.01, anneal_learning_rate=False)
    state = td_lambda.init(config, game, jax.random.key(1))
    _, key_window, _ = jax.random.split(jax.random.wrap_key_data(state.key), 3)
    window = play(config, game, (), state, key_window).window
    gradient, _ = both_gradients(config, td_lambda.value_net(config, game), state.params, window)
    wanted = jax.tree.map(lambda p, g: np.array(p - 0.01 * g), state.params, gradient)
    after, _ = td_lambda.update(config, game, (), state)
    chex.assert_trees_all_close(after.params, wanted, atol=1e-6)


def test_momentum_adds_a_share_of_the_step_before():
    """After the same first step, the second differs by that share of the first, as both have played the same window."""
    game = registry.make("tic_tac_toe")
    plain = dataclasses.replace(TINY, optimizer="sgd", learning_rate=0.01, anneal_learning_rate=False)
    params = []
    for config in (plain, dataclasses.replace(plain, momentum=0.5)):
        state = td_lambda.init(config, game, jax.random.key(1))
        steps = [jax.tree.map(np.array, state.params)]
        for _ in range(2):
            state, _ = td_lambda.update(config, game, (), state)
            steps.append(jax.tree.map(np.array, state.params))
        params.append(steps)
    chex.assert_trees_all_equal(params[0][1], params[1][1])
    wanted = jax.tree.map(lambda p0, p1, p2: p2 + 0.5 * (p1 - p0), *params[0])
    chex.assert_trees_all_close(params[1][2], wanted, atol=1e-6)


def test_games_open_with_experiments():
    game = registry.make("tic_tac_toe")
    never = dataclasses.replace(TINY, epsilon=0.0)
    state = td_lambda.init(never, game, jax.random.key(1))
    key = jax.random.key(2)
    always = play(dataclasses.replace(never, epsilon=1.0), game, (), state, key)
    chex.assert_trees_all_equal(play(dataclasses.replace(never, opening=99), game, (), state, key), always)
    explored = play(dataclasses.replace(never, opening=3), game, (), state, key).window.trail.explored[1:]
    assert explored[:3].any(1).all()
    assert not explored[3:5].any()  # no game is over before the fifth move


def test_thinning_takes_one_turn_of_each_group():
    """The last slot, which is never known, belongs to no group."""
    config = dataclasses.replace(TINY, window=6, thin=3)
    game = registry.make("tic_tac_toe")
    state = td_lambda.init(config, game, jax.random.key(1))
    window = play(config, game, (), state, jax.random.key(2)).window
    targets = jax.vmap(functools.partial(lambda_returns, decay=config.decay), 1, 1)(window.trail)
    assert not targets.known[-1].any()
    for place in range(3):
        thinned, known = afterstates.thinned(window, targets, jnp.int32(place), thin=config.thin)
        np.testing.assert_array_equal(thinned.inputs, window.inputs[place:6:3])
        np.testing.assert_array_equal(known.known, targets.known[place:6:3])
        again, _ = afterstates.thinned(window._replace(inputs=thinned.inputs), targets, jnp.int32(place), thin=3)
        np.testing.assert_array_equal(again.inputs, thinned.inputs)


def test_settings_of_the_paper_look_the_same_from_every_seat():
    game = registry.make("ludo")
    config = dataclasses.replace(TINY, encoding="alhajry_objective", fixed_seats=True, separate=True, hidden=(20,))
    net = td_lambda.value_net(config, game)
    assert net.num_inputs == 240
    params = jax.jit(net.init)(jax.random.key(0))
    values = jax.jit(jax.vmap(lambda player: net(params, game.init(), player)))(jnp.arange(4))
    np.testing.assert_array_equal(values, jnp.broadcast_to(values[0], (4, 4)))
    shares = nets.from_returns(game.spec, values[0])
    assert ((shares > 0) & (shares < 1)).all()
    assert abs(float(shares.sum()) - 1) > 0.1  # four fractions, not parts of one cake


def test_the_margin_is_ones_own_value_less_all_others():
    values = jnp.array([[0.5, 0.4, 0.3], [0.4, 0.1, 0.1]])
    np.testing.assert_allclose(utilities("own", values, jnp.int32(0)), [0.5, 0.4])
    np.testing.assert_allclose(utilities("margin", values, jnp.int32(0)), [-0.2, 0.2], atol=1e-7)
