"""Tests that stop: likelihood ratios by hand, error rates and coverage by simulation, matches that end early."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from boardrl.errors import UserError
from boardrl.matches import arena, sequential
from boardrl.matches.records import Record
from boardrl.matches.sequential import Sprt, Until
from boardrl.play.bots import Bot
from boardrl.play.players import Player, make_lineup
from games.pig import Pig

GAME = Pig(target=15)


def test_the_likelihood_ratio_by_hand():
    ratio = Sprt(0.0, 2.0).log_likelihood_ratio(np.array([3.0, 1.0, 3.0, 1.0]))
    # Mean 2, variance 1: ln((1 + 4) / (1 + 0)) · 4/2.
    assert ratio[3] == pytest.approx(2 * math.log(5))
    assert ratio[0] == 0.0


SPREAD = 50.0  # of one game in points, as of a win rate near a half


@pytest.mark.parametrize(("edge", "wrong"), [(0.0, "an edge of 10 points is accepted"), (10.0, "an edge of 0 points")])
@pytest.mark.parametrize("kind", ["wins", "groups"])
def test_error_rates_of_the_sequential_test(edge, wrong, kind):
    """Wrong in no more than 5 % of matches whose edge is one of the two, each side (with 3.3 standard errors room)."""
    rng = np.random.default_rng(7)
    errors, repeats, sizes = 0, 600, []
    for _ in range(repeats):
        if kind == "wins":
            values = 100.0 * (rng.random(6000) < 0.5 + edge / 100) - 50.0
        else:
            values = rng.normal(edge, SPREAD / 2, 6000)
        found = Sprt(0.0, 10.0).stop(values)
        assert found is not None
        errors += found.verdict.startswith(wrong)
        sizes.append(found.observations)
    assert errors / repeats <= 0.05 + 3.3 * math.sqrt(0.05 * 0.95 / repeats)
    assert np.mean(sizes) < 400  # a fixed match with these error rates takes 271 wins of one player to tell, at least


def test_the_interval_that_stops_keeps_its_coverage():
    rng = np.random.default_rng(3)
    covered = 0
    for _ in range(1000):
        values = rng.normal(1.0, 10.0, 3000)
        found = Until(1.0).stop(values)
        assert found is not None
        mean = values[: found.observations].mean()
        covered += abs(mean - 1.0) <= 1.0
    assert 0.93 <= covered / 1000 <= 0.97


class Never:
    """Holds after each roll."""

    def choose(self, game: Any, state: Any, rng: np.random.Generator) -> int:
        return int(state.total > 0)


@pytest.mark.parametrize("more", [{}, {"duplicate": True, "control": "exact"}])
@pytest.mark.parametrize("on_host", [False, True])
def test_a_match_stops_when_it_knows(on_host, more):
    lineup = make_lineup("perfect,hold(total=1)", GAME)
    if on_host:
        lineup[1] = Player("never", host=Bot(Never))
    options: dict[str, Any] = {"num_games": 2000, "seed": 1, "test": Sprt(0.0, 20.0), **more}
    match = arena.match(GAME, lineup, **options)
    assert 60 <= match.num_games < 1000
    assert match.num_games % 2 == 0
    assert match.verdict.startswith("an edge of 20 points is accepted and one of 0 rejected")
    assert match == arena.match(GAME, lineup, **options)  # whatever else was under way when it stopped
    assert match.players[0].games == match.num_games


def test_a_narrow_interval_stops_a_match_and_luck_taken_out_stops_it_sooner():
    lineup = make_lineup("perfect,hold(total=8)", GAME)
    sizes = [
        arena.match(GAME, lineup, num_games=4000, seed=1, test=Until(4.0), control=control).num_games
        for control in (None, "exact")
    ]
    assert sizes[1] < sizes[0] / 2 < 1000
    match = arena.match(GAME, lineup, num_games=60, seed=1, test=Until(0.001))
    assert match.num_games == 60
    assert match.verdict == ""


def test_the_record_is_decided_by_games_in_order():
    """Games that end out of order change nothing: the rule sees whole rounds from the first on."""
    seen = []
    record = Record()
    record.begin(np.array([[0, 1], [1, 0]]), 6, rule=lambda played: seen.append(len(played.cut)))  # type: ignore[func-returns-value]
    from boardrl.matches.records import Result

    for index in (1, 2, 3, 0, 5):
        record.finish(index, Result([1.0, -1.0], False, index, True, False))
        record.decided()
    assert seen == [4]


@pytest.mark.parametrize(
    ("until", "sprt", "says"),
    [
        (0.0, "2,0", "--sprt=2,0 is no pair of edges; expected two points, the smaller first, like 0,2"),
        (0.0, "1", "--sprt=1 is no pair"),
        (-1.0, "", "--until=-1 is no half width"),
        (1.0, "0,2", "both say when to stop"),
        (0.0, "0,x", "--sprt=0,x is no pair"),
        (0.0, "0,nan", "--sprt=0,nan is no pair"),
    ],
)
def test_mistakes_are_one_sentence(until, sprt, says):
    with pytest.raises(UserError, match=says):
        sequential.parse(until, sprt)
    assert sequential.parse(0.5, "") == Until(0.5)
    assert sequential.parse(0.0, "0,2") == Sprt(0.0, 2.0)
