"""Files of weights: what is written is read back to the bit, and what does not fit is refused."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np
import pytest

from boardrl import registry, weights
from boardrl.errors import UserError
from boardrl.weights import Weights
from games.jumper import Jumper

GAME = registry.make("jumper:size=4")
NAMES = ("pieces", "safe", "axes", "density")
STORED = Weights("jumper", "brunton2013", NAMES, (0.1, np.pi, -1e-9, 0.0), "python -m launch.train --game=jumper")


def test_read_back(tmp_path: pathlib.Path) -> None:
    weights.save(tmp_path / "w.json", STORED)
    assert weights.load(str(tmp_path / "w.json"), GAME) == STORED


def test_by_the_name_that_the_game_gives(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Jumper, "weight_files", {"mine": tmp_path / "w.json"})
    weights.save(tmp_path / "w.json", STORED)
    assert weights.load("mine", GAME) == STORED
    with pytest.raises(UserError, match="learned=other is no file of weights; jumper brings mine"):
        weights.load("other", GAME)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": 2}, "cannot be read as weights of format 1"),
        ({"values": ["a"]}, "cannot be read"),
        ({"values": None}, "cannot be read"),
        ({"game": "pig"}, "weighs other features than jumper has"),
        ({"names": ["pieces", "safe", "axes", "dense"]}, "weighs other features"),
        ({"features": "none"}, "unknown features 'none' of jumper"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: pathlib.Path, change: dict[str, Any], words: str) -> None:
    path = tmp_path / "w.json"
    weights.save(path, STORED)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(UserError, match=words):
        weights.load(str(path), GAME)
