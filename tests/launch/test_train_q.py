"""Learners of action values and a population, killed at a random moment: the same bits as a run never stopped."""

import json
import random
import signal
import time

import pytest
from training_process import Process, flags, newest_state

from boardrl.runs import checkpoint
from launch import cli, train

MEASURED = {"seed": 7, "log_every": 3, "evaluate_every": 60, "evaluate_games": 20, "final_games": 20}
RUNS = {
    "dqn": {
        "game": "tic_tac_toe", "games": 150, "lanes": 4, "window": 6, "hidden": 8, "capacity": 200, "warm_up": 40,
        "batch": 16, "learning_steps": 2, "copy_every": 5, "steps": 2,
    },
    "q_strategies": {
        "game": "pig:players=3,target=10", "games": 150, "lanes": 4, "window": 8, "hidden": 8,
        "strategies": "hold(total=1),hold(total=9)",
    },
    "q_table": {
        "game": "pig:target=9", "games": 400, "entries": 2048, "games_per_update": 10, "epsilon_end": 0.2,
    },
    "genetic": {
        "game": "pig:target=9", "games": 20 * 40, "genome": "weights(hidden=2)", "games_per_generation": 20,
        "population": 3, "islands": 2, "migrate_every": 3, "parents": 2, "children": 1,
    },
}  # fmt: skip


def call(*arguments):
    """The command in this process: its exit code."""
    with pytest.raises(SystemExit) as ended:
        cli.run(train.main, train.TrainConfig, more=train.more, argv=["train", *arguments])
    return ended.value.code


@pytest.mark.parametrize("algo", RUNS)
def test_killed_at_a_random_moment_it_ends_with_the_same_bits(algo, tmp_path):
    rng = random.Random(algo)
    asked = MEASURED | RUNS[algo] | {"algo": algo}
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert call(*flags(**asked, run=whole)) == 0
    process = Process(*flags(**asked, run=killed, checkpoint_every=0))
    goal = rng.randint(3, 9)
    process.wait_for(lambda: (checkpoint.steps(killed / "checkpoints") or [0])[-1] >= goal)
    time.sleep(rng.uniform(0, 0.05))
    process.send(signal.SIGKILL)
    assert process.end()[0] == -signal.SIGKILL
    assert checkpoint.steps(killed / "checkpoints")[-1] < checkpoint.steps(whole / "checkpoints")[-1]
    code, _, err = Process(*flags(resume=killed, checkpoint_every=60)).end()
    assert code == 0, err
    assert newest_state(killed) == newest_state(whole)
    assert (killed / "metrics.jsonl").read_bytes() == (whole / "metrics.jsonl").read_bytes()


def test_a_full_table_ends_with_its_final_evaluation(tmp_path, capfd):
    """It is resumable like any other run, and then ends as it did."""
    path = tmp_path / "run"
    asked = MEASURED | RUNS["q_table"] | {"algo": "q_table", "entries": 64, "run": path}
    sentence = "the table of 64 entries is full after 20 games (56 may be taken); start a new run with --entries=128"
    for argv in (flags(**asked), flags(resume=path)):
        code = call(*argv)
        out, err = capfd.readouterr()
        assert code == 0, err
        assert f"ended     {sentence}" in out
        rows = [json.loads(line) for line in (path / "metrics.jsonl").read_text().splitlines()]
        assert [(row["kind"], row["games"]) for row in rows] == [("strength", 0), ("train", 20), ("final", 20)]
        assert rows[1]["updates"] == 2
        assert f"ended early: {sentence}" in (path / "report.md").read_text()
