"""Compiled windows of TD learning: the same turns and records as in JAX, whoever plays which lanes."""

import dataclasses
import functools

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

from algorithms import td_lambda
from algorithms.learning import afterstates, seats
from algorithms.self_play import experience_kernel, turn_window_kernel, window_kernel, window_shards, windows
from algorithms.self_play.windows import Windows
from boardrl import registry
from boardrl.errors import UserError
from boardrl.host import dice
from boardrl.play import players, turn_kernel, whole_turn_kernel
from boardrl.play.policy import Policy

TINY = td_lambda.Config(games=1000, lanes=24, window=12, hidden=(6,), epsilon=0.2, decay=0.6, play="compiled")
ROUNDING = 1e-5


@functools.partial(jax.jit, static_argnames=("config", "game"))
def in_jax(config, game, opponents, state, uniforms):
    lineup = seats.seating(config.lanes, game.spec.num_players, len(opponents), rotate=config.rotate_opponents)
    params = td_lambda.scaled_params(game, state)
    net = td_lambda.value_net(config, game)
    choose = functools.partial(afterstates.choose, net, params, utility=config.utility, epsilon=config.epsilon)
    played = afterstates.play_drawn(
        *(net, params, choose, opponents, state.lanes, state.pending, lineup, uniforms), opening=config.opening
    )
    targets = td_lambda.learn_from(config, net, params, played.window, (), jnp.int32(0)).targets
    return played, afterstates.still_open(played.window, targets)


def shares(seed, num_lanes, num_turns):
    """[T, 3 + ROLLS, B] the random numbers of compiled play."""
    count = window_kernel.SHARES
    streams = [dice.stream(np.uint64(seed), np.uint64(lane)) for lane in range(num_lanes)]
    drawn = [[dice.fraction(np.uint64(stream), index) for index in range(count * num_turns)] for stream in streams]
    return np.array(drawn, np.float32).reshape(num_lanes, num_turns, count).transpose(1, 2, 0)


def compiled(config, game, opponents, state, seed, *, lanes=None, threads=1, **changes):
    params = td_lambda.scaled_params(game, state)
    found = window_shards.find_windows(td_lambda.value_net(config, game), config, opponents, params)
    assert isinstance(found, Windows)
    plan = windows.plan_of(
        seed,
        num_turns=config.window,
        epsilon=config.epsilon,
        opening=config.opening,
        thin=config.thin,
        every_slot=config.thin == 1,
    )
    first, last = lanes or (0, config.lanes)
    some = jax.tree.map(lambda leaf: np.asarray(leaf)[first:last], (state.lanes, state.pending))
    part = windows.Part(np.arange(first, last), *some)
    lineup = windows.seating(config.lanes, game.spec.num_players, len(opponents), config.rotate_opponents)
    flat = found.lineup.params((params, *(opponent.params for opponent in opponents)))
    return found.play(part, lineup[part.numbers], flat, plan._replace(**changes), threads=threads)


def policies(text, game):
    return tuple(player.policy for player in players.make_lineup(text, game))


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("ludo:pieces=2,ring=16,column=2", {"utility": "margin", "hidden": (85,)}),
        ("ludo:pieces=2,ring=16,column=2", {"opponents": "mixed,random"}),
        ("pig:players=3,target=12", {}),
        ("jumper:size=5", {"opening": 3}),
        ("tic_tac_toe", {"opponents": "random"}),
        ("kalah:houses=3,seeds=2", {"opponents": "random"}),
    ],
)
def test_the_same_dice_and_net_give_the_same_play(name, changes):
    """Two windows, so that something is pending; a lane may differ only from a tie within rounding on."""
    game, config = registry.make(name), dataclasses.replace(TINY, **changes)
    opponents = policies(config.opponents, game)
    net, state = td_lambda.value_net(config, game), td_lambda.init(config, game, jax.random.key(1))
    ended = 0
    for seed in (3, 4):
        uniforms = shares(seed, config.lanes, config.window)
        (lanes, window, rolls), pending = in_jax(config, game, opponents, state, uniforms)
        window = jax.tree.map(np.asarray, window)
        ours = compiled(config, game, opponents, state, seed)
        same = np.ones(config.lanes, bool)  # until the first slot that differs
        for slot in range(1, config.window + 1):
            for mine, theirs in zip(ours.window.trail, window.trail, strict=True):
                there, due = theirs[slot], window.trail.decided[slot]
                if there.dtype == bool:
                    same &= mine[slot] == there
                elif theirs is window.trail.returns:
                    over = window.trail.ended[slot][:, None]
                    np.testing.assert_array_equal(mine[slot] * over, there * over)
                else:
                    seen = due & same & (window.trail.explored[slot] if theirs is window.trail.best else True)
                    close = np.abs(mine[slot] - there).max(1) < ROUNDING
                    same &= close | ~seen
        assert same.mean() > 0.9
        decided = window.trail.decided & same
        found = [facts(net, one, same, decided) for one in (ours[:3], (window, lanes, pending))]
        chex.assert_trees_all_close(*found, atol=1e-6)
        assert same.all() <= (ours.rolls == int(rolls))
        ended += int(window.trail.ended.sum())
        state = state._replace(lanes=lanes, pending=pending)
    assert ended > 0 or "ludo" in name or "jumper" in name


