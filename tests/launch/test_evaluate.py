"""The command: the table, the same numbers as JSON, and one sentence for each mistake."""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

from boardrl.matches import arena, intervals
from boardrl.play.players import make_lineup
from games.pig import Pig
from launch import cli, evaluate

BOTS = pathlib.Path(__file__).parents[1] / "support"


@pytest.fixture(autouse=True)
def _no_compile_cache(monkeypatch):
    monkeypatch.setattr(cli, "_use_compile_cache", lambda: None)


def run(*flags: str) -> int:
    with pytest.raises(SystemExit) as ended:
        cli.run(evaluate.main, evaluate.Settings, argv=["evaluate", *flags])
    return ended.value.code


def rows(printed: str) -> list[list[str]]:
    """The cells of every row of every table."""
    return [[cell.strip() for cell in line.split("│")[1:-1]] for line in printed.splitlines() if "│" in line]


def test_table_and_json_are_the_match(tmp_path, capsys):
    path = tmp_path / "out.json"
    flags = ["--game=pig:players=3,target=10", "--players=hold(total=6),random,random", "--games=100", "--seed=3"]
    assert run(*flags, f"--json={path}") == 0
    printed = capsys.readouterr().out
    stored = json.loads(path.read_text())
    game = Pig(players=3, target=10)
    match = arena.match(game, make_lineup("hold(total=6),random,random", game), num_games=100, seed=3)
    assert (stored["game"], stored["seed"], stored["games"], stored["cut"]) == ("pig:players=3,target=10", 3, 100, 0)
    table = rows(printed)
    for index, (score, player) in enumerate(zip(match.players, stored["players"], strict=True)):
        assert player["name"] == ["hold(total=6)", "random", "random"][index]
        for name in ("games", "wins", "draws", "losses", "win_rate", "low", "high", "points"):
            assert player[name] == getattr(score, name)
        assert player["places"] == list(score.places)
        assert player["seats"] == [seat._asdict() for seat in score.seats]
        assert (player["low"], player["high"]) == intervals.wilson(player["wins"], 100)
        places = "/".join(map(str, player["places"]))
        counts = [str(player[name]) for name in ("wins", "draws", "losses")]
        assert table[index] == [player["name"], shown(player), *counts, f"{player['points']:+.4f}", places]
        for seat in range(3):
            expected = player["seats"][seat]
            cells = [str(seat), str(expected["games"]), str(expected["wins"]), shown(expected)]
            assert table[3 + 3 * index + seat] == [player["name"], *cells]
    assert "100 games, seed 3" in printed


def shown(score: dict) -> str:
    return f"{score['win_rate'] * 100:.2f}% ({score['low'] * 100:.2f} to {score['high'] * 100:.2f})"


def test_an_existing_file_is_kept_unless_told(tmp_path, capsys):
    path = tmp_path / "out.json"
    path.write_text("precious")
    flags = ["--game=tic_tac_toe", "--players=random,random", "--games=100", f"--json={path}"]
    assert run(*flags) == 2
    assert path.read_text() == "precious"
    assert re.fullmatch(r"error: --json=\S+ exists; choose another name or add --overwrite\n", capsys.readouterr().err)
    assert run(*flags, "--overwrite") == 0
    assert json.loads(path.read_text())["games"] == 100
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.json"]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--players=random,random,random"], "tic_tac_toe is played by 2, but 3 players were given"),
        (["--players=random,rondom"], "unknown player 'rondom' (did you mean 'random'?)"),
        (["--players=random,random", "--games=0"], "games=0"),
        (["--players=random,random", "--processes=0"], "--processes=0"),
        (["--players=random,random", "--round_robin"], "unknown flag --round_robin"),
        (["--players=random,random", "--json=/no/such/out.json"], "--json=/no/such/out.json cannot be written"),
        (["--players=random,random", "--sede=5"], "unknown flag --sede (did you mean --seed?)"),
    ],
)
def test_mistakes_are_one_sentence(flags, message, capsys):
    assert run("--game=tic_tac_toe", *flags) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("error: ")
    assert captured.err.count("\n") == 1
    assert message in captured.err
    assert captured.out == ""


def test_the_whole_command_with_a_bot_in_other_processes(tmp_path):
    path = tmp_path / "out.json"
    flags = ["--game=pig:target=10", "--players=arena_bots:Careful(total=6),random", "--games=20", "--processes=2"]
    done = subprocess.run(
        [sys.executable, "-m", "launch.evaluate", *flags, f"--json={path}"],
        env={**os.environ, "PYTHONPATH": str(BOTS)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0
    assert all(line.startswith("playing: ") for line in done.stderr.splitlines())
    stored = json.loads(path.read_text())
    first, second = stored["players"]
    assert (first["name"], first["wins"] + second["wins"]) == ("arena_bots:Careful(total=6)", 20)
    assert first["name"] in done.stdout


def test_games_that_repeat_are_reported_in_one_line(tmp_path, capsys):
    """Two players who leave nothing to chance: one game from each side, and intervals of those two."""
    path = tmp_path / "out.json"
    pair = "--players=minimax(depth=1),minimax(depth=2)"
    assert run("--game=tic_tac_toe", pair, "--games=20", "--processes=1", f"--json={path}") == 0
    stored = json.loads(path.read_text())
    assert (stored["games"], stored["distinct"], stored["observations"]) == (20, 2, 2.0)
    for player in stored["players"]:
        assert (player["low"], player["high"]) == intervals.wilson(player["wins"] / 10, 2)
    line = (
        "only 2 of the 20 games are different, as nothing is left to chance: the intervals rest on 2; "
        "--opening=N begins every game with N random moves\n"
    )
    assert capsys.readouterr().out.endswith(line)
    assert run("--game=tic_tac_toe", pair, "--games=20", "--processes=1", "--opening=2") == 0
    assert "nothing is left to chance" not in capsys.readouterr().out
