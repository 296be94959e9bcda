import hashlib
import json
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from boardrl.errors import UserError
from boardrl.runs import checkpoint
from boardrl.system import atomic_files


class State(NamedTuple):
    params: Any
    flag: Any
    games: Any
    updates: Any


def make_state(updates=7):
    params = {
        "layer": {"kernel": jnp.linspace(-1, 1, 6).reshape(2, 3), "bias": jnp.array([1.5, -0.0], jnp.bfloat16)},
        "empty": jnp.zeros((3, 0), jnp.int8),
        "moments": (jnp.array([jnp.nan, jnp.inf]), ()),
        "key": jax.random.key_data(jax.random.key(3)),
    }
    return State(params, jnp.array([True, False]), jnp.int32(21), jnp.int32(updates))


@pytest.fixture
def saved(tmp_path):
    return checkpoint.save(tmp_path, make_state(), notes={"place": {"rows": [0.1]}})


def arrays(path):
    return path / checkpoint.ARRAYS


def test_every_bit_comes_back(saved):
    manifest = checkpoint.verify(saved)
    restored = checkpoint.restore(saved, manifest, jax.eval_shape(make_state))
    assert (saved.name, manifest.updates, manifest.games) == ("7", 7, 21)
    assert manifest.notes == {"place": {"rows": [0.1]}}
    assert manifest.leaves["params.layer.bias"] == "bfloat16[2]"
    assert jax.tree.structure(restored) == jax.tree.structure(make_state())
    for ours, theirs in zip(jax.tree.leaves(restored), jax.tree.leaves(make_state()), strict=True):
        theirs = np.asarray(theirs)
        assert (ours.dtype, ours.shape, ours.tobytes()) == (theirs.dtype, theirs.shape, theirs.tobytes())


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def edit_manifest(path, **changes):
    stored = json.loads((path / checkpoint.MANIFEST).read_text())
    stored["manifest"] |= changes
    (path / checkpoint.MANIFEST).write_text(json.dumps(stored))


DAMAGES = {
    "a flipped bit": (lambda path: flip(arrays(path)), "has changed"),
    "a truncated file": (
        lambda path: arrays(path).write_bytes(arrays(path).read_bytes()[:-1]),
        r"has [\d,]+ bytes, expected",
    ),
    "a missing file": (lambda path: arrays(path).unlink(), "is missing"),
    "no manifest": (lambda path: (path / checkpoint.MANIFEST).unlink(), "manifest.json is missing"),
    "an empty manifest": (lambda path: (path / checkpoint.MANIFEST).write_text(""), "cannot be read"),
    "a manifest of something else": (lambda path: (path / checkpoint.MANIFEST).write_text("[]"), "cannot be read"),
    "a flipped bit in the manifest": (lambda path: flip(path / checkpoint.MANIFEST), "manifest.json"),
    "an edited manifest": (lambda path: edit_manifest(path, games=99), "manifest.json has changed"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_found(saved, damage):
    break_it, reason = DAMAGES[damage]
    break_it(saved)
    with pytest.raises(checkpoint.Damaged, match=reason):
        checkpoint.verify(saved)


def test_truths_have_bytes_of_two_values_only(saved):
    """Compiled code may do anything with a third."""
    header = checkpoint._header(checkpoint._named(make_state()))
    data = bytearray(arrays(saved).read_bytes())
    data[len(header) + json.loads(header[8:])["flag"]["data_offsets"][0]] = 2
    arrays(saved).write_bytes(data)
    digest = hashlib.sha256(data).hexdigest()
    body = json.loads((saved / checkpoint.MANIFEST).read_text())["manifest"]
    body["files"][checkpoint.ARRAYS]["sha256"] = digest
    (saved / checkpoint.MANIFEST).write_text(json.dumps({"sha256": checkpoint._seal(body), "manifest": body}))
    with pytest.raises(checkpoint.Damaged, match="flag has values that are neither true nor false"):
        checkpoint.restore(saved, checkpoint.verify(saved), make_state())


def test_arrays_are_safetensors(saved):
    """The format as its authors describe it: 8 bytes for the length of the header, JSON, then bytes without gaps."""
    data = arrays(saved).read_bytes()
    length = int.from_bytes(data[:8], "little")
    entries = json.loads(data[8 : 8 + length])
    assert entries["params.layer.kernel"]["dtype"] == "F32"
    assert entries["params.layer.bias"]["dtype"] == "BF16"
    assert length % 8 == 0
    end = 0
    for entry in entries.values():
        assert entry["data_offsets"][0] == end
        end = entry["data_offsets"][1]
    assert len(data) == 8 + length + end
    start, stop = entries["params.layer.kernel"]["data_offsets"]
    kernel = np.frombuffer(data[8 + length + start : 8 + length + stop], "<f4").reshape(2, 3)
    np.testing.assert_array_equal(kernel, make_state().params["layer"]["kernel"])


def test_a_checkpoint_under_another_name_is_not_trusted(saved):
    with pytest.raises(checkpoint.Damaged, match="it is the checkpoint of update 7"):
        checkpoint.verify(saved.rename(saved.with_name("8")))


def test_a_newer_format_is_not_read(saved, monkeypatch):
    monkeypatch.setattr(checkpoint, "FORMAT", checkpoint.FORMAT + 1)
    with pytest.raises(checkpoint.Damaged, match="it has format 2, this version of boardrl reads 3"):
        checkpoint.verify(saved)


def test_another_shape_is_refused_by_name(saved):
    template = make_state()
    template.params["layer"]["kernel"] = jnp.zeros((2, 4))
    with pytest.raises(UserError, match=r"params.layer.kernel as float32\[2,3\], expected float32\[2,4\]"):
        checkpoint.restore(saved, checkpoint.verify(saved), template)
    del template.params["layer"]["kernel"]
    with pytest.raises(UserError, match="expected nothing"):
        checkpoint.restore(saved, checkpoint.verify(saved), template)


def test_only_the_newest_are_kept(tmp_path):
    for updates in (9, 10, 100, 20):
        checkpoint.save(tmp_path, make_state(updates), notes={})
    (tmp_path / "9.damaged").mkdir()
    assert checkpoint.steps(tmp_path) == [9, 10, 20, 100]
    checkpoint.prune(tmp_path, keep=2)
    assert checkpoint.steps(tmp_path) == [20, 100]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["100", "20", "9.damaged"]


def test_a_save_that_dies_leaves_nothing_that_counts(tmp_path, monkeypatch):
    checkpoint.save(tmp_path, make_state(1), notes={})
    monkeypatch.setattr(atomic_files, "place", lambda *_: (_ for _ in ()).throw(SystemExit))
    with pytest.raises(SystemExit):
        checkpoint.save(tmp_path, make_state(2), notes={})
    monkeypatch.undo()
    assert checkpoint.steps(tmp_path) == [1]
    assert len(list(tmp_path.iterdir())) == 2
    checkpoint.save(tmp_path, make_state(2), notes={})  # over the leftovers
    assert checkpoint.verify(tmp_path / "2").updates == 2
    atomic_files.temporary(tmp_path / "3").mkdir()
    atomic_files.clean(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1", "2"]