def test_the_value_of_a_decision_is_the_one_that_its_mover_saw():
    """Of the best action by JAX's record, so that one value serves both; the position is shown from any seat."""
    game = registry.make("pig:players=3,target=12")
    state = td_lambda.init(TINY, game, jax.random.key(1))
    (_, window, _), _ = in_jax(TINY, game, (), state, shares(3, TINY.lanes, TINY.window))
    trail = jax.tree.map(np.asarray, window.trail)
    plain = trail.decided & ~trail.explored
    plain[0] = False  # what was pending before has no value
    assert plain.sum() > TINY.lanes
    np.testing.assert_allclose(trail.value[plain], trail.best[plain], atol=1e-6)
    ours = compiled(TINY, game, (), state, 3).window.trail
    np.testing.assert_allclose(ours.value[plain], trail.best[plain], atol=ROUNDING)


def facts(net, played, same, decided):
    """What is compared: positions as the net sees them, as equal pieces may be told apart by a tie alone."""
    window, lanes, pending = jax.tree.map(np.asarray, played)
    dense = jax.vmap(net.dense)
    seen = jax.jit(lambda states: dense(jax.vmap(net.inputs, (0, None))(states, jnp.int32(0))))
    shown = jax.jit(jax.vmap(dense))
    return {
        "steps": lanes.steps[same],
        "seen": seen(lanes.state)[same],
        "waits": (pending.waits[same], pending.viewer[same], jax.jit(dense)(pending.inputs)[same]),
        "viewer": window.viewer[1:][:, same],
        "inputs": shown(window.inputs)[decided],
    }


def test_neither_threads_nor_parts_of_the_lanes_change_anything():
    game = registry.make("pig:players=3,target=12")
    state = td_lambda.init(TINY, game, jax.random.key(1))
    whole = compiled(TINY, game, (), state, 5)
    chex.assert_trees_all_equal(compiled(TINY, game, (), state, 5, threads=5), whole)
    parts = [compiled(TINY, game, (), state, 5, lanes=bounds) for bounds in ((0, 7), (7, 24))]
    chex.assert_trees_all_equal(
        jax.tree.map(lambda *leaves: np.concatenate(leaves), *(part.lanes for part in parts)), whole.lanes
    )
    assert sum(part.rolls for part in parts) == whole.rolls
    assert np.array_equal(np.concatenate([part.window.trail.value for part in parts], 1), whole.window.trail.value)


