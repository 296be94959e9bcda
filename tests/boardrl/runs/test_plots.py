import struct

import numpy as np
import pytest
from matplotlib.figure import Figure

from boardrl.runs import plots


def strength(games, opponent, rate, kind="strength"):
    return {
        "kind": kind,
        "games": games,
        "opponent": opponent,
        "win_rate": rate,
        "low": rate - 0.1,
        "high": rate + 0.05,
    }


ROWS = [
    strength(0, "random", 0.5),
    strength(0, "hold", 0.2),
    strength(100, "random", 0.7),
    strength(100, "hold", 0.4, "final"),
]


def test_ratings_are_drawn_with_their_intervals_the_best_on_top():
    players = [
        {"name": "good", "rating": 1600.0, "low": 1580.0, "high": 1630.0},
        {"name": "runs/" + 40 * "x" + "-s0", "rating": 1400.0, "low": 1370.0, "high": 1420.0},
    ]
    ax = Figure().subplots()
    plots.draw_ratings(ax, players)
    lines = [line.get_xydata().tolist() for line in ax.get_lines()]
    assert lines == [[[1370, 0], [1420, 0]], [[1400, 0]], [[1580, 1], [1630, 1]], [[1600, 1]]]
    low, high = (label.get_text() for label in ax.get_yticklabels())
    assert high == "good"
    assert low.startswith("runs/x")
    assert low.endswith("x-s0")
    assert len(low) == plots.LONGEST_NAME
    assert [text.get_text() for text in ax.texts] == ["1400", "1600"]


def test_strength_is_drawn_with_its_interval_for_each_opponent():
    ax = Figure().subplots()
    plots.draw_strength(ax, ROWS, {"hold": {"smith1999": 0.35}})
    curves = [line for line in ax.get_lines() if line.get_label().startswith("vs")]
    assert [line.get_label() for line in curves] == ["vs random  70.0%", "vs hold  40.0%", "vs hold  35% in smith1999"]
    np.testing.assert_allclose(curves[0].get_xydata(), [[0, 0.5], [100, 0.7]])
    np.testing.assert_allclose(curves[1].get_xydata(), [[0, 0.2], [100, 0.4]])
    assert list(curves[2].get_ydata()) == [0.35, 0.35]
    band = {tuple(np.round(point, 6)) for point in ax.collections[0].get_paths()[0].vertices}
    assert {(0, 0.4), (0, 0.55), (100, 0.6), (100, 0.75)} <= band


def test_the_band_of_seats_reaches_from_the_worst_to_the_best():
    ax = Figure().subplots()
    rows = [strength(0, "random", 0.5) | {"seats": [0.3, 0.7]}, strength(9, "random", 0.6) | {"seats": [0.8, 0.4]}]
    plots.draw_strength(ax, rows, {}, by_seat=True)
    band = {tuple(np.round(point, 6)) for point in ax.collections[0].get_paths()[0].vertices}
    assert {(0, 0.3), (0, 0.7), (9, 0.4), (9, 0.8)} <= band


def test_lines_show_every_value_and_their_mean():
    ax = Figure().subplots()
    plots.draw_line(ax, [10, 20, 30], [3.0, 0.0, 6.0], "loss")
    raw, smooth = ax.get_lines()
    np.testing.assert_allclose(raw.get_ydata(), [3, 0, 6])
    np.testing.assert_allclose(smooth.get_ydata(), [3, 3, 6])
    assert ax.get_ylabel() == "loss"


def test_long_lines_are_thinned_out():
    ax = Figure().subplots()
    plots.draw_line(ax, range(9999), np.ones(9999), "loss")
    assert [len(line.get_xdata()) for line in ax.get_lines()] == [2000, 2000]


def test_running_mean():
    values = np.array([1.0, 2.0, 6.0, 4.0, 5.0])
    np.testing.assert_allclose(plots.running_mean(values, 1), [1, 3, 4, 5, 5])
    np.testing.assert_allclose(plots.running_mean(values, 2), [1, 3, 18 / 5, 5, 5])


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (950, "950"), (1500, "1.5k"), (2e6, "2M"), (-3000, "-3k"), (0.5, "0.5")]
)
def test_short(value, text):
    assert plots.short(value) == text


@pytest.mark.parametrize("begun", [False, True])
def test_the_picture_has_its_size_from_the_first_moment_on(begun):
    train = {"kind": "train", "games": 50, "loss": 0.3}
    png = plots.learning_curve(
        [*ROWS, train] if begun else [], [{"games": 50, "games_per_second": 7}] if begun else [], "a", {}
    )
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", png[16:24]) == (880, 880)


def test_of_a_population_the_best_mean_and_worst_are_drawn_in_place_of_a_loss():
    ax = Figure().subplots()
    rows = [{"games": games, "best": 2.0 + games, "mean": 1.5, "worst": 1.0 - games} for games in (0, 1)]
    plots.draw_progress(ax, rows)
    drawn = {line.get_label(): line.get_xydata().tolist() for line in ax.get_lines()}
    assert drawn == {"best": [[0, 2], [1, 3]], "mean": [[0, 1.5], [1, 1.5]], "worst": [[0, 1], [1, 0]]}
    assert ax.get_ylabel() == "points a game"
    other = Figure().subplots()
    plots.draw_progress(other, [{"games": 0, "loss": 0.5}])
    assert other.get_ylabel() == "loss"


def test_a_curve_of_points_has_the_printed_ones_within_it():
    picture = plots.points_curve([0, 10], [1.0, 2.0], "t", {"paper": [(5, 1.5), (99, 9.0)]}, x_label="x", y_label="y")
    assert picture.startswith(b"\x89PNG")
