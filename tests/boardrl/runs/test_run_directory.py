import json
import os
import re
import resource
import signal
import subprocess
import sys

import jax
import linear_learner
import numpy as np
import pytest

from boardrl.errors import UserError
from boardrl.runs import checkpoint, run_directory
from games.pig import Pig
from games.tic_tac_toe import TicTacToe

SETTINGS = linear_learner.Config()
FACTS = {"game": "tic_tac_toe", "algo": "linear", "seed": 5, "schedule": {}}
FACTS["settings"] = {"games": 40, "opponents": "", "lanes": 8, "step_size": 0.1}


COUNTS = {"updates": 0, "games": 0}


def row(updates):
    return {"kind": "train", **COUNTS, "updates": updates, "loss": 0.5}


@pytest.fixture(scope="module")
def first():
    return linear_learner.init(SETTINGS, TicTacToe(), jax.random.key(0))


@pytest.fixture
def path(tmp_path, first):
    """A run with checkpoints of updates 10, 20 and 30, and a line of metrics after each and every one."""
    path = tmp_path / "runs" / "mine"
    with run_directory.Run.create(path, FACTS) as opened:
        for updates in (10, 20, 30):
            opened.log("metrics.jsonl", row(updates))
            opened.log("speed.jsonl", {**COUNTS, "seconds": updates / 10, "games_per_second": 1.0})
            state = first._replace(updates=np.int32(updates), weights=first.weights + updates)
            opened.save(state, place={"evaluated": updates}, keep=3)
        opened.log("metrics.jsonl", row(40))
    return path


def lines(*updates):
    """metrics.jsonl with a line of each update."""
    return "".join(json.dumps(row(update)) + "\n" for update in updates)


def spoil(path, updates):
    (path / "checkpoints" / str(updates) / checkpoint.MANIFEST).unlink()


def restore(path, first):
    said = []
    with run_directory.Run.resume(path) as opened:
        return opened.restore(first, said.append), said, opened.logs["metrics.jsonl"]


def test_a_run_says_what_made_it(path):
    stored = run_directory.read_config(path)
    assert {name: stored[name] for name in FACTS} == FACTS
    assert stored["versions"]["jax"] == jax.__version__
    assert stored["devices"] == jax.local_device_count()


def test_an_existing_directory_is_never_overwritten(path, tmp_path):
    before = {file: file.read_bytes() for file in path.rglob("*") if file.is_file()}
    with pytest.raises(UserError, match=r"exists already.*--resume"):
        run_directory.Run.create(path, FACTS)
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="exists already"):
        run_directory.Run.create(tmp_path / "empty", FACTS)
    with pytest.raises(UserError, match="cannot be created"):
        run_directory.Run.create(path / "config.json" / "run", FACTS)
    assert {file: file.read_bytes() for file in path.rglob("*") if file.is_file()} == before


def test_default_paths_are_safe_and_free(tmp_path):
    first = run_directory.default_path(tmp_path, Pig(players=3, target=30), "td_lambda", 4)
    assert re.fullmatch(r"pig_players_3_target_30-td_lambda-\d{8}T\d{6}Z-s4", first.name)
    taken = set()
    for _ in range(3):  # within one second or two
        path = run_directory.default_path(tmp_path, TicTacToe(), "td_lambda", 0)
        path.mkdir()
        taken.add(path.name)
    assert len(taken) == 3


def test_the_newest_checkpoint_and_the_logs_of_its_moment(path, first):
    restored, said, metrics = restore(path, first)
    state, place = restored
    assert said == []
    assert place == {"evaluated": 30}
    np.testing.assert_array_equal(state.weights, np.asarray(first.weights + 30))
    assert metrics == [row(10), row(20), row(30)]
    assert (path / "metrics.jsonl").read_text() == lines(10, 20, 30)


def test_a_torn_last_line_is_cut_off(path, first):
    with (path / "metrics.jsonl").open("a") as file:
        file.write('{"updates": 5')
    assert restore(path, first)[2][-1] == row(30)


