"""The checker finds the processes of workers and differences, and refuses what makes no sense."""

from __future__ import annotations

import os

import pytest

from boardrl.errors import UserError
from launch.dev import check_resume, check_workers, measure_scaling
from launch.dev.killed_commands import Command


def test_processes_above():
    parents = {5: 4, 4: 2, 2: 1, 1: 0, 9: 1}
    assert check_workers._above(5, parents) == [4, 2, 1]
    assert os.getppid() in check_workers._above(os.getpid(), dict(check_workers._processes()))
    assert not check_workers._is_worker(os.getpid())


def test_results_of_a_match_are_compared_by_their_bytes(tmp_path):
    for name, numbers in (("one", "[1, 2]"), ("two", "[1, 3]")):
        (tmp_path / f"{name}.json").write_text(numbers)
    one, two = (check_workers.result(tmp_path / name) for name in ("one", "two"))
    assert one == {"numbers": b"[1, 2]"}
    assert one != two


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (check_workers.Config(kills=0), "--kills=0 is too few"),
        (
            check_workers.Config(work="dance"),
            "unknown work 'dance'; expected one of td_lambda, local_steps, dqn, td",
        ),
    ],
)
def test_mistakes(asked, words):
    with pytest.raises(UserError, match=words):
        check_workers.main(asked)


def test_the_model_of_an_update():
    seconds = measure_scaling.predicted(6, 4, task=0.01, alone=0.1, work=1.0, latency=0.02)
    assert seconds == pytest.approx(0.1 + 6 * 0.01 + 2 * 1.0 + 0.02)


def test_a_command_that_fails_says_why() -> None:
    """One class starts the commands of both checks, and kills what still runs at the end of its block."""
    assert issubclass(check_workers.Working, check_resume.Command)
    with Command("launch.train", {"game": "chessboxing"}) as process, pytest.raises(UserError) as raised:
        process.expect_success()
    assert "ended with code 2" in str(raised.value)
    assert "chessboxing" in str(raised.value)
    with Command("http.server", {"help": ""}) as process:
        pass
    assert process.returncode is not None
