import contextlib
import dataclasses
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

import jax
import jax.numpy as jnp
import linear_learner
import numpy as np
import pytest

from boardrl.errors import UserError
from boardrl.runs import checkpoint, run_directory, training
from boardrl.runs.training import Schedule, Strength
from boardrl.system import machine
from games.tic_tac_toe import TicTacToe

GAME = TicTacToe()
CONFIG = linear_learner.Config(games=40)
SCHEDULE = Schedule(log_every=4, evaluate_every=15, evaluate_games=10, final_games=20)


def measure(player, *, num_games, seed, bar):
    """Stands in for matches: a figure that any change of the weights would change."""
    share = float(np.asarray(player.policy.params).sum()) % 1
    return [
        Strength("nobody", num_games, share, 0.0, 1.0, points=share, wins=0, draws=0, losses=0, seats=(), seed=seed)
    ]


def make_task(config=CONFIG, schedule=SCHEDULE, evaluate=measure):
    return training.Task(linear_learner, config, GAME, (), evaluate, schedule, seed=3)


def facts(task):
    return {
        "game": "tic_tac_toe",
        "algo": "linear",
        "seed": task.seed,
        "settings": dataclasses.asdict(task.config),
        "schedule": dataclasses.asdict(task.schedule),
    }


def train(path, task=None):
    task = task or make_task()
    with run_directory.Run.resume(path) if path.exists() else run_directory.Run.create(path, facts(task)) as opened:
        return training.train(task, opened)


def read(path, name="metrics.jsonl"):
    return [json.loads(line) for line in (path / name).read_text().splitlines()]


def assert_same(path, state, whole):
    """The same bits and bytes as the run that was never stopped."""
    for ours, theirs in zip(jax.tree.leaves(state), jax.tree.leaves(whole.state), strict=True):
        assert np.asarray(ours).tobytes() == np.asarray(theirs).tobytes()
    assert (path / "metrics.jsonl").read_bytes() == (whole.path / "metrics.jsonl").read_bytes()


class Whole:
    """A run that was never stopped."""

    def __init__(self, path, task):
        self.path, self.outcome = path, train(path, task)
        self.state = self.outcome.state


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return Whole(tmp_path_factory.mktemp("runs") / "whole", make_task())


def test_the_loop_adds_nothing_to_the_algorithm(whole):
    """Weights and losses are those of calling `update` by hand, until enough games have ended after a full line."""
    state = linear_learner.init(CONFIG, GAME, jax.random.key(3))
    losses, lines = [], []
    while not (len(losses) % 4 == 0 and int(state.games) >= 40):
        state, metrics = linear_learner.update(CONFIG, GAME, (), state)
        losses.append(float(metrics["loss"]))
        if len(losses) % 4 == 0:
            lines.append((len(losses), int(state.games), sum(losses[-4:]) / 4))
    logged = [row for row in read(whole.path) if row["kind"] == "train"]
    assert [(row["updates"], row["games"]) for row in logged] == [line[:2] for line in lines]
    np.testing.assert_allclose([row["loss"] for row in logged], [line[2] for line in lines], rtol=1e-6)
    np.testing.assert_allclose(whole.state.weights, state.weights, rtol=1e-6)
    assert whole.outcome.interrupted is False


def test_evaluations_come_by_games(whole):
    rows = read(whole.path)
    at_line = {0: 0} | {row["updates"]: row["games"] for row in rows if row["kind"] == "train"}
    due, last = [], -1
    for updates, games in at_line.items():
        if games // 15 > last // 15 and games < 40:
            due.append((updates, games))
            last = games
    strengths = [row for row in rows if row["kind"] == "strength"]
    assert len(due) == 3
    assert [(row["updates"], row["games"]) for row in strengths] == due
    assert {row["played"] for row in strengths} == {10}
    assert len({row["seed"] for row in rows if "seed" in row}) == 4  # other games each time
    assert rows[-1]["kind"] == "final"
    assert rows[-1]["played"] == 20
    assert rows[-1]["updates"] == int(whole.state.updates)
    assert whole.outcome.strengths[0].win_rate == rows[-1]["win_rate"]


