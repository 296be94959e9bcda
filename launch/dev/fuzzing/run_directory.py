"""Damaged or malicious run directories: they are played, exported and resumed."""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import pathlib
import shutil
import tempfile
from typing import Any
from unittest import mock

import jax
import numpy as np
from hypothesis import strategies as st

from algorithms import td_lambda
from boardrl import registry
from boardrl.errors import UserError
from boardrl.runs import checkpoint, plots, report, training
from boardrl.runs import run_directory as runs
from boardrl.runs.loggers import Loggers
from launch import export, train
from launch.console import named_players
from launch.dev.fuzzing import garble
from launch.dev.fuzzing.contract import PAYLOAD, Broken, Place, keeping
from launch.dev.fuzzing.garble import Draw

CODE = (("schedule", "evaluate_against"), ("settings", "opponents"), ("settings", "net"))  # settings that may name code
ODD_CHECKPOINTS = ("0040", "-1", "9" * 30, "٣", "1e3", "7 ", "5.damaged", ".5.tmp", ".9.tmp", "café", "a,b")
ODD_RUNS = ("a,b", "a b", "a[b]", "a\\b", "a'b\"c", "-a", "a(b)", "a=b", "*", "é", "x" * 120, "%d", "a:b")


@functools.cache
def good_run() -> pathlib.Path:
    """The run directory of a short training, made once per process."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="fuzz-run-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = folder / "run"
    game = registry.make("tic_tac_toe")
    settings = td_lambda.Config(games=20, lanes=2, window=2, hidden=(), shards=1)
    state = jax.device_get(td_lambda.init(settings, game, jax.random.key(0)))
    schedule = training.Schedule(evaluate_every=5)
    asked = {"game": "tic_tac_toe", "algo": "td_lambda", "seed": 0}
    asked |= {"settings": _fields(settings), "schedule": _fields(schedule)}
    with runs.Run.create(path, asked) as run:
        strength = training.Strength(
            "random", 10, 0.5, 0.2, 0.8, points=0.1, wins=5, draws=1, losses=4, seats=(0.5, 0.5), seed=3
        )
        for updates in (0, 5, 9):
            count = {"updates": updates, "games": 2 * updates}
            run.log("metrics.jsonl", {"kind": "strength", **count, **strength._asdict()})
            run.log("metrics.jsonl", {"kind": "train", **count, "loss": 0.5, "td_error": 0.1})
            run.log("speed.jsonl", {**count, "seconds": 0.5, "games_per_second": 20.0})
            now = state._replace(updates=np.int32(updates), games=np.int32(2 * updates))
            run.save(now, place={"rows": [], "evaluated": 2 * updates}, keep=3)
    return path


def _fields(settings: Any) -> dict[str, Any]:
    return json.loads(json.dumps({name: getattr(settings, name) for name in settings.__dataclass_fields__}))


def garbled_run(draw: Draw, where: Place) -> None:
    """Plays, exports or resumes an untrusted run."""
    story: list[str] = []
    path = where.inside / draw(st.sampled_from(("run", "run", "run", *ODD_RUNS)))
    shutil.copytree(good_run(), path, symlinks=True)
    for _ in range(draw(st.integers(0, 3))):
        story.append(_garble_run(draw, path, where.outside))
    what = draw(st.sampled_from((_play_run, _resume_run, _resume_run, _export_run)))
    story.append(f"{what.__name__[1:]} {path.name!r}")
    with keeping(where, story):
        what(draw, path)


def _garble_run(draw: Draw, path: pathlib.Path, outside: pathlib.Path) -> str:
    """Changes something in a run directory; returns a description."""
    files = sorted(filter(_is_plain, path.rglob("*")))
    manifests = sorted(filter(_is_plain, path.glob(f"{runs.CHECKPOINTS}/*/{checkpoint.MANIFEST}")))
    what = draw(st.sampled_from(("config", "config", "log", "manifest", "bytes", "entry", "entry", "name", "payload")))
    if what == "config" and _is_plain(path / "config.json"):
        garble.json_file(draw, path / "config.json")
        return f"config {(path / 'config.json').read_bytes()[:400]!r}"
    if what == "payload" and _is_plain(path / "config.json"):
        return _name_code(draw, path / "config.json")
    if what == "log":
        log = path / draw(st.sampled_from(runs.LOGS))
        if _is_plain(log):
            garble.json_lines(draw, log)
            return f"{log.name} {log.read_bytes()[:300]!r}"
    if what == "manifest" and manifests:
        return _garble_manifest(draw, draw(st.sampled_from(manifests)), reseal=draw(st.booleans()))
    if what == "bytes" and files:
        file = draw(st.sampled_from(files))
        file.write_bytes(garble.content(draw, file.read_bytes()))
        return f"bytes of {file.relative_to(path)}"
    if what == "name":
        step = draw(st.sampled_from(("0", "5", "9")))
        name = draw(st.sampled_from(ODD_CHECKPOINTS))
        source = path / runs.CHECKPOINTS / step
        if source.is_dir() and not source.is_symlink():
            with contextlib.suppress(shutil.Error):  # pipes are not copied
                shutil.copytree(source, source.with_name(name), dirs_exist_ok=True, symlinks=True)
        return f"checkpoint {step} as {name!r} too"
    chosen = draw(st.sampled_from(("lock", "metrics.jsonl", "config.json", "report.md", runs.CHECKPOINTS, ".7.tmp")))
    inner = draw(st.sampled_from(("", "", "5", "9", ".9.tmp", f"9/{checkpoint.ARRAYS}", f"9/{checkpoint.MANIFEST}")))
    entry = path / runs.CHECKPOINTS / inner if inner else path / chosen
    if entry.parent.is_symlink() or not entry.parent.is_dir():
        return "nothing"
    return f"{entry.relative_to(path)} is {garble.entry(draw, entry, outside)}"


def _is_plain(path: pathlib.Path) -> bool:
    """Whether a path is a regular file, which the fuzzer may read and write."""
    return path.is_file() and path.resolve() == path.absolute()


def _name_code(draw: Draw, file: pathlib.Path) -> str:
    """Makes a run name code that must not be imported."""
    section, setting = draw(st.sampled_from(CODE))
    with contextlib.suppress(ValueError, KeyError, TypeError, RecursionError):
        stored = json.loads(file.read_bytes())
        stored[section][setting] = draw(st.sampled_from((f"{PAYLOAD}:Bot", f"random,{PAYLOAD}:Bot", f"{PAYLOAD}.Bot")))
        file.write_text(json.dumps(stored))
    return f"{setting} names code"


def _garble_manifest(draw: Draw, file: pathlib.Path, *, reseal: bool) -> str:
    """Changes a manifest; with `reseal` its checksum is updated, as an attacker would."""
    try:
        stored = json.loads(file.read_text())
        body = garble.json_value(draw, stored["manifest"])
        seal = checkpoint._seal(body) if reseal else stored["sha256"]
    except (ValueError, KeyError, TypeError, RecursionError):
        garble.json_file(draw, file)
        return "manifest once more"
    file.write_bytes(garble.dumps({"sha256": seal, "manifest": body}))
    return f"manifest of {file.parent.name} {str(body)[:400]}"


def _play_run(draw: Draw, path: pathlib.Path) -> None:
    game = registry.make("tic_tac_toe")
    (player,) = named_players.make(str(path), game)
    if player.policy is not None:
        logits = np.asarray(player.policy.apply(player.policy.params, game.init()))
        if np.isnan(logits).any():
            raise Broken("a player whose logits are not numbers")


def _resume_run(draw: Draw, path: pathlib.Path) -> None:
    """All of launch.train --resume except the training itself."""

    def restored(task: training.Task, run: runs.Run, metrics: Loggers) -> Any:
        template = jax.eval_shape(lambda: task.algorithm.init(task.config, task.game, jax.random.key(0)))
        found = run.restore(template, lambda line: None)
        if found is not None:
            _, place = found
            if not isinstance(place["rows"], list) or not isinstance(place["evaluated"], int):
                raise Broken(f"an invalid place in the loop: {place}")
        if draw(st.integers(0, 3)) == 0:  # seldom, because it takes longer than all else
            plots.write(run, {})
        report.write(run, task.game, status="fuzzed")
        report.commands(run, task.game)
        raise UserError("enough")

    settings = train.TrainConfig(resume=str(path))
    more = train.more(settings)
    settings = train.TrainConfig(**{**_own(settings), **more.defaults})
    schedule, learning = (section.config(**section.defaults) for section in more.sections)
    with mock.patch.object(training, "train", restored):
        train.main(settings, schedule, learning)


def _own(settings: train.TrainConfig) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in settings.__dataclass_fields__}


def _export_run(draw: Draw, path: pathlib.Path) -> None:
    export.main(export.Config(run=str(path), to=str(path.parent / "weights.json")))
