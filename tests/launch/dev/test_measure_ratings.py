"""Coverage of the rating intervals, on few round robins; the command measures it on many."""

from __future__ import annotations

import json

import numpy as np
import pytest

from launch import cli
from launch.dev import measure_ratings
from launch.dev.measure_ratings import Case


def run(*flags: str) -> int:
    with pytest.raises(SystemExit) as ended:
        cli.run(measure_ratings.main, measure_ratings.Config, argv=["measure_ratings", *flags])
    return ended.value.code


def test_intervals_contain_the_true_rating_about_as_often_as_they_should():
    """Half a win each way for every pair, as the prior once was, gives 62 % here."""
    covered = measure_ratings.measure(Case(8, 10, 400.0, 0.5), repeats=25, seed=1)
    assert covered.shape == (25, 8)
    assert 0.90 <= covered.mean() <= 0.99


@pytest.mark.parametrize("winner_only", [False, True])
def test_so_do_those_of_games_of_four(winner_only):
    """From the spread of the games they would be 25 points short where only the winner is known."""
    covered = measure_ratings.measure(Case(8, 16, 300.0, seats=4, winner_only=winner_only), repeats=25, seed=1)
    assert covered.shape == (25, 8)
    assert 0.90 <= covered.mean() <= 0.99


def test_drawn_orders_have_the_expected_winners():
    case = Case(3, 60_000, 0.0, seats=3, winner_only=True)
    finishes = measure_ratings.draw_orders(case, 400 * np.log10([4.0, 2.0, 1.0]), np.random.default_rng(0))
    choices = finishes.choices()
    assert choices.entrants.tolist() == [[0, 1, 2]]
    np.testing.assert_allclose(choices.wins[0] / choices.wins.sum(), [4 / 7, 2 / 7, 1 / 7], atol=0.01)


def test_drawn_round_robins_have_the_expected_scores():
    case = Case(3, 100_000, 0.0, 0.5)
    wins, draws = measure_ratings.draw(case, np.array([1700.0, 1500.0, 1300.0]), np.random.default_rng(0))
    assert ((wins + wins.T + draws)[~np.eye(3, dtype=bool)] == 100_000).all()
    assert (draws == draws.T).all()
    assert (wins + draws / 2)[0, 1] / 100_000 == pytest.approx(1 / (1 + 10**-0.5), abs=0.01)
    assert draws[0, 2] / 100_000 == pytest.approx(1 / (1 + 10**1.0), abs=0.01)  # half of twice the weaker's score


def test_the_command_shows_and_stores_the_coverage(tmp_path, capsys):
    path = tmp_path / "out.json"
    assert run("--players=2", "--games=20", "--repeats=40", f"--json={path}") == 0
    (row,) = json.loads(path.read_text())
    assert (row["players"], row["games"], row["draws"]) == (2, 20, 0.0)
    assert 0.8 < row["coverage"] <= 1
    assert f"{row['coverage']:.1%}" in capsys.readouterr().out
    assert run("--players=1") == 2
