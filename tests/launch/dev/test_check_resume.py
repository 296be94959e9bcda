"""What `launch.dev.check_resume` compares: every leaf, the metrics, the damage that a kill may have done."""

from __future__ import annotations

import pathlib
import shutil

import jax
import numpy as np
import pytest

from boardrl import registry
from boardrl.errors import UserError
from boardrl.runs import checkpoint
from launch.dev import check_resume
from launch.dev.check_resume import Reference
from launch.dev.fuzzing.run_directory import good_run


@pytest.fixture
def copy(tmp_path: pathlib.Path) -> pathlib.Path:
    return pathlib.Path(shutil.copytree(good_run(), tmp_path / "copy"))


@pytest.fixture(scope="module")
def reference() -> Reference:
    return Reference(good_run())


def test_all_learners_have_a_small_run() -> None:
    assert set(check_resume.RUNS) == set(registry.names(registry.ALGORITHMS))


def test_a_copy_does_not_differ(copy: pathlib.Path, reference: Reference) -> None:
    assert reference.differences(copy, finished=True) == []
    shutil.rmtree(copy / "checkpoints" / "9")
    assert reference.differences(copy, finished=False) == []
    assert reference.differences(copy, finished=True) == ["it ended at update 5, not 9"]


def test_one_bit_is_a_difference(copy: pathlib.Path, reference: Reference) -> None:
    manifest, state = reference._read(copy, 9)
    shutil.rmtree(copy / "checkpoints" / "9")
    kernel = state.params["params"]["layers_0"]["kernel"]
    state.params["params"]["layers_0"]["kernel"] = np.nextafter(kernel, np.float32(np.inf))
    checkpoint.save(copy / "checkpoints", jax.tree.map(np.asarray, state), notes=manifest.notes)
    assert reference.differences(copy, finished=True) == ["params.params.layers_0.kernel of update 9"]


def test_metrics_are_compared_up_to_the_checkpoint(copy: pathlib.Path, reference: Reference) -> None:
    metrics = copy / "metrics.jsonl"
    given = metrics.read_bytes()
    metrics.write_bytes(given + b"a line that a resumed run would cut off")
    assert reference.differences(copy, finished=False) == []
    assert reference.differences(copy, finished=True) == ["metrics.jsonl up to update 9"]
    metrics.write_bytes(given.replace(b"0.5", b"0.6", 1))
    assert reference.differences(copy, finished=False) == ["metrics.jsonl up to update 9"]


def test_damage_is_a_difference(copy: pathlib.Path, reference: Reference) -> None:
    (copy / "checkpoints" / "9" / checkpoint.MANIFEST).write_text("{")
    assert reference.differences(copy, finished=False) == ["checkpoint 9 is damaged: manifest.json cannot be read"]
    shutil.rmtree(copy / "checkpoints")
    assert reference.differences(copy, finished=False) == []
    assert reference.differences(copy, finished=True) == ["a finished run has no checkpoint"]


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (check_resume.Config(kills=0), "--kills=0 is too few"),
        (check_resume.Config(learners="td_lamda"), "unknown algorithm 'td_lamda'"),
    ],
)
def test_mistakes(config: check_resume.Config, words: str) -> None:
    with pytest.raises(UserError, match=words):
        check_resume.main(config)
