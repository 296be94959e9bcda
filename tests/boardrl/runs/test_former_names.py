"""Runs that a version before wrote, with settings and arrays under names that have changed since."""

import dataclasses
import json
import pathlib
import shutil

import jax
import numpy as np
import pytest

from algorithms import dqn, td_lambda
from boardrl import registry
from boardrl.errors import UserError
from boardrl.runs import checkpoint, learned, run_directory

# By launch.train of 18 November 2026: --game=tic_tac_toe --games=8 --lanes=2 --hidden=2 --seed=3, td_lambda with
# --nofalling --parts=2, dqn with --capacity=16 --warm_up=4 --batch=4.
RUNS = pathlib.Path(__file__).parents[2] / "data" / "former_runs"
ALGORITHMS = {"td_lambda": td_lambda, "dqn": dqn}
FORMER = {"td_lambda": {"momentum": "optimizer_state"}, "dqn": {"momentum": "optimizer_state", "rows": "transitions"}}


def stored(run):
    """Every array of the only checkpoint of a run, by the name that it was stored under."""
    (path,) = (run / "checkpoints").iterdir()
    data = (path / checkpoint.ARRAYS).read_bytes()
    size = int.from_bytes(data[:8], "little")
    body = data[8 + size :]
    kinds = {"F32": np.float32, "I32": np.int32, "U32": np.uint32, "I8": np.int8, "BOOL": np.bool_, "U8": np.uint8}
    return {
        name: np.frombuffer(body[slice(*entry["data_offsets"])], kinds[entry["dtype"]]).reshape(entry["shape"])
        for name, entry in json.loads(data[8 : 8 + size]).items()
    }


@pytest.mark.parametrize("name", ALGORITHMS)
def test_training_goes_on_from_a_run_of_former_names(tmp_path, name):
    """As --resume does: config.json is written anew under today's names before the checkpoint is read."""
    run, algorithm, game = tmp_path / name, ALGORITHMS[name], registry.make("tic_tac_toe")
    shutil.copytree(RUNS / name, run)
    found = run_directory.read_config(run)
    settings = run_directory.read_settings(algorithm.Config, found, "settings")
    template, said = jax.eval_shape(lambda: algorithm.init(settings, game, jax.random.key(0))), []
    with run_directory.Run.resume(run) as opened:
        opened.write_config({**opened.config, "settings": dataclasses.asdict(settings)})
        state, _ = opened.restore(template, said.append, algorithm=algorithm)
        assert not said
    arrays = stored(run)
    for former, now in FORMER[name].items():
        assert any(former in key.split(".") for key in arrays)
        arrays = {".".join(now if part == former else part for part in key.split(".")): a for key, a in arrays.items()}
    restored = checkpoint._named(state)
    assert list(restored) == list(arrays)
    for key, array in arrays.items():
        np.testing.assert_array_equal(restored[key], array)


def test_settings_of_former_names_are_read():
    found = run_directory.read_config(RUNS / "td_lambda")
    assert (found["settings"]["falling"], found["settings"]["parts"]) == (False, 2)
    settings = run_directory.read_settings(td_lambda.Config, found, "settings")
    assert (settings.anneal_learning_rate, settings.shards) == (False, 2)
    both = {**found, "settings": {**found["settings"], "shards": 1}}
    with pytest.raises(UserError, match=r"parts; expected .* wrote them: use that version"):
        run_directory.read_settings(td_lambda.Config, both, "settings")


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_run_of_former_names_is_a_player(name):
    game = registry.make("tic_tac_toe")
    policy = learned.load_run(RUNS / name).policy
    assert policy.apply(policy.params, game.init()).shape == (9,)


def test_a_checkpoint_of_other_settings_is_still_foreign(tmp_path):
    run = tmp_path / "run"
    shutil.copytree(RUNS / "td_lambda", run)
    text = (run / "config.json").read_text()
    (run / "config.json").write_text(text.replace('"falling": false', '"anneal_learning_rate": true'))
    with pytest.raises(UserError, match="has no good checkpoint"):
        learned.load_run(run)
