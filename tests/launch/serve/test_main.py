"""The command: mistakes are told before the server starts."""

from __future__ import annotations

import contextlib
import json
import sys

import pytest

from boardrl.errors import UserError
from launch.serve.__main__ import Settings, listen, main, start_of


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(UserError, match=r"the page needs uvicorn; run pip install -e '.\[serve\]'"):
        main(Settings())


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (Settings(game="tic_tac_to"), "did you mean 'tic_tac_toe'"),
        (Settings(players="human"), "is played by 2"),
        (Settings(players="human,nobody"), "unknown player 'nobody'"),
        (Settings(position="X"), "bad position 'X'"),
        (Settings(replay="none.json"), "does not exist"),
        (Settings(replay="none.json", players="human,random"), "leave one of them out"),
    ],
)
def test_mistakes_are_one_sentence(settings, sentence):
    with pytest.raises(UserError, match=sentence):
        start_of(settings)


def test_a_replay_is_followed_before_it_is_shown(tmp_path):
    content = {
        "kind": "boardrl replay", "format": 1, "game": "tic_tac_toe", "options": "", "players": ["a", "b"],
        "seed": 0, "number": 0, "moves": [0, 3, 1, 4, 2], "outcomes": [], "result": {"returns": [1, -1], "cut": False},
    }  # fmt: skip
    path = tmp_path / "game.json"
    path.write_text(json.dumps(content))
    start = start_of(Settings(replay=str(path)))
    assert (start.game, start.replay.moves) == ("tic_tac_toe", (0, 3, 1, 4, 2))
    path.write_text(json.dumps({**content, "moves": [0, 0]}))
    with pytest.raises(UserError, match="no game by the rules"):
        start_of(Settings(replay=str(path)))


def test_a_port_that_is_taken():
    with (
        contextlib.closing(listen("127.0.0.1", 0)) as first,
        pytest.raises(UserError, match="choose another port"),
    ):
        listen("127.0.0.1", first.getsockname()[1])
    with pytest.raises(UserError, match="is no port"):
        listen("127.0.0.1", 70000)
