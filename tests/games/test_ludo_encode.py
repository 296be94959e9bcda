"""The papers' encodings on positions made by hand."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from games.ludo import Ludo, encode

STANDARD = Ludo()
SDU = Ludo(rules="sdu_java")
LUDOPY = Ludo(rules="ludopy131")


@functools.partial(jax.jit, static_argnames=("game", "name"))
def position(game, name, state, player):
    return game.encodings[name](game, state, player)


@functools.partial(jax.jit, static_argnames=("game", "name"))
def actions(game, name, state):
    return game.action_encodings[name](game, state)


def parts(row):
    """Index and value of all that is not 0."""
    return {int(index): float(row[index]) for index in np.flatnonzero(row)}


def test_alhajry_objective_counts_ring_squares_from_seat_0():
    state = STANDARD.from_text("1.1.0.57 1.52.0.0 0.0.0.0 15.0.0.0 1 plays 6")
    seen = np.asarray(position(STANDARD, "alhajry_objective", state, jnp.int32(2)))
    assert seen.shape == (240,)
    rows = seen[:236].reshape(4, 59)
    assert parts(rows[0]) == {0: 0.25, 1: 0.5, 58: 0.25}
    assert parts(rows[1]) == {0: 0.5, 14: 0.25, 53: 0.25}  # its start is square 13; the column follows the ring
    assert parts(rows[2]) == {0: 1.0}
    assert parts(rows[3]) == {0: 0.75, 2: 0.25}  # 39 + 14 squares on is square 1
    assert seen[236:].tolist() == [0, 1, 0, 0]


def test_alhajry_subjective_counts_all_from_the_player():
    state = STANDARD.from_text("1.1.0.57 1.52.0.0 0.0.0.0 15.0.0.0 1 plays 6")
    seen = np.asarray(position(STANDARD, "alhajry_subjective", state, jnp.int32(1)))
    assert seen.shape == (236,)
    rows = seen.reshape(4, 59)
    assert parts(rows[0]) == {0: 0.5, 1: 0.25, 53: 0.25}
    assert parts(rows[2]) == {0: 0.75, 41: 0.25}
    assert parts(rows[3]) == {0: 0.25, 40: 0.5, 58: 0.25}


def test_szurkowski_is_the_example_of_the_paper():
    """The third player was the first to roll a 6 and let a piece out (section 2.2)."""
    state = LUDOPY.from_text("0.0.0.0 0.0.0.0 1.0.0.0 0.0.0.0 2 plays 6 tries=1 round=0")
    rows = np.asarray(actions(LUDOPY, "szurkowski", state))
    assert rows.shape == (4, 242)
    tiles = [[1, *[0] * 59], [1, *[0] * 59], [0.75, 0.25, *[0] * 58], [1, *[0] * 59]]
    assert rows[0, :240].tolist() == np.concatenate(tiles).tolist()
    np.testing.assert_allclose(rows[:, 240:], [[1 / 59, 7 / 59], [0, 1 / 59], [0, 1 / 59], [0, 1 / 59]], rtol=1e-6)
    assert position(LUDOPY, "szurkowski_tiles", state, jnp.int32(0)).tolist() == rows[0, :240].tolist()


# goal, hits, hit itself, star, globe, out of base, near an enemy, in the column, into the column
TRUTHS = [
    ("53.3.0.57 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 4", 0, [1, 0, 0, 0, 0, 0, 0, 1, 0]),
    ("5.0.0.0 47.46.0.0 0.0.0.0 0.0.0.0 0 plays 3", 0, [0, 1, 0, 0, 0, 0, 1, 0, 0]),
    ("5.0.0.0 47.40.0.0 0.0.0.0 0.0.0.0 0 plays 3", 0, [0, 1, 0, 0, 0, 0, 0, 0, 0]),
    ("5.0.0.0 47.47.0.0 0.0.0.0 0.0.0.0 0 plays 3", 0, [0, 0, 1, 0, 0, 0, 0, 0, 0]),
    ("3.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 3", 0, [0, 0, 0, 1, 0, 0, 0, 0, 0]),
    ("6.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 3", 0, [0, 0, 0, 0, 1, 0, 0, 0, 0]),
    ("6.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 6", 1, [0, 0, 0, 0, 1, 1, 0, 0, 0]),
    ("50.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 3", 0, [0, 0, 0, 0, 0, 0, 0, 0, 1]),
    ("50.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 3", 1, [0, 0, 0, 0, 0, 0, 0, 0, 0]),
]


@pytest.mark.parametrize(("text", "piece", "truths"), TRUTHS)
def test_nine_truths(text, piece, truths):
    state = SDU.from_text(text + " tries=1 ranks=0.0.0.0")
    found = np.asarray(actions(SDU, "derakhshan", state))
    assert found.shape == (5, 9)
    assert found[piece].tolist() == [bool(truth) for truth in truths]
    assert not found[4].any()
    other = np.asarray(actions(SDU, "saederup", state))
    assert (other[:, [0, 1, 2, 3, 4, 5, 6, 8, 7]] == found).all()


DANGERS = [
    ("6.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 2", False),
    ("6.0.0.0 42.0.0.0 0.0.0.0 0.0.0.0 0 plays 2", True),
    ("6.6.0.0 42.0.0.0 0.0.0.0 0.0.0.0 0 plays 2", False),  # a pair
    ("9.0.0.0 47.0.0.0 0.0.0.0 0.0.0.0 0 plays 2", False),  # on a globe
    ("0.0.0.0 42.0.0.0 0.0.0.0 0.0.0.0 0 plays 6", False),  # at home
]


@pytest.mark.parametrize(("text", "danger"), DANGERS)
def test_a_tenth_truth_is_the_danger_in_which_a_piece_stands(text, danger):
    state = SDU.from_text(text + " tries=1 ranks=0.0.0.0")
    found = np.asarray(actions(SDU, "saederup_danger", state))
    assert found.shape == (5, 10)
    assert (found[:, :9] == np.asarray(actions(SDU, "saederup", state))).all()
    assert found[:, 9].tolist() == [danger, False, False, False, False]


KINDS = [
    ("0.5.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 6", 0, encode.HOME, encode.OPEN),
    ("0.6.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 6", 1, encode.SAFE, encode.STAR),
    ("6.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 2", 0, encode.SAFE, encode.NORMAL),
    ("6.0.0.0 42.0.0.0 0.0.0.0 0.0.0.0 0 plays 2", 0, encode.DANGER, encode.NORMAL),
    ("9.0.0.0 47.0.0.0 0.0.0.0 0.0.0.0 0 plays 2", 0, encode.SAFE, encode.NORMAL),
    ("14.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 2", 0, encode.DANGER, encode.NORMAL),
    ("54.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 5", 0, encode.GOAL, encode.TO_GOAL),
    ("54.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 6", 0, encode.GOAL, encode.OVERSHOOT),
    ("52.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 4", 0, encode.SAFE, encode.GOAL_ZONE),
    ("6.0.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 3", 0, encode.SAFE, encode.GLOBE),
    ("6.8.0.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 2", 0, encode.SAFE, encode.PROTECT),
    ("6.0.0.0 47.0.0.0 0.0.0.0 0.0.0.0 0 plays 2", 0, encode.SAFE, encode.KILL),
]


@pytest.mark.parametrize(("text", "piece", "state", "kind"), KINDS)
def test_durocher(text, piece, state, kind):
    found = actions(LUDOPY, "durocher", LUDOPY.from_text(text + " tries=1 round=0"))
    assert found[piece].tolist() == [state, kind]


def test_encodings_follow_the_size_of_the_game():
    game = Ludo(players=2, pieces=2, ring=16, column=2)
    state = game.from_text("1.16 0.18 0 plays 6")
    seen = np.asarray(position(game, "alhajry_objective", state, jnp.int32(0)))
    assert seen.shape == (2 * 20 + 2,)
    assert parts(seen[:20]) == {1: 0.5, 17: 0.5}
    assert parts(seen[20:40]) == {0: 0.5, 19: 0.5}


def test_durocher_by_piece_numbers_the_pieces():
    state = LUDOPY.from_text("4.0.20.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 6 tries=1 round=0")
    shared, own = (actions(LUDOPY, name, state) for name in ("durocher", "durocher_by_piece"))
    assert own[:, 0].tolist() == [0, 1, 2, 3]
    assert own[:, 1:].tolist() == shared.tolist()