def test_new_lines_follow_the_cut(path, first):
    with run_directory.Run.resume(path) as opened:
        opened.restore(first, print)
        opened.log("metrics.jsonl", row(35))
        opened.save(first._replace(updates=np.int32(35)), place={}, keep=3)
    assert (path / "metrics.jsonl").read_text() == lines(10, 20, 30, 35)
    assert checkpoint.steps(path / "checkpoints") == [20, 30, 35]
    lengths = checkpoint.verify(path / "checkpoints" / "35").notes["lengths"]
    assert lengths == {name: (path / name).stat().st_size for name in run_directory.LOGS}


def test_a_damaged_newest_falls_back_and_says_so(path, first):
    spoil(path, 30)
    (state, place), said, metrics = restore(path, first)
    assert (int(state.updates), place, metrics[-1]) == (20, {"evaluated": 20}, row(20))
    assert len(said) == 1
    assert "checkpoints/30 is damaged (manifest.json is missing)" in said[0]
    assert sorted(p.name for p in (path / "checkpoints").iterdir()) == ["10", "20", "30.damaged"]


def test_two_damaged_fall_back_twice(path, first):
    spoil(path, 30)
    spoil(path, 20)
    (state, _), said, _ = restore(path, first)
    assert (int(state.updates), len(said)) == (10, 2)


@pytest.mark.parametrize("name", run_directory.LOGS)
def test_a_lost_log_costs_its_lines_only(path, first, name):
    (path / name).unlink()
    (state, place), said, _ = restore(path, first)
    assert (int(state.updates), place) == (30, {"evaluated": 30})
    assert len(said) == 1
    assert f"{name} has lost" in said[0]
    assert checkpoint.steps(path / "checkpoints") == [10, 20, 30]


def test_a_shortened_log_keeps_its_whole_lines(path, first):
    (path / "metrics.jsonl").write_text(lines(10, 20) + '{"kind": "tr')
    (state, _), said, metrics = restore(path, first)
    assert (int(state.updates), metrics, len(said)) == (30, [row(10), row(20)], 1)
    assert (path / "metrics.jsonl").read_text() == lines(10, 20)


def test_bad_lines_of_a_log_are_left_out(path, first):
    good = lines(10, 20, 30)
    bad = good.replace('"updates": 20', '"updates": "2')
    assert len(bad) == len(good)
    (path / "metrics.jsonl").write_text(bad)
    (state, _), said, metrics = restore(path, first)
    assert (int(state.updates), metrics, len(said)) == (30, [row(10), row(30)], 1)
    assert "metrics.jsonl has 1 invalid lines" in said[0]


def test_none_good_is_one_sentence(path, first):
    for updates in (10, 20, 30):
        spoil(path, updates)
    with pytest.raises(UserError, match="no good checkpoint to resume from"):
        restore(path, first)


def test_lost_checkpoints_are_not_taken_for_a_fresh_start(path, first):
    for updates in (10, 20, 30):
        (path / "checkpoints" / str(updates)).rename(path.parent / str(updates))
    with pytest.raises(UserError, match="no good checkpoint to resume from"):
        restore(path, first)


def test_killed_before_it_began(tmp_path, first):
    with run_directory.Run.create(tmp_path / "new", FACTS):
        pass
    assert restore(tmp_path / "new", first)[0] is None


def test_leftovers_of_a_killed_process_are_removed(path, first):
    (path / "checkpoints" / ".40.tmp" / "arrays").mkdir(parents=True)
    (path / ".report.md.tmp").write_text("half")
    restore(path, first)
    assert list(path.rglob(".*.tmp")) == []


BAD_CONFIGS = {
    "none": (None, "is not a run directory"),
    "not JSON": ("{", "cannot be read as JSON"),
    "not text": (b"\xff\xfe\x00", "cannot be read as JSON"),
    "a list": ("[1]", "not from a boardrl run of format 1"),
    "foreign": ('{"model": "resnet"}', "not from a boardrl run of format 1"),
    "newer": (json.dumps({**FACTS, "format": 2, "versions": {}, "devices": 1}), "format 1"),
    "a field missing": (json.dumps({**FACTS, "format": 1, "versions": {}}), "no valid 'devices'"),
    "a field of another type": (
        json.dumps({**FACTS, "format": 1, "versions": {}, "devices": "1"}),
        "no valid 'devices'",
    ),
}