def test_speed_is_kept_apart(whole):
    speed = read(whole.path, "speed.jsonl")
    assert [row["updates"] for row in speed] == [row["updates"] for row in read(whole.path) if row["kind"] == "train"]
    assert all(row["seconds"] > 0 and row["games_per_second"] >= 0 for row in speed)
    assert not {"seconds", "games_per_second"} & {name for row in read(whole.path) for name in row}


def test_what_a_finished_run_leaves(whole):
    names = {path.name for path in whole.path.iterdir()}
    assert names == {
        "config.json",
        "metrics.jsonl",
        "speed.jsonl",
        "checkpoints",
        "learning_curve.png",
        "report.md",
        "lock",
    }
    steps = checkpoint.steps(whole.path / "checkpoints")
    assert len(steps) == 3
    assert steps[-1] == int(whole.state.updates)
    assert "| finished" in (whole.path / "report.md").read_text()


def test_the_update_is_compiled_once(whole, tmp_path):
    before = training._update._cache_size()
    train(tmp_path / "again")
    assert training._update._cache_size() == before


@pytest.mark.parametrize("stop_at", [1, 4, 10])
def test_ctrl_c_after_any_update_changes_nothing(whole, tmp_path, monkeypatch, stop_at):
    """Checkpoints after every update, a SIGINT after the n-th: between two lines of metrics as well as after one."""
    task = make_task(schedule=dataclasses.replace(SCHEDULE, checkpoint_every=0.0))
    real_save = run_directory.Run.save

    def save(self, state, **more):
        real_save(self, state, **more)
        if int(state.updates) == stop_at:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(run_directory.Run, "save", save)
    outcome = train(tmp_path / "run", task)
    monkeypatch.undo()
    assert outcome.interrupted
    assert stop_at <= int(outcome.state.updates) <= stop_at + 1
    assert checkpoint.steps(tmp_path / "run" / "checkpoints")[-1] == int(outcome.state.updates)
    assert "| interrupted" in (tmp_path / "run" / "report.md").read_text()
    assert_same(tmp_path / "run", train(tmp_path / "run").state, whole)


@pytest.mark.parametrize("stop_at", [0, 1, 3])
def test_ctrl_c_during_an_evaluation_gives_it_up_and_redoes_it(whole, tmp_path, stop_at):
    calls = []

    def interrupted(player, **more):
        calls.append(more["seed"])
        if len(calls) == stop_at + 1:
            os.kill(os.getpid(), signal.SIGTERM if stop_at else signal.SIGINT)
            raise AssertionError("the signal should have ended this")
        return measure(player, **more)

    outcome = train(tmp_path / "run", make_task(evaluate=interrupted))
    assert outcome.interrupted
    assert len(calls) == stop_at + 1
    assert_same(tmp_path / "run", train(tmp_path / "run").state, whole)


def test_the_memory_of_an_update_is_asked_for_first(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "free_device_memory", lambda: 0)
    with pytest.raises(
        UserError, match=r"an update of this training of tic_tac_toe needs .* choose smaller sizes than"
    ):
        train(tmp_path / "run")


def test_handlers_are_put_back(tmp_path):
    def own(*_):
        raise AssertionError

    before = signal.signal(signal.SIGINT, own)
    try:
        train(tmp_path / "run")
        assert signal.getsignal(signal.SIGINT) is own
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_damaged_newest_checkpoint_costs_time_only(whole, tmp_path, capfd):
    train(tmp_path / "run", make_task())
    newest = checkpoint.steps(tmp_path / "run" / "checkpoints")[-1]
    (tmp_path / "run" / "checkpoints" / str(newest) / checkpoint.MANIFEST).write_text("{}")
    capfd.readouterr()
    assert_same(tmp_path / "run", train(tmp_path / "run").state, whole)
    assert capfd.readouterr().err.count("is damaged") == 1


