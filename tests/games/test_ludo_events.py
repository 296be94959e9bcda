"""What befalls whom in one step of Ludo, on positions made by hand."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from algorithms.learning import rewards
from games.ludo import Ludo
from games.ludo.events import EVENTS

STANDARD = Ludo()
SDU = Ludo(rules="sdu_java")
LUDOPY = Ludo(rules="ludopy131")


@functools.partial(jax.jit, static_argnames="game")
def count(game, state, move):
    return rewards.counts(game, tuple(EVENTS), state, game.step(state, move))


def found(game, position, move):
    """{seat: {event: count}} without what is 0."""
    table = np.asarray(count(game, game.from_text(position), jnp.int32(move)))
    rows = [{name: float(n) for name, n in zip(EVENTS, row, strict=True) if n} for row in table]
    return {seat: row for seat, row in enumerate(rows) if row}


# Seat 0 counts 20 where seat 1 counts 7 and seat 3 counts 33; globes are at 1, 9, 14, 22, ...
CASES = {
    "a release comes to a globe and joins nobody": (
        *(STANDARD, "0.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 6", 1),
        {0: {"release": 1, "moved": 1, "not_hit": 1, "globe": 1}},
    ),
    "a release onto the own start makes a blockade": (
        *(STANDARD, "1.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 6", 2),
        {0: {"release": 1, "moved": 1, "not_hit": 1, "globe": 1, "blockade": 1}},
    ),
    "the foremost is moved": (
        *(STANDARD, "20.30.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 3", 1),
        {0: {"moved": 1, "not_hit": 1, "foremost": 1, "foremost_outside": 1}},
    ),
    "a piece behind is moved": (
        *(STANDARD, "20.30.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 3", 0),
        {0: {"moved": 1, "not_hit": 1}},
    ),
    "in front of the column, but one is in it": (
        *(STANDARD, "20.54.57.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 2", 0),
        {0: {"moved": 1, "not_hit": 1, "foremost_outside": 1, "globe": 1, "globe_on_way": 1}},
    ),
    "into the column": (
        *(STANDARD, "50.30.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 3", 0),
        {0: {"moved": 1, "not_hit": 1, "foremost": 1, "foremost_outside": 1, "safe_zone": 1, "goal_zone": 1}},
    ),
    "within the column": (
        *(STANDARD, "53.30.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 1", 0),
        {0: {"moved": 1, "not_hit": 1, "goal_zone": 1, "foremost": 1}},
    ),
    "to the goal from the ring": (
        *(STANDARD, "51.30.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 6", 0),
        {0: {"moved": 1, "not_hit": 1, "foremost": 1, "foremost_outside": 1, "goal": 1}},
    ),
    "a hit and its victim": (
        *(STANDARD, "4.0.0.0 46.0.0.0 0.0.0.0 0.0.0.0 0 plays 3", 0),
        {
            0: {"knock": 1, "moved": 1, "not_hit": 1, "foremost": 1, "foremost_outside": 1},
            1: {"lost": 1, "not_hit": -1},
        },
    ),
    "out of danger": (
        *(STANDARD, "20.30.0.0 5.0.0.0 0.0.0.0 0.0.0.0 0 plays 5", 0),  # 7 squares ahead of seat 1 then
        {0: {"moved": 1, "not_hit": 1, "defend": 1}},
    ),
    "from danger to danger": (
        *(STANDARD, "20.30.0.0 5.0.0.0 0.0.0.0 0.0.0.0 0 plays 3", 0),
        {0: {"moved": 1, "not_hit": 1, "near_enemy": 1}},
    ),
    "from danger to a globe, near an enemy still": (
        *(STANDARD, "20.30.0.0 5.0.0.0 0.0.0.0 0.0.0.0 0 plays 2", 0),
        {0: {"moved": 1, "not_hit": 1, "defend": 1, "near_enemy": 1, "globe": 1, "globe_on_way": 1}},
    ),
    "from a globe there is no danger to flee": (
        *(STANDARD, "22.30.0.0 7.0.0.0 0.0.0.0 0.0.0.0 0 plays 6", 0),
        {0: {"moved": 1, "not_hit": 1}},
    ),
    "another is in danger, not the one that moves": (
        *(STANDARD, "20.30.0.0 5.0.0.0 0.0.0.0 0.0.0.0 0 plays 5", 1),
        {0: {"moved": 1, "not_hit": 1, "foremost": 1, "foremost_outside": 1, "globe": 1, "globe_on_way": 1}},
    ),
    "a blockade with one in danger": (
        *(STANDARD, "20.17.0.0 5.0.0.0 0.0.0.0 0.0.0.0 0 plays 3", 1),
        {0: {"moved": 1, "not_hit": 1, "near_enemy": 1, "blockade": 1, "blockade_in_danger": 1}},
    ),
    "from danger into a blockade that is safe": (
        *(STANDARD, "20.25.0.0 5.0.0.0 0.0.0.0 0.0.0.0 0 plays 5", 0),
        {0: {"moved": 1, "not_hit": 1, "defend": 1, "blockade": 1}},
    ),
    "no blockade in the column or at the goal": (
        *(STANDARD, "53.54.57.57 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 1", 0),
        {0: {"moved": 1, "not_hit": 1, "goal_zone": 1}},
    ),
    "to a star and on": (
        *(SDU, "3.30.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 3 tries=1 ranks=0.0.0.0", 0),
        {0: {"moved": 1, "not_hit": 1, "star": 1, "star_jump": 1}},
    ),
    "from the last star to the goal": (
        *(SDU, "48.30.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 3 tries=1 ranks=0.0.0.0", 0),
        {0: {"moved": 1, "not_hit": 1, "foremost": 1, "foremost_outside": 1, "star_jump": 1, "goal": 1}},
    ),
    "sent home by a pair": (
        *(SDU, "4.0.0.0 46.46.0.0 0.0.0.0 0.0.0.0 0 plays 3 tries=1 ranks=0.0.0.0", 0),
        {0: {"not_hit": 1, "repelled": 1}},
    ),
    "a release that hits two": (
        *(SDU, "0.0.0.0 40.40.0.0 0.0.0.0 0.0.0.0 0 plays 6 tries=1 ranks=0.0.0.0", 0),
        {0: {"release": 1, "moved": 1, "not_hit": 1, "knock": 2, "globe": 1}, 1: {"lost": 2, "not_hit": -1}},
    ),
    "a pass": (
        *(SDU, "4.0.0.0 46.46.0.0 0.0.0.0 0.0.0.0 0 plays 3 tries=1 ranks=0.0.0.0", 4),
        {0: {"not_hit": 1}},
    ),
    "a bounce back to the same place": (
        *(SDU, "54.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 6 tries=1 ranks=0.0.0.0", 0),
        {0: {"not_hit": 1}},
    ),
    "too many to the goal": (
        *(SDU, "55.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 3 tries=1 ranks=0.0.0.0", 0),
        {0: {"moved": 1, "not_hit": 1, "foremost": 1, "goal_zone": 1, "overshoot": 1}},
    ),
    "seat 2 moves": (
        *(LUDOPY, "0.0.0.0 0.0.0.0 2.0.0.0 0.0.0.0 2 plays 3 tries=1 round=0", 0),
        {2: {"moved": 1, "not_hit": 1, "foremost": 1, "foremost_outside": 1, "star": 1, "star_jump": 1}},
    ),
    "the dice bring nothing": (STANDARD, "20.30.0.0 5.0.0.0 0.0.0.0 0.0.0.0 0 rolls", 2, {}),
    "dice that pass the turn on bring nothing": (STANDARD, "0.0.0.0 5.0.0.0 0.0.0.0 0.0.0.0 0 rolls", 2, {}),
}


@pytest.mark.parametrize(("game", "position", "move", "events"), CASES.values(), ids=CASES)
def test_events(game, position, move, events):
    assert found(game, position, move) == events


def test_every_event_is_seen_in_some_case():
    assert {name for *_, events in CASES.values() for row in events.values() for name in row} == set(EVENTS)
