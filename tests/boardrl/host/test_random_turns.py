"""Random play by whole turns, on the compiled rules of any game."""

from __future__ import annotations

import numpy as np
import pytest

from boardrl import host
from boardrl.exact import perft
from boardrl.host import random_games
from games.jumper import Jumper
from games.pig import Pig
from launch.papers import jumper_baselines

GAMES = 5_000


def test_jumper_has_the_published_figures_by_paths():
    """26.2 turns to choose from; White 50.8 %, Black 41.2 %, draws 8.0 % in a sample of unknown size.

    Over 100,000 games here 26.20; 50.8 %, 41.9 %, 7.3 %, so that the sample had a few thousand games at most.
    """
    white, black, turns, choices = jumper_baselines.play("paths", GAMES, 1, distinct=False)
    assert choices / turns == pytest.approx(26.2, abs=0.12)
    assert white / GAMES == pytest.approx(0.508, abs=0.022)
    assert black / GAMES == pytest.approx(0.412, abs=0.022)
    assert 1 - (white + black) / GAMES == pytest.approx(0.080, abs=0.022)


def test_jumper_has_the_published_branching_by_boards():
    white, black, turns, choices = jumper_baselines.play("boards", GAMES, 1, distinct=True)
    assert choices / turns == pytest.approx(24.1, abs=0.12)
    assert white / GAMES == pytest.approx(0.512, abs=0.022)  # as measured here over 100,000 games
    assert black / GAMES == pytest.approx(0.419, abs=0.022)


def kernel_and_memory(game, room=4096):
    facet = host.of(game)
    return host.specialise(random_games, facet), facet, facet.rows(room), facet.rows(room)


@pytest.mark.parametrize("board", ["W - - - -\n- B - W -\n- - - - -\n- X - B -\n- - - - W", "- - - - -\n" * 5])
def test_turns_are_those_of_perft(board):
    game = Jumper(5)
    kernel, facet, rows, ends = kernel_and_memory(Jumper(5))
    state = game.from_text("5\n" + board)
    count = kernel.turn_ends(facet.row(state), rows, ends, facet.work())
    assert count == perft.perft(game, 1, state=state)
    distinct = kernel.drop_repeated(ends, count, np.zeros(2 * len(ends), np.int64))
    assert distinct == perft.perft(game, 1, state=state, distinct=True)
    assert len(np.unique(ends[:distinct], axis=0)) == distinct


def test_dice_are_thrown_and_wins_are_counted():
    kernel, _, rows, ends = kernel_and_memory(Pig(target=5), 16)
    wins = np.zeros(2, np.int64)
    turns, choices = kernel.by_turns(2_000, 3, False, rows, ends, wins)
    assert wins.sum() == 2_000  # no draws in pig
    assert wins[0] > wins[1]  # the first player is ahead
    assert turns < choices <= 2 * turns  # to roll or to hold, but for a score of 0


def test_full_memory_is_reported():
    kernel, _, rows, ends = kernel_and_memory(Jumper(5), 8)
    assert kernel.by_turns(1, 0, False, rows, ends, np.zeros(2, np.int64)) == (-1, -1)