@pytest.mark.parametrize("case", BAD_CONFIGS)
def test_bad_configs_are_one_sentence(path, case):
    text, sentence = BAD_CONFIGS[case]
    (path / "config.json").unlink()
    if text is not None:
        (path / "config.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(UserError, match=sentence) as error:
        run_directory.Run.resume(path)
    assert "\n" not in str(error.value)


def test_a_full_disk_is_one_sentence_when_a_line_is_written(path, monkeypatch):
    """/dev/full is a disk without room."""
    monkeypatch.setattr(run_directory, "_open", lambda path: open("/dev/full", "ab", buffering=0))  # noqa: SIM115
    sentence = rf"'{path}' cannot be written: No space left on device; make room .* then continue with --resume={path}"
    with pytest.raises(UserError, match=sentence), run_directory.Run.resume(path) as opened:
        opened.log("metrics.jsonl", row(50))


def test_a_full_disk_is_one_sentence_when_a_checkpoint_is_written(path, first):
    """No file may be longer than a few bytes here, as orbax's own code finds out; the checkpoints before stay."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with run_directory.Run.resume(path) as opened:
        before = {file: file.read_bytes() for file in opened.checkpoints.rglob("*") if file.is_file()}
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, hard))
        try:
            with pytest.raises(UserError, match=rf"'{path}' cannot be written: File too large; make room"):
                opened.save(first._replace(updates=np.int32(50)), place={}, keep=1)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert {file: file.read_bytes() for file in opened.checkpoints.rglob("*") if file.is_file()} == before
    assert restore(path, first)[0][1] == {"evaluated": 30}


def test_another_living_process_is_refused(path, first):
    holder = subprocess.Popen(
        [sys.executable, "-c", "import sys, pathlib; from boardrl.runs.run_directory import Run\n"
         f"run = Run.resume(pathlib.Path({str(path)!r})); print('held', flush=True); sys.stdin.read()"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert holder.stdout.readline() == "held\n"
        before = (path / "metrics.jsonl").read_bytes()
        with pytest.raises(UserError, match=f"in use by process {holder.pid};"):
            run_directory.Run.resume(path)
        assert (path / "metrics.jsonl").read_bytes() == before
        # Looking is free.
        assert run_directory.load_policy(path, lambda name: linear_learner).game == TicTacToe()
    finally:
        os.kill(holder.pid, signal.SIGKILL)
        holder.communicate()
    assert int(restore(path, first)[0][0].updates) == 30


def test_this_process_cannot_open_a_run_twice(path):
    with run_directory.Run.resume(path), pytest.raises(UserError, match=f"in use by process {os.getpid()};"):
        run_directory.Run.resume(path)


def test_policies_of_a_run_and_of_its_checkpoints(path, first, capsys):
    asked = []
    learned = run_directory.load_policy(path, lambda name: asked.append(name) or linear_learner)
    assert (asked, learned.game) == (["linear"], TicTacToe())
    np.testing.assert_array_equal(learned.policy.params, np.asarray(first.weights + 30))
    older = run_directory.load_policy(path / "checkpoints" / "10", lambda name: linear_learner)
    np.testing.assert_array_equal(older.policy.params, np.asarray(first.weights + 10))
    assert learned.policy.apply == older.policy.apply
    assert (learned.path, older.path) == (path / "checkpoints" / "30", path / "checkpoints" / "10")
    assert capsys.readouterr().err == ""

    spoil(path, 30)
    newest = run_directory.load_policy(path, lambda name: linear_learner)
    np.testing.assert_array_equal(newest.policy.params, np.asarray(first.weights + 20))
    assert "checkpoints/30 is damaged" in capsys.readouterr().err
    assert (path / "checkpoints" / "30").is_dir()  # a reader moves nothing
    with pytest.raises(UserError, match="no good checkpoint"):
        run_directory.load_policy(path / "checkpoints" / "30", lambda name: linear_learner)
    with pytest.raises(UserError, match="is not a run directory"):
        run_directory.load_policy(path / "nowhere" / "x", lambda name: linear_learner)
