"""python -m launch.reproduce: numbers beside the papers', and the same in JSON."""

import json

import numpy as np
import pytest

from boardrl.play import players
from games.ludo import Ludo
from launch import cli, reproduce
from launch.papers import derakhshan2010, jumper_baselines, sdu_baselines, sdu_matches
from launch.papers.cell import Cell, mean


def run(*arguments):
    with pytest.raises(SystemExit) as exit_:
        cli.run(reproduce.main, reproduce.Config, argv=["reproduce", *arguments])
    return exit_.value.code


def test_table_and_json_have_the_same_numbers(tmp_path, capsys):
    out = tmp_path / "out.json"
    assert run("--paper=alhajry2012", "--items=table2", "--games=400", f"--json={out}") == 0
    table = capsys.readouterr().out
    (item,) = json.loads(out.read_text())["items"]
    assert (item["item"], item["games"]) == ("table2", 400)
    assert [cell["paper"] for cell in item["cells"]] == [48.64, 18.24, 12.6, 20.52]
    assert sum(cell["ours"] for cell in item["cells"]) == pytest.approx(100)
    for cell in item["cells"]:
        assert cell["low"] < cell["ours"] < cell["high"]
        line = next(line for line in table.splitlines() if f" {cell['what']} " in line)
        for number in ("ours", "paper", "expected"):
            assert f" {cell[number]:.2f} " in line
    # 400 games are enough to see that the mixed player is far ahead.
    assert item["cells"][0]["ours"] > 40


def test_baselines_by_seat_and_by_player(tmp_path, monkeypatch):
    lineup = "semismart,random,random,random"
    monkeypatch.setattr(sdu_baselines, "LINEUPS", {lineup: sdu_baselines.LINEUPS[lineup]})  # the others compile longer
    out = tmp_path / "out.json"
    assert run("--paper=sdu_baselines", "--games=128", f"--json={out}") == 0
    items = {item["item"]: item["cells"] for item in json.loads(out.read_text())["items"]}
    semismart, random = items["by_seat"][:4], items["by_seat"][4:]
    assert [cell["what"] for cell in random] == ["seat 0", "seat 1", "seat 2", "seat 3"]
    assert sum(cell["ours"] for cell in random) == pytest.approx(100)
    # Seat 0 is what the earlier figures are held against; all seats together are their mean.
    assert items["first_seat"][0]["ours"] == semismart[0]["ours"] > 40
    assert items["first_seat"][0]["expected"] == 56.1
    assert items["rotated"][0]["expected"] is None
    assert items["rotated"][0]["ours"] == pytest.approx(sum(cell["ours"] for cell in semismart) / 4)


def test_an_empty_table_plays_as_fifo_does():
    """Both move the first piece that can be moved, so that the same seed gives the same games."""
    fifo = players.make("fifo", Ludo(rules="sdu_java"))
    untrained, expected = (sdu_matches.by_seat(player, 32, 3) for player in (derakhshan2010.learned(0, 0), fifo))
    assert untrained.shape == (4, 32)
    np.testing.assert_array_equal(untrained, expected)
    middle, low, high = sdu_matches.points(untrained)
    assert middle == pytest.approx(10_000 * expected.mean())
    assert low < middle < high


def test_a_pair_gets_its_share_of_the_points():
    """Of 6 points a game, semismart gets half against itself, and random play much less."""
    game = Ludo(rules="sdu_java")
    other = sdu_matches.opponent()
    (even, rest), (weak, _) = (
        sdu_matches.team(players.make(name, game), other, 32, 1) for name in ("semismart", "random")
    )
    assert even.shape == weak.shape == (10,)
    np.testing.assert_array_equal(even + rest, 6 * 32)
    assert even.mean() == pytest.approx(3 * 32, abs=8)
    assert weak.mean() < 2.2 * 32


def test_the_interval_of_a_mean_is_students():
    """Of 1, 2, 3 the mean is 2 ± 4.3027 · 1 / √3: 4.3027 is t's 97.5 % quantile with 2 degrees of freedom."""
    assert mean(np.array([1.0, 2.0, 3.0])) == pytest.approx((2, 2 - 4.30265 / 3**0.5, 2 + 4.30265 / 3**0.5), abs=1e-4)


def test_figure_5_by_hand(monkeypatch):
    """Means 2 and 6, variances 10/9 and 40/9 of 10 matches each: t = 4 / √(50/90)."""
    teams = {0: np.array([1.0, 3.0] * 5), 1: np.array([4.0, 8.0] * 5)}
    monkeypatch.setattr(derakhshan2010, "learned", lambda games, seed: seed)
    monkeypatch.setattr(sdu_matches, "team", lambda player, other, games, seed: (teams[player], None))
    first, second, test = derakhshan2010.figure_5(200_000, 0)
    assert (first.ours, second.ours, first.paper) == (2, 6, 3297)
    assert test.ours == pytest.approx(4 / np.sqrt(50 / 90))


@pytest.mark.parametrize(
    ("cell", "verdict"),
    [
        (Cell("", "", "%", 10.0, 9.0, 11.0, paper=12.0, paper_error=1.5), "intervals overlap"),
        (Cell("", "", "%", 10.0, 9.0, 11.0, paper=12.0, paper_error=0.5), "-2.00 to the paper"),
        (Cell("", "", "%", 10.0, 9.0, 11.0, expected=11.0, tolerance=1.0), "as expected"),
        (Cell("", "", "%", 10.0, 9.0, 11.0, expected=8.5, tolerance=1.0), "1.50 off, expected ≤ 1.0"),
    ],
)
def test_verdicts(cell, verdict):
    assert cell.verdict() == verdict


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("--paper=nobody1999",),
            "unknown paper 'nobody1999'; known papers: alhajry2012, arena, brunton2013, derakhshan2010",
        ),
        (("--items=table9",), "unknown item 'table9' of alhajry2012; known items: table1, table2, readings"),
        (("--games=-1",), "--games=-1 is no number of games"),
    ],
)
def test_mistakes_are_one_sentence(arguments, sentence, capsys):
    assert run(*arguments) == 2
    assert sentence in capsys.readouterr().err


def test_a_sample_of_other_shares_agrees_up_to_a_size():
    """χ² with two degrees of freedom passes 5.991 in 5 % of samples: here n (0.1² / 0.5 + 0.1² / 0.4) = 5.991."""
    assert jumper_baselines.doubt([0.5, 0.4, 0.1], [0.6, 0.3, 0.1]) == pytest.approx(5.991 / 0.045)


def test_random_play_of_jumper_adds_up(tmp_path):
    out = tmp_path / "out.json"
    assert run("--paper=jumper_baselines", "--games=500", f"--json={out}") == 0
    (item,) = json.loads(out.read_text())["items"]
    by_name = {(cell["row"], cell["what"]): cell["ours"] for cell in item["cells"]}
    for kind in ("every path alike", "every board alike"):
        assert sum(by_name[kind, side] for side in ("White", "Black", "drawn")) == pytest.approx(100)
    assert by_name["moves a turn", "paths"] == pytest.approx(26.2, abs=0.5)
