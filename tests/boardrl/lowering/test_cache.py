"""Emitted modules on disk: found again, safe among processes, readable; and what they are made of."""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from boardrl import host, registry
from boardrl.errors import UserError
from boardrl.host import facet
from boardrl.lowering import Layout, LoweringError, cache, lower
from boardrl.system import numba_cache, sealed_files

PROGRAM = """
import json, sys, time
import jax, jax.numpy as jnp, numba, numpy as np
from boardrl import host, registry
from boardrl.system import numba_cache, sealed_files as sealed
start = time.monotonic()
game = registry.make(sys.argv[1])
facet = host.of(game)
spec, row, after, work = game.spec, facet.row(game.init()), facet.rows(), facet.work()
facet.init(row)
numbers = [int(facet.actor(row, work)), int(facet.key(row))]
mask = facet.mask()
facet.legal(row, mask, work)
facet.chance(row, np.zeros(spec.num_outcomes, np.float32), work)
facet.returns(row, np.zeros(spec.num_players, np.float32), work)
facet.observe(row, 0, np.zeros(facet.module.OBS_SIZE, np.float32), work)
facet.step(row, 0, after, work)
functions = [facet.init, facet.actor, facet.key, facet.legal, facet.chance, facet.returns, facet.observe, facet.step]
hits = sum(sum(f.stats.cache_hits.values()) for f in functions)
print(json.dumps([numbers + mask.tolist() + after.tolist(), hits, len(functions), time.monotonic() - start]))
"""


