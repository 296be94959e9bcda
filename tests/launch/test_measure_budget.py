"""launch.measure_budget on a few moves."""

from __future__ import annotations

import json
import pathlib

import pytest

from launch import cli, measure_budget


def run(*arguments: str) -> int | str | None:
    with pytest.raises(SystemExit) as stop:
        cli.run(measure_budget.main, measure_budget.Config, argv=["measure_budget", *arguments])
    return stop.value.code


def test_moves_are_measured_and_memory_is_told(tmp_path: pathlib.Path) -> None:
    out = tmp_path / "out.json"
    player = "--player=minimax(ms=3,kilobytes=256)"
    assert run("--game=tic_tac_toe", player, "--moves=20", "--busy=1", f"--json={out}") == 0
    (found,) = json.loads(out.read_text())
    assert (found["moves"], found["busy_processes"], found["bytes_allowed"]) == (20, 1, 256 * 1024)
    assert 0 < found["bytes"] <= found["bytes_allowed"]
    assert -3 <= found["over_ms_median"] <= found["over_ms_99"] <= found["over_ms_99_9"] <= found["over_ms_most"]
    assert found["processor_over_ms_99_9"] < 10  # whatever else the machine does


def test_a_player_without_a_limit_of_time_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--game=tic_tac_toe", "--player=minimax(depth=2)") == 2
    assert "has no time to keep to" in capsys.readouterr().err
