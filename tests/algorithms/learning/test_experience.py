"""Whose reward is whose: real games against a search for each player's next decision."""

import functools
import operator

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from algorithms.learning import experience, transitions
from algorithms.learning.experience import Decision
from algorithms.learning.transitions import NOBODY
from boardrl import registry
from boardrl.play import rollout, sampling
from boardrl.play.players import make


@functools.partial(jax.jit, static_argnames=("game", "names", "num_turns"))
def random_play(game, names, key, num_turns):
    def decide(state, uniform):
        action = sampling.sample_evenly(game.legal(state), uniform[1])
        return Decision(action, action, state)

    worth = {name: float(3**index) for index, name in enumerate(names)}
    return experience.play(game, decide, (), worth, rollout.start(game, 4), key, num_turns=num_turns)


@pytest.mark.parametrize(
    ("name", "names", "kinds"),
    [
        ("pig:players=3,target=8", ("points", "win", "lose"), ("again", "ends")),
        (
            "ludo:rules=sdu_java,players=3,pieces=2,ring=24,column=2",
            ("knock", "lost", "release", "not_hit", "points"),
            ("again", "ends", "passed"),
        ),
    ],
)
def test_rewards_of_real_games_go_to_the_player_who_decided(name, names, kinds):
    """Every reward of every step, looked up for each player until its next decision."""
    game = registry.make(name)
    _, slots = random_play(game, names, jax.random.key(3), num_turns=300)
    link = jax.tree.map(np.asarray, transitions.links(slots, discount=0.9))
    player, dice, reward, ended = (np.asarray(leaf) for leaf in (slots.player, slots.dice, slots.reward, slots.ended))
    seen = {"again": 0, "ends": 0, "passed": 0}
    for lane in range(4):
        for start in np.flatnonzero(player[:, lane] >= 0):
            me = player[start, lane]
            total, slot, discount, known = reward[start, lane, me], start, 0.0, ended[start, lane]
            while not known and (slot := slot + 1) < 300:
                total += dice[slot, lane, me]
                if player[slot, lane] == me:
                    discount, known = 0.9, True
                    seen["again"] += slot == start + 1
                    seen["passed"] += (player[start:slot, lane] == NOBODY).any()
                    assert link.next[start, lane] == slot
                else:
                    total += reward[slot, lane, me]
                    known = ended[slot, lane]
            assert bool(link.known[start, lane]) == bool(known)
            assert bool(link.open[start, lane]) == (not known)
            if known:
                assert link.reward[start, lane] == pytest.approx(total, rel=1e-5)
                assert link.discount[start, lane] == pytest.approx(discount)
                seen["ends"] += discount == 0
    assert all(seen[kind] >= 10 for kind in kinds), seen


def test_windows_joined_are_one_long_window():
    """Two windows with what waits between them teach the same rewards as one."""
    game, names = registry.make("pig:players=2,target=6"), ("points",)
    _, slots = random_play(game, names, jax.random.key(0), num_turns=40)
    whole = transitions.links(slots, discount=1.0)
    first, second = (jax.tree.map(operator.itemgetter(part), slots) for part in (slice(25), slice(25, 40)))
    early = transitions.links(first, discount=1.0)
    joined = transitions.join(transitions.still_open(first, early), second)
    late = transitions.links(joined, discount=1.0)
    total = float(jnp.where(whole.known, whole.reward, 0.0).sum())
    parts = float(jnp.where(early.known, early.reward, 0.0).sum() + jnp.where(late.known, late.reward, 0.0).sum())
    assert parts == pytest.approx(total)
    assert int(early.known.sum() + late.known.sum()) == int(whole.known.sum())
    assert float(jnp.abs(whole.reward).sum()) > 0


def test_opponents_get_nothing_to_learn_from_and_play_their_own_moves():
    game = registry.make("pig:players=2,target=30")

    def decide(state, uniform):
        roll = jnp.int32(0)
        return Decision(roll, roll, ())

    lanes, slots = experience.play(
        game,
        decide,
        (make("hold(total=2)", game).policy,),
        {"win": 1.0},
        rollout.start(game, 2),
        jax.random.key(0),
        num_turns=40,
    )
    assert set(np.unique(slots.player[:, 0])) == {NOBODY, 1}  # the opponent has seat 0 in lane 0, seat 1 in lane 1
    assert set(np.unique(slots.player[:, 1])) == {NOBODY, 0}
    assert lanes.state.scores[0, 0] > 0
    assert lanes.state.scores[0, 1] == 0  # who never holds has nothing
