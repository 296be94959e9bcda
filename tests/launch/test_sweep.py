"""The command: a grid trained on workers, stopped and gone on with, table and plot; one sentence for each mistake."""

from __future__ import annotations

import json

import numpy as np
import pytest

from launch import cli, sweep

SMALL = [
    "--game=tic_tac_toe",
    "--algo=td_lambda",
    "--games=40",
    "--final_games=20",
    "--evaluate_games=10",
    "--hidden=4",
]


@pytest.fixture(autouse=True)
def _as_a_command(monkeypatch, tmp_path):
    monkeypatch.setattr(cli, "_use_compile_cache", lambda: None)
    monkeypatch.chdir(tmp_path)


def run(*flags: str) -> int:
    with pytest.raises(SystemExit) as ended:
        cli.run(sweep.main, sweep.Settings, more=sweep.more, argv=["sweep", *flags])
    return ended.value.code


def test_a_grid_is_trained_and_compared_and_gone_on_with(tmp_path, capsys):
    flags = [*SMALL, "--over=decay=0.5,0.9;seed=1..2", "--run=one", "--workers=local:1"]
    assert run(*flags) == 0
    printed = capsys.readouterr().out
    numbers = json.loads((tmp_path / "one" / "sweep.json").read_text())
    assert [row["name"] for row in numbers["rows"]] == ["decay=0.5", "decay=0.9"]
    assert all(row["runs"] == 2 and row["low"] <= row["value"] <= row["high"] for row in numbers["rows"])
    assert (tmp_path / "one" / "sweep.png").read_bytes().startswith(b"\x89PNG")
    for row in numbers["rows"]:
        assert f"{row['value']:.2f}" in printed
    config = json.loads((tmp_path / "one" / "decay=0.9,seed=2" / "config.json").read_text())
    assert (config["settings"]["decay"], config["seed"], config["settings"]["hidden"]) == (0.9, 2, [4])
    # As if it had been killed before the last training was recorded, and within it.
    results = tmp_path / "one" / "sweep.jsonl"
    results.write_text("".join(results.read_text().splitlines(keepends=True)[:-1]))
    assert run("--resume=one", "--workers=local:1") == 0
    assert json.loads((tmp_path / "one" / "sweep.json").read_text()) == numbers
    assert run(*flags) == 2
    assert "--run=one exists already" in capsys.readouterr().err


def test_intervals_of_few_runs_are_not_narrower_than_those_of_their_games():
    alone = sweep.interval(np.array([60.0]), np.array([[55.0, 66.0]]))
    assert alone == (60.0, 55.0, 66.0)
    agree = sweep.interval(np.array([60.0, 60.0]), np.array([[56.0, 63.0], [57.0, 64.0]]))
    assert agree == pytest.approx((60.0, 60 - 5 / 2, 60 + 5 / 2))  # √(4² + 3²) / 2
    apart = sweep.interval(np.array([50.0, 70.0]), np.array([[46.0, 53.0], [67.0, 74.0]]))
    assert apart == (60.0, 0.0, 100.0)  # Student's t of one degree of freedom: 60 ± 127


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--game=pig"], "nothing to vary: expected --over=NAME=VALUES like 'decay"),
        (["--over=decay=0.5"], "no game given"),
        (["--game=pig", "--over=decay=0.5,2"], "--decay=2.0 is out of range"),
        (["--game=pig", "--over=seed=-1..1"], "--seed=-1 is out of range"),
        (["--game=pig", "--over=lanes=two"], "has 'two' for 'lanes': expected an integer"),
        (["--resume=nowhere"], "--resume=nowhere is no directory of a sweep"),
        (["--game=pig", "--over=decay=0.5", "--workers=many"], "--workers=many: expected local, local:N"),
    ],
)
def test_mistakes(flags, words, capsys):
    assert run(*flags) == 2
    assert words in capsys.readouterr().err