def test_a_finished_run_can_train_longer(tmp_path):
    """As if it had been asked for all games at once, where the algorithm itself does not look at their number."""
    longer = make_task(dataclasses.replace(CONFIG, games=70))
    whole = Whole(tmp_path / "whole", longer)
    train(tmp_path / "run")
    assert_same(tmp_path / "run", train(tmp_path / "run", longer).state, whole)
    assert int(whole.state.games) >= 70


def test_another_cadence_of_checkpoints_gives_the_same_numbers(whole, tmp_path):
    often = make_task(schedule=dataclasses.replace(SCHEDULE, checkpoint_every=0.0, keep_checkpoints=1))
    assert_same(tmp_path / "run", train(tmp_path / "run", often).state, whole)
    assert len(checkpoint.steps(tmp_path / "run" / "checkpoints")) == 1


class InBatches:
    """The linear learner with a fixed number of games for each update, none of them played."""

    Config, TrainState, policy = linear_learner.Config, linear_learner.TrainState, staticmethod(linear_learner.policy)
    init = staticmethod(linear_learner.init)
    ON_HOST = True

    def __init__(self, weights=0.0):
        self.weights = weights

    def games_per_update(self, config):
        return 8

    def update(self, config, game, opponents, state):
        games = jnp.minimum(state.games + 8, config.games)
        state = state._replace(games=games, updates=state.updates + 1, weights=state.weights + self.weights)
        return state, {"loss": state.updates.astype(np.float32)}


def test_the_last_line_of_metrics_may_be_shorter(tmp_path):
    """42 games in updates of 8: six updates, the last of two games, in lines of four and two updates."""
    task = make_task(dataclasses.replace(CONFIG, games=42))._replace(algorithm=InBatches())
    outcome = train(tmp_path / "run", task)
    lines = [row for row in read(tmp_path / "run") if row["kind"] == "train"]
    assert [(row["updates"], row["games"], row["loss"]) for row in lines] == [(4, 32, 2.5), (6, 42, 5.5)]
    assert (int(outcome.state.updates), int(outcome.state.games)) == (6, 42)


def test_divergence_is_noticed_in_the_weights_too(tmp_path):
    """The loss stays finite; the weights do not."""
    schedule = dataclasses.replace(SCHEDULE, checkpoint_every=0.0)
    task = make_task(schedule=schedule)._replace(algorithm=InBatches(weights=np.inf))
    with pytest.raises(
        UserError, match=r"weights became not finite at update \d+; the last good checkpoint is of update 0"
    ):
        train(tmp_path / "run", task)
    assert checkpoint.steps(tmp_path / "run" / "checkpoints") == [0]


def test_divergence_stops_with_the_last_good_checkpoint(tmp_path):
    task = make_task(
        dataclasses.replace(CONFIG, games=10_000, step_size=1e8), dataclasses.replace(SCHEDULE, evaluate_every=5)
    )
    with pytest.raises(
        UserError, match=r"became (inf|nan|not finite) at update \d+; the last good checkpoint"
    ) as error:
        train(tmp_path / "run", task)
    assert "\n" not in str(error.value)
    path = tmp_path / "run" / "checkpoints"
    good = checkpoint.steps(path)[-1]
    assert f"of update {good}:" in str(error.value)
    template = linear_learner.init(task.config, GAME, jax.random.key(0))
    kept = checkpoint.restore(path / str(good), checkpoint.verify(path / str(good)), template)
    assert np.isfinite(kept.weights).all()
    assert "| stopped: " in (tmp_path / "run" / "report.md").read_text()
    assert all(np.isfinite(row["loss"]) for row in read(tmp_path / "run") if row["kind"] == "train")


@pytest.mark.parametrize(
    "field", ["log_every", "evaluate_games", "final_games", "keep_checkpoints", "evaluate_every", "checkpoint_every"]
)
def test_schedules_are_checked(field):
    bound = 0 if field in ("evaluate_every", "checkpoint_every") else 1
    Schedule(**{field: bound})
    with pytest.raises(UserError, match=rf"--{field}=-1 is too small: expected at least {bound}"):
        Schedule(**{field: -1})