def test_thinned_inputs_are_those_of_the_chosen_slots():
    game = registry.make("pig:players=3,target=12")
    state = td_lambda.init(TINY, game, jax.random.key(1))
    state, _ = td_lambda.update(TINY, game, (), state)  # so that something is pending
    every = compiled(TINY, game, (), state, 6).window
    for place in range(3):
        some = compiled(TINY, game, (), state, 6, place=place, thin=3, num_recorded=4).window
        np.testing.assert_array_equal(some.inputs, every.inputs[place:12:3])
    places = {windows.plan_of(seed, num_turns=12, epsilon=0, opening=0, thin=3, every_slot=False).place
              for seed in range(20)}  # fmt: skip
    assert places == {0, 1, 2}


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("pig:players=3,target=12", {}),
        ("pig:players=3,target=12", {"thin": 3}),
        ("pig:players=3,target=12", {"shards": 2}),
        ("pig:players=3,target=12", {"view": "backward"}),
        # Sparse inputs, whose layer is compiled: 64 columns at a time, then 16, then one by one.
        ("ludo:pieces=2,ring=16,column=2", {"thin": 3, "shards": 2, "utility": "margin", "hidden": (85,)}),
    ],
)
def test_an_update_learns_from_the_compiled_window(name, changes):
    """Its step is that of the gradient over the window that compiled code has played."""
    game = registry.make(name)
    config = dataclasses.replace(TINY, optimizer="sgd", learning_rate=0.01, anneal_learning_rate=False, **changes)
    state = td_lambda.init(config, game, jax.random.key(5))
    state, _ = td_lambda.update(config, game, (), state)
    seed = windows.seed_of(state.key)
    whole = dataclasses.replace(config, shards=1)
    played = compiled(whole, game, (), state, seed)
    net, params = td_lambda.value_net(config, game), td_lambda.scaled_params(game, state)
    plan = windows.plan_of(seed, num_turns=12, epsilon=0, opening=0, thin=config.thin, every_slot=False)
    learn_from = jax.jit(td_lambda.learn_from, static_argnums=(0, 1))
    sums = learn_from(whole, net, params, played.window, state.traces, plan.place).sums
    wanted = jax.tree.map(lambda p, g: np.array(p - 0.01 * g), state.params, sums.gradient)
    games = int(state.games)
    after, metrics = td_lambda.update(config, game, (), state)
    chex.assert_trees_all_close(after.params, wanted, atol=1e-5)
    chex.assert_trees_all_equal(after.lanes, played.lanes)
    assert int(after.games) == games + int(played.window.trail.ended.sum())
    assert float(metrics["rolls"]) == played.rolls


def test_players_with_parameters_of_their_own_can_be_opponents():
    """A net as the opponent: it decides by its own parameters, which are data, not code."""
    game = registry.make("tic_tac_toe")
    config = dataclasses.replace(TINY, opponents="other", epsilon=0.0)
    state, other = (td_lambda.init(config, game, jax.random.key(seed)) for seed in (1, 2))
    policy = td_lambda.policy(config, game, other)
    mine = compiled(config, game, (policy,), state, 3)
    same = compiled(config, game, (td_lambda.policy(config, game, state),), state, 3)
    (lanes, *_), _ = in_jax(config, game, (policy,), state, shares(3, config.lanes, config.window))
    chex.assert_trees_all_equal(mine.lanes, jax.tree.map(np.asarray, lanes))
    assert (mine.window.trail.value != same.window.trail.value).any()


def test_what_cannot_be_compiled_is_played_in_jax():
    game = registry.make("tic_tac_toe")
    drawn = Policy(functools.partial(_at_random, game))
    state = td_lambda.init(TINY, game, jax.random.key(1))
    params = td_lambda.scaled_params(game, state)
    auto = dataclasses.replace(TINY, play="auto", opponents="drawn")
    reason = window_shards.find_windows(td_lambda.value_net(auto, game), auto, (drawn,), params)
    assert isinstance(reason, str)
    assert "random" in reason
    td_lambda.update(auto, game, (drawn,), state)
    with pytest.raises(UserError, match="--play=compiled does not work here"):
        window_shards.find_windows(td_lambda.value_net(TINY, game), TINY, (drawn,), params)


def _at_random(game, params, state):
    return jax.random.uniform(jax.random.key(0), (game.spec.num_actions,))


@pytest.mark.parametrize(
    "kernel", [window_kernel, turn_window_kernel, experience_kernel, turn_kernel, whole_turn_kernel]
)
def test_kernels_count_no_references(kernel):
    """Threads that share arrays would wait for each other at every count; only what allocates memory may count."""
    functions = {name: value for name, value in vars(kernel).items() if isinstance(value, Dispatcher)}
    own = {name: one for name, one in functions.items() if one.py_func.__module__ == kernel.__name__}
    counting = {name for name, one in own.items() if one.targetoptions.get("_nrt", True)}
    allocating = {name for name, one in own.items() if name.startswith("new_")}
    assert counting - allocating <= {"play", "play_window", "play_turns"}
    assert own.keys() - counting


def test_one_function_ends_the_turns_of_both_kernels():
    assert turn_window_kernel.end_turn is window_kernel.end_turn