def start(folder: pathlib.Path, game: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "BOARDRL_CACHE": str(folder)}
    environment.pop("NUMBA_CACHE_DIR", None)
    return subprocess.Popen([sys.executable, "-c", PROGRAM, game], env=environment, stdout=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> tuple[list[int], int, int, float]:
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    return json.loads(out)  # type: ignore[no-any-return]


def test_two_processes_at_once_then_one_from_the_cache(tmp_path: pathlib.Path) -> None:
    pair = [start(tmp_path, "tic_tac_toe"), start(tmp_path, "tic_tac_toe")]
    first, second = map(finish, pair)
    assert first[0] == second[0]
    third = finish(start(tmp_path, "tic_tac_toe"))
    assert third[0] == first[0]
    assert third[1] == third[2], "every function comes from Numba's cache"
    emitted = [p.name for p in (tmp_path / "lowered").iterdir() if p.is_file()]
    assert len(emitted) == 1, "one module, and no temporary file"


def test_the_key_tells_programs_apart(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOARDRL_CACHE", str(tmp_path))
    x = jnp.arange(3, dtype=jnp.int32)
    table = jnp.array([5, 1, 7], jnp.int32)
    functions: list[Any] = [
        lambda x: x + 1,
        lambda x: x + 2,
        lambda x: x + table,
        lambda x: x + (table + 1),
        lambda x: jnp.roll(x, 1),
        lambda x: jnp.roll(x, 2),
        lambda x: jnp.take(x, x, mode="clip"),
        lambda x: jnp.take(x, x, mode="fill"),
    ]
    paths = set()
    for function in functions:
        lowered = lower(function, x, name="f")
        np.testing.assert_array_equal(lowered(x), function(x))
        paths.add(lowered.function.py_func.__code__.co_filename)
    assert len(paths) == len(functions)
    again = lower(lambda x: x + 1, x, name="f")
    assert again.function.py_func.__code__.co_filename in paths


def test_a_folder_that_cannot_be_written_is_the_users_to_mend(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lowered").write_text("a file in the way")
    monkeypatch.setenv("BOARDRL_CACHE", str(tmp_path))
    with pytest.raises(UserError, match=r"cannot write compiled rules to .*BOARDRL_CACHE"):
        lower(lambda x: x * 31, jnp.int32(1), name="f")


def test_names_and_lines_of_the_source_are_in_the_emitted_code(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOARDRL_CACHE", str(tmp_path))

    def shout(state: dict[str, Any]) -> Any:
        loudness = jnp.maximum(state["voice"], 3) * 2
        return loudness.sum() + loudness.max()

    lowered = lower(shout, {"voice": jnp.arange(40, dtype=jnp.int32), "unused": jnp.int32(0)}, name="shout")
    path = pathlib.Path(lowered.function.py_func.__code__.co_filename)
    assert path.parent == tmp_path / "lowered"
    text = path.read_text()
    line = next(n for n, t in enumerate(pathlib.Path(__file__).read_text().splitlines(), 1) if "loudness = jnp" in t)
    assert f"loudness = i32(maximum(voice[i], i32(3)) * 2)  # mul i32[40], test_cache.py:{line}" in text
    assert "unused" not in text.partition("def shout")[2].partition('"""')[2].partition('"""')[2]


@pytest.mark.parametrize(
    ("function", "example", "sentence"),
    [
        (
            lambda x: lax.erf_inv(x),
            jnp.zeros(4),
            r"f uses the primitive 'erf_inv' in .*test_cache\.py, line \d+, for",
        ),
        (
            lambda x: x.at[0].apply(jnp.sin),
            jnp.zeros(2),
            r"f uses the primitive 'scatter' \(of a function of the old value, as .*\) in .*, line \d+, for",
        ),
        (
            lambda x: jnp.linalg.inv(x),
            jnp.zeros((2, 2)),
            r"f uses the primitive '\w+' in .*, line \d+, for which there is no",
        ),
        (
            lambda x: x.astype(jnp.float16),
            jnp.zeros(2),
            r"f uses the type float16 in .*, line \d+, for which there is no host",
        ),
    ],
)
def test_what_is_not_known_is_refused_with_its_line(function: Any, example: Any, sentence: str) -> None:
    with pytest.raises(LoweringError, match=sentence):
        lower(function, example, name="f")


def test_a_layout_has_every_leaf_in_place_and_no_gap_but_the_last() -> None:
    tree = {
        "a": jnp.ones((3,), jnp.int8),
        "b": (jnp.float32(2.5), jnp.arange(3, dtype=jnp.int16)),
        "c": jnp.bool_(True),
    }
    layout = Layout(tree)
    assert [leaf.name for leaf in layout.leaves] == ["a", "b_0", "b_1", "c"]
    assert all(leaf.offset % leaf.dtype.itemsize == 0 for leaf in layout.leaves)
    covered = sorted(b for leaf in layout.leaves for b in range(leaf.offset, leaf.offset + leaf.num_bytes))
    covered += [b for offset, size in layout.gaps() for b in range(offset, offset + size)]
    assert covered == list(range(8 * layout.num_words))
    row = layout.pack(tree)
    assert row.dtype == np.uint64
    assert row.shape == (layout.num_words,)
    back = layout.unpack(row)
    assert back["b"][0] == 2.5
    assert back["b"][1].tolist() == [0, 1, 2]
    batch = layout.pack(
        {k: jnp.stack([v] * 4) if k != "b" else tuple(jnp.stack([w] * 4) for w in v) for k, v in tree.items()}
    )
    np.testing.assert_array_equal(batch, np.stack([row] * 4))


def test_matrices_lie_on_lines_of_memory() -> None:
    """Those that fill lines come first, so that vectors of their rows are read whole."""
    layout = Layout({"bias": np.zeros(5, np.float32), "kernel": np.zeros((707, 64), np.float32), "low": np.int8(0)})
    kernel = layout.leaves[1]
    for count in (0, 1, 3):  # memory of many sizes begins at many places
        rows = layout.rows(*[2] * count)
        assert rows.shape == (*[2] * count, layout.num_words)
        assert not rows.any()
        assert (rows.ctypes.data + kernel.offset) % 64 == 0


def test_the_toolchain_is_part_of_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    before = cache.module_name("f", "text")
    monkeypatch.setattr(cache, "toolchain", lambda: "another version")
    assert cache.module_name("f", "text") != before


def test_the_code_in_the_docs_is_what_is_emitted(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Line numbers may differ: the game's file changes more often than its rules."""
    monkeypatch.setenv("BOARDRL_CACHE", str(tmp_path))
    facet._of.cache_clear()
    emitted = pathlib.Path(str(host.of(registry.make("jumper")).module.__file__)).read_text()
    facet._of.cache_clear()
    docs = (pathlib.Path(__file__).parents[3] / "docs" / "lowering.md").read_text()
    shown = [block for block in re.findall(r"```python\n(.*?)```", docs, re.DOTALL) if block.startswith("@njit")]
    assert len(shown) == 1
    for block in shown:
        assert re.sub(r":\d+", "", block) in re.sub(r":\d+", "", emitted)


# --- damage -----------------------------------------------------------------------------------------------------------

TINY = "from numba import njit\n\n\n@njit(cache=True)\ndef double(x):\n    return 2 * x\n"

DAMAGE = {
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-7]),
    "empty": lambda path: path.write_bytes(b""),
    "one bit": lambda path: path.write_bytes(bytes([path.read_bytes()[0] ^ 1]) + path.read_bytes()[1:]),
    "zeros of a crash": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "garbled": lambda path: path.write_bytes(b"\xff\x80(((" * 99),
    "named pipe": lambda path: (path.unlink(), os.mkfifo(path)),
    "dangling link": lambda path: (path.unlink(), path.symlink_to("/nowhere/at/all")),
}


def load_tiny() -> tuple[bool, int]:
    """(whether the module was found, how many functions came from Numba's cache), as in a process of its own."""
    sys.modules.pop(f"{cache.PACKAGE}.tiny", None)
    module = cache.find("tiny")
    found = module is not None
    module = module or cache.write("tiny", TINY)
    assert module.double(21) == 42
    return found, sum(module.double.stats.cache_hits.values())


@pytest.mark.parametrize("which", ["*.py", "__pycache__/*.nbi", "__pycache__/*.nbc", "**/*.*"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_cache_is_rebuilt_with_one_line(
    which: str,
    damage: str,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("BOARDRL_CACHE", str(tmp_path))
    monkeypatch.setattr(sealed_files, "_warned", False)
    assert load_tiny() == (False, 0)
    assert load_tiny() == (True, 1)
    assert capfd.readouterr().err == ""
    files = [path for path in (tmp_path / "lowered").glob(which) if path.is_file()]
    assert files
    for path in files:
        DAMAGE[damage](path)
    found, hits = load_tiny()
    assert not (found and hits)
    err = capfd.readouterr().err
    assert len(err.splitlines()) == 1
    assert re.fullmatch(r"warning: the cache file '.*' is damaged; it and others will be rebuilt\n", err)
    assert load_tiny() == (True, 1), "healed"
    assert capfd.readouterr().err == ""


def test_content_is_on_the_disk_before_its_name_appears(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = []
    for name in ("fsync", "replace"):
        real = getattr(os, name)
        monkeypatch.setattr(os, name, lambda *a, real=real, name=name: (done.append(name), real(*a))[1])
    sealed_files.write(tmp_path / "file", b"content")
    assert done == ["fsync", "replace"]
    assert sealed_files.read(tmp_path / "file") == b"content"
    monkeypatch.setattr(os, "replace", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        sealed_files.write(tmp_path / "file", b"other")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_code_of_another_signature_is_not_taken(tmp_path: pathlib.Path) -> None:
    """Two processes that each compile one signature may name the same file."""
    files = numba_cache.SealedFiles(str(tmp_path), "f", b"stamp")
    files.save("ints", 1)
    index = files._load_index()
    files._save_index({"ints": index["ints"], "floats": index["ints"]})
    assert (files.load("ints"), files.load("floats")) == (1, None)
    assert numba_cache.SealedFiles(str(tmp_path), "f", b"other source").load("ints") is None


def test_compiled_code_that_cannot_be_kept_is_used_all_the_same(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BOARDRL_CACHE", str(tmp_path))
    monkeypatch.setattr(numba_cache, "_unwritable", False)
    monkeypatch.setattr(sealed_files, "_warned", False)
    sys.modules.pop(f"{cache.PACKAGE}.tiny", None)
    module = cache.write("tiny", TINY)
    monkeypatch.setattr(
        numba_cache.sealed_files, "write", lambda *_: os.open(tmp_path / "nowhere" / "at all", os.O_RDONLY)
    )
    assert (module.double(21), module.double(0.5)) == (42, 1.0)
    assert capfd.readouterr().err.count("warning: compiled code cannot be saved in") == 1
