"""Files of weights: what is written is read back to the bit, and what does not fit is refused."""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any

import jax
import numpy as np
import pytest

from boardrl import registry
from boardrl.errors import UserError
from boardrl.values import weight_file
from boardrl.values.weight_file import Weights
from games.jumper import Jumper
from launch.console import named_players

GAME = registry.make("jumper:size=4")
NAMES = ("pieces", "safe", "axes", "density")
STORED = Weights("jumper", "brunton2013", NAMES, (0.1, np.pi, -1e-9, 0.0), "python -m launch.train --game=jumper")


def test_read_back(tmp_path: pathlib.Path) -> None:
    weight_file.save(tmp_path / "w.json", STORED)
    assert weight_file.load(str(tmp_path / "w.json"), GAME) == STORED


def test_by_the_name_that_the_game_gives(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Jumper, "weight_files", {"mine": tmp_path / "w.json"})
    weight_file.save(tmp_path / "w.json", STORED)
    assert weight_file.load("mine", GAME) == STORED
    with pytest.raises(UserError, match="learned=other is not a file of weights; jumper has mine"):
        weight_file.load("other", GAME)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": 2}, "cannot be read as weights of format 1"),
        ({"values": ["a"]}, "cannot be read"),
        ({"values": None}, "cannot be read"),
        ({"format": True}, "cannot be read"),
        ({"values": {"1": 0, "2": 0, "3": 0, "4": 0}}, "its values are not a list of numbers"),
        ({"values": "1234"}, "its values are not a list of numbers"),
        ({"values": ["1", "2", "3", "4"]}, "its values are not a list of numbers"),
        ({"values": [True, 1, 1, 1]}, "its values are not a list of numbers"),
        ({"values": [float("nan"), 1, 1, 1]}, "cannot be read"),
        ({"values": [float("inf"), 1, 1, 1]}, "cannot be read"),
        ({"values": [1e308, 1, 1, 1]}, "its values are not all finite and of magnitude 1\\.\\d+e\\+30 at most"),
        ({"values": [10**400, 1, 1, 1]}, "its values are not all finite"),
        ({"values": [1.0, 2.0]}, "it has 4 names and 2 values"),
        ({"names": "pieces"}, "its names are not a list of texts"),
        ({"made_by": 7}, "its made_by is not a text"),
        ({"features": ["brunton2013"]}, "its features is not a text"),
        ({"game": "pig"}, "has weights for other features than jumper"),
        ({"names": ["pieces", "safe", "axes", "dense"]}, "has weights for other features"),
        ({"features": "none"}, "unknown features 'none' of jumper"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: pathlib.Path, change: dict[str, Any], words: str) -> None:
    path = tmp_path / "w.json"
    weight_file.save(path, STORED)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(UserError, match=words):
        weight_file.load(str(path), GAME)


@pytest.mark.parametrize("content", ["", "[]", "[" * 10**5, '{"format": 1}', "\ufffd"])
def test_files_of_something_else_are_refused(tmp_path: pathlib.Path, content: str) -> None:
    (tmp_path / "w.json").write_text(content)
    with pytest.raises(UserError, match="cannot be read as weights of format 1"):
        weight_file.load(str(tmp_path / "w.json"), GAME)


def test_only_files_of_bounded_size_are_read(tmp_path: pathlib.Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").touch()
    os.truncate(tmp_path / "large", 2**40)
    for path in ("/dev/zero", "/dev/stdin", str(tmp_path / "pipe"), str(tmp_path)):
        with pytest.raises(UserError, match=r"cannot be read as weights of format 1 \(it is not a regular file\)"):
            weight_file.load(path, GAME)
    with pytest.raises(UserError, match="it has 1,099,511,627,776 bytes"):
        weight_file.load(str(tmp_path / "large"), GAME)
    with pytest.raises(UserError, match="cannot be read as weights"):
        weight_file.load("a" * 5000, GAME)


@pytest.mark.parametrize("text", ["nan", "inf", "1e308"])
@pytest.mark.parametrize("features", ["features=brunton2013,", ""])
def test_typed_weights_are_checked_too(text: str, features: str) -> None:
    with pytest.raises(UserError, match=r"has the weight (nan|inf|1e\+308); expected numbers of magnitude 1\.\d+e\+30"):
        named_players.make(f"alphabeta(depth=1,{features}weights={text}+1+1+1)", GAME)


def test_the_largest_weights_can_be_searched_with(tmp_path: pathlib.Path) -> None:
    weight_file.save(tmp_path / "w.json", STORED._replace(values=(2.0**100, -(2.0**100)) * 2))
    (player,) = named_players.make(f"alphabeta(depth=2,learned={tmp_path / 'w.json'})", GAME)
    assert player.host is not None
    assert player.host.choose(GAME, jax.device_get(GAME.init()), np.random.default_rng(0)) >= 0
