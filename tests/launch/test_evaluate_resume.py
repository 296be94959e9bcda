"""A match that is stopped: the table so far, its exit code, and the same numbers when it goes on."""

from __future__ import annotations

import json
import os
import pathlib
import re
import signal
import sys

import pytest
from test_evaluate import rows, run
from test_signals import Command

from boardrl.matches import arena
from boardrl.runs import progress
from launch import cli

BOTS = pathlib.Path(__file__).parents[1] / "support"
SLOW = ["--game=tic_tac_toe", "--players=arena_bots:Slow,random", "--games=16", "--seed=3"]


@pytest.fixture(autouse=True)
def _as_a_command(monkeypatch):
    monkeypatch.setattr(cli, "_use_compile_cache", lambda: None)
    monkeypatch.syspath_prepend(str(BOTS))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))


def numbers(path, *flags):
    assert run(*flags, f"--json={path}") == 0
    return json.loads(path.read_text())


def num_lines(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


def test_ctrl_c_in_processes_and_the_rest_in_this_one(tmp_path, capsys):
    file = tmp_path / "match.jsonl"
    slow = [*SLOW, f"--resume={file}"]
    command = Command("launch.evaluate", *slow, "--processes=2")
    command.wait_for(lambda: num_lines(file) >= 5)
    code, out, err = command.end(signal.SIGINT)
    assert code == 130
    played = num_lines(file) - 1
    assert 4 <= played < 16
    assert f"{played} of 16 games, seed 3" in " ".join(out.split())
    assert f"stopped with {played} of 16 games over; the same command goes on from there" in err
    assert run(*slow, "--seed=4") == 2
    assert "was started with seed=3, not 4" in capsys.readouterr().err
    here = "--processes=1"
    assert numbers(tmp_path / "a.json", *slow, here) == numbers(tmp_path / "b.json", *SLOW, here)
    assert num_lines(file) == 17


def test_policies_go_on_after_a_kill_and_end_with_a_table(tmp_path):
    file = tmp_path / "match.jsonl"
    flags = ["--game=pig:target=200", "--players=random,random", "--games=3000000", f"--resume={file}"]
    command = Command("launch.evaluate", *flags)
    command.wait_for(lambda: num_lines(file) >= 2)
    assert command.end(signal.SIGKILL)[0] == -signal.SIGKILL
    saved = file.read_bytes()
    saved = saved[: saved.rfind(b"\n") + 1]
    command = Command("launch.evaluate", *flags)
    command.wait_for(lambda: num_lines(file) > saved.count(b"\n"))
    code, out, err = command.end(signal.SIGTERM)
    assert code == 143
    assert file.read_bytes().startswith(saved)
    (shown,) = re.findall(r"([\d,]+) of 3,000,000 games", " ".join(out.split()))  # a long title takes two lines
    games = int(shown.replace(",", ""))
    assert games % arena.MAX_LANES == 0
    assert sum(int(row[2]) for row in rows(out) if row[1] in ("0", "1")) == 2 * games  # both seats of both players
    assert f"of which {games:,} count" in err


class Stop(progress.Bar):
    def update(self, done, note=""):
        if done >= 6:
            raise KeyboardInterrupt


def test_without_a_file_the_table_is_shown_and_how_to_keep_the_games(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(progress, "Bar", Stop)
    out = tmp_path / "out.json"
    assert run("--game=tic_tac_toe", "--players=arena_bots:Moody,random", "--processes=1", f"--json={out}") == 130
    captured = capsys.readouterr()
    assert "tic_tac_toe: 6 of 1,000 games, seed 0" in captured.out
    assert [row[2] for row in rows(captured.out)[2:]] == ["3", "3", "3", "3"]
    assert captured.err.endswith(
        "stopped with 6 of 1,000 games over; --resume=FILE keeps the games of a match to go on with\n"
    )
    assert not out.exists()
    assert run("--game=pig:target=20", "--players=random,random", "--games=64") == 130
    captured = capsys.readouterr()
    assert captured.out == ""  # not one round yet
    assert ", of which 0 count (whole rounds, as short games are over first)" in captured.err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("precious\n", "is damaged or not a file of results: line 1"),
        ('{"settings": {"game": "pig"}}\n', "was started with game='pig', not 'tic_tac_toe'"),
        (None, "cannot be written; expected a file in a directory that exists"),
    ],
)
def test_other_files_are_refused_in_one_sentence(tmp_path, capsys, content, message):
    file = tmp_path / "match.jsonl"
    if content is None:
        file = tmp_path / "no" / "match.jsonl"
    else:
        file.write_text(content)
    assert run("--game=tic_tac_toe", "--players=random,random", "--games=8", f"--resume={file}") == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert (file.read_text() if file.exists() else None) == content


def test_a_mistake_leaves_no_file(tmp_path):
    file = tmp_path / "match.jsonl"
    assert run("--game=tic_tac_toe", "--players=random", f"--resume={file}") == 2
    assert not file.exists()