def test_evaluate_every_follows_the_games():
    assert Schedule().resolve(2000).evaluate_every == 100
    assert Schedule().resolve(3).evaluate_every == 1
    assert Schedule(evaluate_every=7).resolve(2000).evaluate_every == 7


TWO_DEVICES = """
import pathlib, sys, jax
sys.path.insert(0, sys.argv[1])
import test_training as t
jax.config.update("jax_numpy_dtype_promotion", "strict")
folder = pathlib.Path(sys.argv[2])
whole = t.Whole(folder / "whole", t.make_task())
lanes = whole.state.lanes.steps.sharding
assert len(lanes.device_set) == 2 and not lanes.is_fully_replicated, lanes
assert whole.state.weights.sharding.is_fully_replicated
assert t.training._update._cache_size() == 1
t.train(folder / "run", t.make_task(t.dataclasses.replace(t.CONFIG, games=20)))
t.assert_same(folder / "run", t.train(folder / "run").state, whole)


def restart(config, game, opponents, state):
    return state._replace(lanes=jax.tree.map(jax.numpy.zeros_like, state.lanes)), {}  # would lie on one device


first = jax.tree.map(jax.numpy.copy, whole.state)
shardings = t.training.shardings(first)
moved, _ = t.training._update(restart, t.CONFIG, t.GAME, (), first, shardings=shardings)
assert t.training.shardings(moved) == shardings
print("same")
"""


def test_two_devices_resume_to_the_same_bits(tmp_path):
    support = str(pathlib.Path(__file__).parents[2] / "support")
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=2", "PYTHONPATH": support}
    done = subprocess.run(
        [sys.executable, "-c", TWO_DEVICES, os.path.dirname(__file__), str(tmp_path)],
        env=os.environ | flags,
        capture_output=True,
        text=True,
        timeout=400,
    )
    assert done.stdout == "same\n", done.stderr


@pytest.fixture
def small_disk(tmp_path):
    """A file system of its own, of one megabyte; only root can have one."""
    place = tmp_path / "disk"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place], capture_output=True).returncode:
        pytest.skip("no small file system can be mounted here")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def fill(place):
    """Leaves no room on a disk; the file to remove."""
    filler = place / "filler"
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        while file.write(bytes(4096)) == 4096:
            pass
    assert shutil.disk_usage(place).free == 0
    return filler


@pytest.mark.parametrize("moment", range(4))
def test_a_full_disk_is_one_sentence_and_costs_time_only(whole, small_disk, capfd, moment):
    """Full from the first, second, third or final evaluation on: in a checkpoint, a plot or the report."""
    path, calls = small_disk / "run", []

    def measure_and_fill(player, **more):
        calls.append(more["seed"])
        if len(calls) == moment + 1:
            fill(small_disk)
        return measure(player, **more)

    task = make_task(schedule=dataclasses.replace(SCHEDULE, checkpoint_every=0.0), evaluate=measure_and_fill)
    sentence = (
        rf"'{path}.*' cannot be written: No space left on device; make room .*, then continue with --resume={path}$"
    )
    with pytest.raises(UserError, match=sentence):
        train(path, task)
    assert "Traceback" not in capfd.readouterr().err
    assert len(calls) == moment + 1
    (small_disk / "filler").unlink()
    assert list(path.rglob(".*.tmp")) == []
    assert_same(path, train(path).state, whole)


def test_a_disk_that_is_full_at_the_start_leaves_nothing_behind(small_disk, capfd):
    """The sentence says to give the same command again, and it works."""
    filler, task = fill(small_disk), make_task()
    with pytest.raises(UserError, match=r"/run' cannot be .*: No space left on device; .*give ") as error:
        train(small_disk / "run", task)
    assert "--resume" not in str(error.value)
    assert [path.name for path in small_disk.iterdir()] == ["filler"]
    os.truncate(filler, max(filler.stat().st_size - 8192, 0))  # room for folders, not for files
    with pytest.raises(UserError, match=r"/run.*' cannot be written: No space left on device; "):
        train(small_disk / "run", task)
    filler.unlink()
    assert {path.name for path in small_disk.iterdir()} <= {"run"}
    assert train(small_disk / "run", task).interrupted is False
