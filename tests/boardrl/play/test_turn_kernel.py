"""Compiled play of a lineup: the same games as in JAX with the same random numbers, whoever sits where."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from compiled_calls import from_python

from boardrl import host, registry
from boardrl.host import dice
from boardrl.play import lineup, lineup_slots, players, rollout, turn_kernel
from boardrl.play.policy import Greedy, Policy, WithinReturns

LANES, TURNS = 20, 24


def lead(params, state, player):
    """A value with a parameter: the points so far, times it."""
    return params * state.scores.astype(jnp.float32) / 100


@pytest.mark.parametrize(
    ("name", "texts"),
    [("pig:players=3,target=15", "greedy,hold(total=5),random"), ("tic_tac_toe", "random,random")],
)
def test_the_same_random_numbers_give_the_same_games(name, texts):
    game = registry.make(name)
    policies = [
        Policy(Greedy(game, WithinReturns(game, lead)), jnp.float32(0.5))
        if text == "greedy"
        else players.make(text, game).policy
        for text in texts.split(",")
    ]
    params = tuple(policy.params for policy in policies)
    compiled = lineup.lower(game, tuple(map(lineup.decider, policies)), params)
    assert compiled.params(params).ctypes.data % 64 == 0
    assert len(compiled.params(params)) % (8 * len(params)) == 0  # every player's begin on a line of memory
    facet = host.of(game)
    kernel = host.specialise(turn_kernel, facet, slots={lineup_slots.__name__: compiled.module})
    seating = (np.arange(LANES)[:, None] + np.arange(len(policies))[None]).astype(np.int32) % len(policies)
    rows = np.stack([facet.row(game.init())] * LANES)
    steps, streams = np.zeros(LANES, np.int64), np.zeros((LANES, 2), np.uint64)
    from_python(kernel.new_streams)(np.uint64(9), np.arange(LANES), streams)
    begins = streams[:, 0].copy()
    ended, cut = np.zeros((TURNS, LANES), bool), np.zeros((TURNS, LANES), bool)
    results = np.zeros((TURNS, LANES, len(policies)), np.float32)
    count = 0
    for half in range(2):  # lanes go on where they were
        some = slice(half * TURNS // 2, (half + 1) * TURNS // 2)
        count += kernel.play(
            rows, steps, streams, seating, 2, TURNS // 2, compiled.params(params), ended[some], cut[some], results[some]
        )

    @jax.jit
    def turn(lanes, uniform):
        def decide(lanes, due):
            def one(state, due, seats, share, opens):
                return rollout._decide(game, policies, state, due, seats, share, opens)

            after, code = jax.vmap(one)(lanes.state, due, jnp.asarray(seating), uniform[1], lanes.steps < 2)
            return rollout.Decided(after, code)

        played = rollout.turn(game, lanes, decide, uniform[:1])
        return played.lanes, played.ended

    lanes = rollout.fresh(game, LANES, courses=True)
    for number in range(TURNS):
        shares = [[dice.fraction(begin, 2 * number + k) for begin in begins] for k in range(2)]
        lanes, over = turn(lanes, np.array(shares, np.float32))
        np.testing.assert_array_equal(ended[number], over.over)
        where = np.asarray(over.over)
        np.testing.assert_array_equal(results[number][where], np.asarray(over.returns)[where])
    np.testing.assert_array_equal(rows, facet.row(jax.tree.map(np.asarray, lanes.state)))
    np.testing.assert_array_equal(steps, lanes.steps)
    assert count == ended.sum() > 3
    assert not cut.any()
