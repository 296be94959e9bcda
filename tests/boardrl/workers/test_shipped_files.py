"""Files of players on a machine that does not have them."""

from __future__ import annotations

import pathlib

import pytest

from boardrl.workers import packing, shipped_files


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A machine with a run of two checkpoints and a file of weights, and then another without."""
    for name in ("config.json", "checkpoints/5/manifest.json", "checkpoints/5/arrays.safetensors",
                 "checkpoints/9/manifest.json", "checkpoints/9/arrays.safetensors"):  # fmt: skip
        path = tmp_path / "one" / "runs" / "a" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (tmp_path / "one" / "w.json").write_text("weights")
    (tmp_path / "two").mkdir()
    monkeypatch.setenv("BOARDRL_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path / "one")
    return tmp_path


def test_texts_lead_to_the_same_contents(home, monkeypatch):
    texts = ["runs/a", "runs/a/checkpoints/5", "maxn(depth=2,net=runs/a)", "negascout(learned=w.json)", "random"]
    files = packing.unpack(packing.pack(shipped_files.collect(texts)))
    assert sorted(files) == ["runs/a", "runs/a/checkpoints/5", "w.json"]
    assert shipped_files.place(texts, files) == texts  # where they are
    monkeypatch.chdir(home / "two")
    newest, fifth, net, learned, other = shipped_files.place(texts, files)
    assert other == "random"
    assert (pathlib.Path(newest) / "checkpoints" / "9" / "manifest.json").read_text() == "checkpoints/9/manifest.json"
    assert not (pathlib.Path(newest) / "checkpoints" / "5").exists()
    assert (pathlib.Path(fifth) / "arrays.safetensors").read_text() == "checkpoints/5/arrays.safetensors"
    assert (pathlib.Path(fifth).parents[1] / "config.json").read_text() == "config.json"
    assert net == f"maxn(depth=2,net={newest})"
    weights = learned.removeprefix("negascout(learned=").removesuffix(")")
    assert pathlib.Path(weights).read_text() == "weights"


def test_other_contents_under_the_same_path_are_not_mistaken(home):
    files = shipped_files.collect(["w.json"])
    (home / "one" / "w.json").write_text("newer")
    (text,) = shipped_files.place(["w.json"], files)
    assert pathlib.Path(text).read_text() == "weights"
