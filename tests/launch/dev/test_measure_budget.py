"""launch.dev.measure_budget on a few moves."""

from __future__ import annotations

import json
import pathlib

import pytest

from launch import cli
from launch.dev import measure_budget


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
    assert 0 <= found["own_over_ms_99_9"] < 10
    assert found["waited_over_ms_99_9"] >= 0
    assert found["kept"]


def moves(*, clock: float, processor: float, after: float) -> list[measure_budget.Move]:
    return [measure_budget.Move(5.0, 5.0, 0.1)] * 90 + [measure_budget.Move(clock, processor, after)] * 10


@pytest.mark.parametrize(
    ("late", "words", "own", "waited"),
    [
        (moves(clock=4.0, processor=3.9, after=0.0), "kept", 0.0, 0.0),
        (moves(clock=20.0, processor=4.9, after=0.1), "kept but for waits", 0.1, 14.9),  # another process had the core
        (moves(clock=20.0, processor=19.9, after=15.1), "NOT KEPT", 15.0, 0.0),  # it looked at the clock too seldom
        (moves(clock=40.0, processor=18.0, after=14.0), "NOT KEPT", 14.0, 21.0),  # and waited besides
        (moves(clock=4.0, processor=16.0, after=0.0), "NOT KEPT", 0.0, 0.0),  # within the time, on too many cores
    ],
)
def test_waiting_is_told_from_lateness(late: list[measure_budget.Move], words: str, own: float, waited: float) -> None:
    player = measure_budget.make("tic_tac_toe", "minimax(ms=5,kilobytes=256)")
    found = measure_budget.summary(player, late)
    assert measure_budget.verdict(found) == words
    assert found["own_over_ms_99_9"] == pytest.approx(own, abs=0.11)
    assert found["waited_over_ms_99_9"] == pytest.approx(waited, abs=0.11)


def test_a_budget_that_is_not_kept_is_an_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(measure_budget, "measure", lambda *_: moves(clock=30.0, processor=29.0, after=25.0))
    assert run("--game=tic_tac_toe", "--player=minimax(ms=5,kilobytes=256)", "--moves=20", "--busy=1") == 1
    assert "NOT KEPT" in capsys.readouterr().out


def test_a_player_without_a_limit_of_time_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--game=tic_tac_toe", "--player=minimax(depth=2)") == 2
    assert "has no time limit" in capsys.readouterr().err


def test_more_busy_processes_than_fit_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--busy=99999999999") == 2
    assert "--busy=99999999999 needs" in capsys.readouterr().err
