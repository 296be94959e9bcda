"""Whose reward is whose: hand-made turns, and real games against a search for each player's next decision."""

import functools
import operator

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from algorithms.learning import experience, schedules, seats, transitions
from algorithms.learning.experience import Decision
from algorithms.learning.transitions import NOBODY, Slot
from boardrl import registry
from boardrl.play import rollout
from boardrl.play.players import make

pytestmark = pytest.mark.usefixtures("quick_compile")


def by_hand(rows, *, first=0):
    """[T, 1] slots of rows (player, dice, reward, ended); a decision's memo and choice are its number."""
    player, dice, reward, ended = zip(*rows, strict=True)
    numbers = jnp.arange(first, first + len(rows), dtype=jnp.int32)[:, None]
    return Slot(
        player=jnp.array(player, jnp.int32)[:, None],
        memo=numbers.astype(jnp.float32),
        choice=numbers,
        dice=jnp.array(dice, jnp.float32)[:, None],
        reward=jnp.array(reward, jnp.float32)[:, None],
        ended=jnp.array(ended)[:, None],
    )


# Each number is a power of two for seat 0 and ten times that for seat 1, so that a sum shows what went into it.
WINDOW = [
    (0, [0, 0], [1, 10], False),
    (1, [0, 0], [2, 20], False),
    (1, [0, 0], [4, 40], False),  # the same player again, after an extra roll
    (NOBODY, [8, 80], [0, 0], False),  # a turn that is passed over
    (0, [16, 160], [32, 320], True),
    (0, [0, 0], [0.5, 5], False),  # of the next game
]


def test_links_by_hand():
    link = transitions.links(by_hand(WINDOW), discount=0.5)
    known = link.known[:, 0]
    assert known.tolist() == [True, True, True, False, True, False]
    assert link.open[:, 0].tolist() == [False, False, False, False, False, True]
    assert link.reward[known, 0].tolist() == [1 + 2 + 4 + 8 + 16, 20, 40 + 80 + 160 + 320, 32]
    assert link.discount[known, 0].tolist() == [0.5, 0.5, 0, 0]
    assert link.next[:2, 0].tolist() == [4, 2]


def test_two_steps_by_hand():
    link = transitions.links(by_hand(WINDOW), discount=0.5, steps=2)
    known = link.known[:, 0]
    assert link.reward[known, 0].tolist() == [31 + 32 / 2, 20 + 600 / 2, 600, 32]
    assert not link.discount[known, 0].any()  # all of them see the end


def test_three_steps_end_where_the_window_does():
    rows = [(0, [0, 0], [1, 0], False), (0, [0, 0], [2, 0], False), (0, [0, 0], [4, 0], False)]
    link = transitions.links(by_hand(rows), discount=0.5, steps=3)
    assert link.known[:, 0].tolist() == [True, True, False]
    assert link.reward[:2, 0].tolist() == [1 + 2 / 2, 2]
    assert link.discount[:2, 0].tolist() == [0.25, 0.5]
    assert link.next[:2, 0].tolist() == [2, 2]


def test_outcomes_are_all_that_follows():
    link = transitions.links(by_hand(WINDOW), discount=0.5)
    assert transitions.outcomes(link)[:, 0].tolist() == [31 + 32 / 2, 20 + 600 / 2, 600, 0, 32, 0]


def test_open_decisions_go_on_in_the_next_window():
    slots = by_hand(WINDOW[:3])
    pending = transitions.still_open(slots, transitions.links(slots, discount=0.5))
    assert pending.player[:, 0].tolist() == [0, 1]
    assert pending.choice[:, 0].tolist() == [0, 2]
    assert pending.memo[:, 0].tolist() == [0, 2]
    assert pending.reward[:, 0].tolist() == [[7, 0], [0, 40]]
    joined = transitions.join(pending, by_hand(WINDOW[3:], first=3))
    link = transitions.links(joined, discount=0.5)
    made = transitions.transitions(joined, link)
    assert link.known[:, 0].tolist() == [True, True, False, True, False]
    assert made.choice[:, 0].tolist() == [0, 2, 3, 4, 5]
    assert made.reward[np.array([0, 1, 3]), 0].tolist() == [31, 600, 32]  # as in one window
    assert made.after[0, 0] == 4


def test_nobody_waits_after_the_end():
    slots = by_hand(WINDOW[:5])
    pending = transitions.still_open(slots, transitions.links(slots, discount=0.5))
    assert pending.player[:, 0].tolist() == [NOBODY, NOBODY]
    assert not pending.reward.any()


@functools.partial(jax.jit, static_argnames=("game", "names", "num_turns"))
def random_play(game, names, key, num_turns):
    def decide(state, uniform):
        action = rollout.sample_evenly(game.legal(state), uniform[1])
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


def test_opponents_sit_in_every_seat_in_turn():
    np.testing.assert_array_equal(seats.seating(4, 4, 2), [[1, 2, 0, 0], [0, 1, 2, 0], [0, 0, 1, 2], [2, 0, 0, 1]])
    np.testing.assert_array_equal(seats.seating(2, 4, 2, rotate=False), [[1, 2, 0, 0], [1, 2, 0, 0]])


def test_totals_are_those_of_whole_games():
    """What waits from the window before counts; what a game under way has brought does not yet."""
    before = transitions.Totals(jnp.array([[100.0, -1000.0]]), jnp.float32(5.0))
    totals = transitions.counted(before, by_hand(WINDOW))
    assert float(totals.largest) == 1000 - 10 - 20 - 40 - 80 - 160 - 320
    assert totals.so_far.tolist() == [[0.5, 5]]
    again = transitions.counted(transitions.no_totals(1, 2), by_hand(WINDOW[:-1]))
    assert float(again.largest) == 10 + 20 + 40 + 80 + 160 + 320
    assert again.so_far.tolist() == [[0, 0]]


def test_annealing_is_a_straight_line_that_stops():
    at = [float(schedules.annealed(0.9, 0.1, jnp.int32(games), 100)) for games in (0, 50, 100, 300)]
    assert at == pytest.approx([0.9, 0.5, 0.1, 0.1])


def test_a_fresh_start_waits_for_nothing():
    pending = transitions.no_pending(registry.make("pig"), jnp.float32(0), 3)
    chex.assert_trees_all_equal(pending.player, jnp.full((2, 3), NOBODY))
    assert not pending.ended.any()
