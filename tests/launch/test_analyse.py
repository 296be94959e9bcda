"""launch.analyse and launch.solve: what they write, their mistakes, and their second start."""

from __future__ import annotations

import json
import math
import os
import pathlib
import subprocess
import sys

import pytest

from launch import analyse, cli, solve

KEYS = ["value", "pv", "depth", "nodes", "nodes_per_second", "milliseconds", "bytes", "exact", "evaluation"]
ROOT = pathlib.Path(__file__).parent.parent.parent


def run(*arguments: str) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.run(analyse.main, analyse.Config, more=analyse.options_of, argv=["analyse", *arguments])
    assert stop.value.code == 0


def fail(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as stop:
        cli.run(analyse.main, analyse.Config, more=analyse.options_of, argv=["analyse", *arguments])
    assert stop.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("game", "name"),
    [("tic_tac_toe", "negascout"), ("pig", "expectimax"), ("ur", "expectimax"), ("pig:players=3", "maxn")],
)
def test_without_a_searcher_the_usual_one_is_taken(game: str, name: str) -> None:
    assert analyse.options_of(analyse.Config(game=game)).sections[0].title == f"options of {name}"


@pytest.mark.parametrize("searcher", ["alphabeta", "negascout"])
def test_a_position_that_one_move_wins(tmp_path: pathlib.Path, searcher: str) -> None:
    position, out = tmp_path / "position.txt", tmp_path / "out.json"
    position.write_text("XX. OO. ... 0\n")
    run(f"--position={position}", f"--searcher={searcher}", "--depth=3", f"--json={out}")
    found = json.loads(out.read_text())
    assert list(found) == KEYS
    assert found["value"] == [1.0, -1.0]
    assert found["pv"] == ["2"]
    assert found["exact"] or found["depth"] == 3
    assert found["bytes"] <= 65536 * 1024


def test_jumper_s_line_is_in_its_notation(tmp_path: pathlib.Path) -> None:
    position, out = tmp_path / "board.txt", tmp_path / "out.json"
    position.write_text("4\nW B - -\n- - B -\n- - - -\n- - - -\nW\n")
    run("--game=jumper:size=4", f"--position={position}", "--depth=1", "--weights=1+0+0+0", f"--json={out}")
    found = json.loads(out.read_text())
    assert found["pv"] == ["0 0 0 2 2 2"]
    assert found["value"] == pytest.approx(
        [math.tanh(3 / 16), -math.tanh(3 / 16)], abs=1e-6
    )  # both of the other's are dead


def test_the_line_goes_as_far_as_the_search(tmp_path: pathlib.Path) -> None:
    out = tmp_path / "out.json"
    run("--depth=6", f"--json={out}")
    found = json.loads(out.read_text())
    assert (found["depth"], len(found["pv"]), found["exact"]) == (6, 6, False)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--searcher=negascot"], "did you mean 'negascout'"),
        (["--game=pig:players=3", "--searcher=negascout"], "has 3; use maxn, mcts or paranoid"),
        (["--kilobytes=2"], "kilobytes=2 is too little for negascout"),
        (["--weights=1+2"], "has no features to weight"),
        (["--position=nowhere.txt"], "cannot read --position=nowhere.txt"),
        (["--depth=-1"], "depth=-1"),
    ],
)
def test_mistakes(capsys: pytest.CaptureFixture[str], arguments: list[str], words: str) -> None:
    assert words in fail(capsys, *arguments)


@pytest.mark.parametrize(
    ("game", "value"), [("tic_tac_toe", [0, 0]), ("jumper:size=3", [1, -1]), ("pig:players=2,target=2", [1, -1])]
)
def test_solve(tmp_path: pathlib.Path, game: str, value: list[float]) -> None:
    out = tmp_path / "out.json"
    with pytest.raises(SystemExit) as stop:
        cli.run(solve.main, solve.Config, argv=["solve", f"--game={game}", "--kilobytes=4096", f"--json={out}"])
    assert stop.value.code == 0
    found = json.loads(out.read_text())
    assert list(found) == KEYS
    assert found["exact"]
    if not game.startswith("pig"):
        assert found["value"] == value
        assert len(found["pv"]) == 9
    else:
        assert found["value"][0] == pytest.approx(-found["value"][1])
        assert found["value"][0] > 0.5


def test_a_second_start_compiles_nothing_and_finds_the_same(tmp_path: pathlib.Path) -> None:
    environment = {**os.environ, "BOARDRL_CACHE": str(tmp_path / "cache")}
    found, files = [], []
    for number in range(2):
        out = tmp_path / f"{number}.json"
        command = [sys.executable, "-m", "launch.analyse", "--depth=5", f"--json={out}"]
        subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)
        found.append(json.loads(out.read_text()))
        files.append(
            sorted(p.name for p in (tmp_path / "cache" / "lowered").rglob("*") if p.suffix in (".nbc", ".nbi"))
        )
    assert files[0] == files[1]
    assert files[0]
    assert [found[0][key] for key in ("value", "pv", "nodes")] == [found[1][key] for key in ("value", "pv", "nodes")]
