"""Random play on 6×6 has the figures of the rules' source: branching, and how often each side wins."""

from __future__ import annotations

import pytest

from boardrl import host
from games.jumper import Jumper
from games.jumper.random_play import by_boards, by_paths


def test_random_play_over_paths() -> None:
    """26.2 moves a turn; White 50.8 %, Black 41.2 %, draws 8.0 % in a sample of unknown size.

    Over 100,000 games here 26.20; 50.8 %, 41.9 %, 7.3 %, so that the sample had a few thousand games at most.
    """
    games = 10_000
    white, black, turns, choices = by_paths(6, games, 1)
    assert choices / turns == pytest.approx(26.2, abs=0.1)
    assert white / games == pytest.approx(0.508, abs=0.015)
    assert black / games == pytest.approx(0.412, abs=0.015)
    assert 1 - (white + black) / games == pytest.approx(0.080, abs=0.015)


def test_random_play_over_distinct_boards() -> None:
    game = Jumper(6)
    facet = host.of(game)
    games = 10_000
    white, black, turns, choices = by_boards(facet.row(game.init()), facet.rows(4096), facet.work(), games, 1)
    assert choices / turns == pytest.approx(24.1, abs=0.1)
    assert white / games == pytest.approx(0.512, abs=0.012)  # as measured here over 100,000 games
    assert black / games == pytest.approx(0.419, abs=0.012)
