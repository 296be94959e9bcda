"""Rewards by name: what they count, what they are worth, and what is refused."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from algorithms.learning import rewards
from boardrl import registry
from boardrl.errors import UserError
from boardrl.game import CHANCE
from boardrl.lowering.lower import lower

TIC_TAC_TOE = registry.make("tic_tac_toe")
PIG = registry.make("pig:players=3,target=4")
LUDO = registry.make("ludo")
NAMES = ("win", "draw", "lose", "points")


@functools.partial(jax.jit, static_argnames=("game", "names"))
def step(game, names, worth, state, move):
    after = game.step(state, move)
    return after, rewards.of_step(game, names, worth, state, after)


def total(game, names, worth, moves):
    """[T, P] rewards of the steps of a game."""
    state, found = game.init(), []
    for move in moves:
        state, reward = step(game, names, jnp.asarray(worth, jnp.float32), state, jnp.int32(move))
        found.append(reward)
    return np.array(found)


@pytest.mark.parametrize(
    ("moves", "first", "second"),
    [
        ([0, 3, 1, 4, 2], [1, 0, 0, 1], [0, 0, 1, -1]),  # the top row
        ([0, 1, 2, 4, 3, 5, 7, 6, 8], [0, 1, 0, 0], [0, 1, 0, 0]),  # a draw
    ],
)
def test_ends_are_counted_once_for_each_player(moves, first, second):
    for index, name in enumerate(NAMES):
        got = total(TIC_TAC_TOE, (name,), [1.0], [*moves, 0])  # a step in a game that is over brings nothing more
        assert not got[:-2].any()
        assert got[-2].tolist() == [first[index], second[index]]
        assert not got[-1].any()


def test_three_players_have_one_winner_and_two_losers():
    # Seat 0 rolls 6 and holds; outcomes and actions come in turn.
    state = PIG.init()
    rewards_of = []
    for _ in range(6):
        kind = int(PIG.actor(state))
        move = 5 if kind == CHANCE else 1 if bool(PIG.legal(state)[1]) else 0
        state, reward = step(PIG, ("win", "lose"), jnp.array([1.0, -0.5]), state, jnp.int32(move))
        rewards_of.append(reward)
    assert sum(rewards_of).tolist() == [1.0, -0.5, -0.5]


def test_rewards_add_up():
    state = LUDO.from_text("1.0.0.0 46.0.0.0 0.0.0.0 0.0.0.0 0 plays 6")
    worth = rewards.parse("release=0.25, blockade=0.05,knock=0.15,lost=-0.25", LUDO)
    assert worth == {"release": 0.25, "blockade": 0.05, "knock": 0.15, "lost": -0.25}
    values = jnp.array(list(worth.values()))
    _, reward = step(LUDO, tuple(worth), values, state, jnp.int32(2))
    np.testing.assert_allclose(reward, [0.3, 0, 0, 0], rtol=1e-6)
    _, reward = step(LUDO, tuple(worth), values, state, jnp.int32(0))  # from 1 to 7, where seat 1 stands
    np.testing.assert_allclose(reward, [0.15, -0.25, 0, 0], rtol=1e-6)


def test_no_rewards_are_zeros():
    assert rewards.parse("", LUDO) == {}
    assert total(TIC_TAC_TOE, (), [], [0, 3]).tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("win=1,realease=2", "unknown reward 'realease'; ludo can reward win, draw, lose, points, release, defend"),
        ("win", "bad option 'win' of rewards: expected key=value"),
        ("win=much", "bad value win='much' of rewards: expected a number"),
        ("win=1,win=2", "option 'win' of rewards is given twice"),
    ],
)
def test_refused(text, message):
    with pytest.raises(UserError, match=message):
        rewards.parse(text, LUDO)


@pytest.mark.parametrize("name", ["ludo:players=2,pieces=2,ring=24,rules=sdu_java", "tic_tac_toe"])
def test_lowered_rewards_are_those_of_jax(name):
    game = registry.make(name)
    names = tuple(rewards.events(game))
    worth = jnp.asarray(np.random.default_rng(0).normal(size=len(names)), jnp.float32)
    first = game.init()
    reward = functools.partial(rewards.of_step, game, names)
    compiled, in_jax = lower(reward, worth, first, first, name="rewards"), jax.jit(reward)
    actor, chance, legal, step = (jax.jit(rule) for rule in (game.actor, game.chance, game.legal, game.step))
    rng, state, nonzero = np.random.default_rng(1), first, 0
    for _ in range(300):
        weights = chance(state) if int(actor(state)) == CHANCE else legal(state)
        weights = np.asarray(weights, np.float64)
        if not weights.any():
            break
        after = step(state, jnp.int32(rng.choice(len(weights), p=weights / weights.sum())))
        want = np.asarray(in_jax(worth, state, after))
        np.testing.assert_allclose(compiled(worth, state, after), want, rtol=1e-6, atol=1e-6)
        nonzero += bool(want.any())
        state = after
    assert nonzero
