"""Replay files: what is written is read again and agrees with the rules; anything else is refused in one sentence."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from boardrl.errors import UserError
from boardrl.matches import arena, replay_file
from boardrl.matches.replay_file import Recorder, Replay, Result
from boardrl.play.players import make_lineup
from games.pig import Pig

GAME = Pig(target=8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The replays of a match."""
    path = tmp_path_factory.mktemp("games")
    lineup = make_lineup("hold(total=3),random", GAME)
    recorder = Recorder(path, GAME, ["hold(total=3)", "random"], seed=4)
    match = arena.match(GAME, lineup, num_games=20, seed=4, recorder=recorder)
    return path, match


def test_the_replays_of_a_match_are_its_games(folder):
    path, match = folder
    assert sorted(file.name for file in path.iterdir()) == sorted(f"game-{index}.json" for index in range(20))
    wins = 0
    for file in path.iterdir():
        replay = replay_file.read(file)
        assert (replay.text, replay.seed) == ("pig:target=8", 4)
        steps = list(replay_file.follow(file, replay, replay_file.game_of(file, replay, "pig:target=8")))
        assert len(steps) == len(replay.moves) + len(replay.outcomes)
        assert steps[-1].over
        assert replay.result is not None
        assert replay.result.returns == tuple(steps[-1].returns.tolist())
        wins += replay.result.returns[replay.players.index("hold(total=3)")] > 0
        assert replay.players[replay.number % 2] == "hold(total=3)"
    assert wins == match.players[0].wins


def test_the_same_seed_gives_the_same_match_with_and_without_replays(folder):
    assert arena.match(GAME, make_lineup("hold(total=3),random", GAME), num_games=20, seed=4) == folder[1]


def by_hand() -> dict[str, Any]:
    """Seat 0 rolls a six and a four, holds 8 of 8, and wins."""
    replay = Replay("pig", "target=8", ("a", "b"), 0, (0, 0, 1), (5, 3), Result((1.0, -1.0), False))
    return json.loads(json.dumps({"kind": replay_file.KIND, "format": 1, **replay._asdict()})) | {
        "result": {"returns": [1.0, -1.0], "cut": False}
    }


def check(path, content) -> int:
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    replay = replay_file.read(path)
    return len(list(replay_file.follow(path, replay, replay_file.game_of(path, replay))))


def test_a_game_by_hand(tmp_path):
    assert check(tmp_path / "a.json", by_hand()) == 5
    assert check(tmp_path / "b.json", by_hand() | {"moves": [0, 0], "result": None}) == 4  # broken off


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"moves": [1, 0, 1]}, "step 1 has the action of seat 0 1; the rules allow 0"),
        ({"outcomes": [5, 6]}, "step 4 has the outcome 6; the rules allow 0, 1, 2, 3, 4, 5"),
        ({"moves": [0, 0, 1, 0]}, "the game is over after 5 steps, and 1 more follow"),
        ({"moves": [0, 0]}, "the game is not over after its 4 steps, and yet has a result"),
        ({"outcomes": [5]}, "an outcome is missing at step 4"),
        ({"result": {"returns": [-1.0, 1.0], "cut": False}}, "the result is -1, 1; by the rules it is 1, -1"),
        ({"result": {"returns": [1.0], "cut": False}}, "the result is 1; by the rules"),
        ({"result": {"returns": [1.0, -1.0], "cut": True}}, "the result says that the game was cut"),
        ({"result": {"returns": [1.0, "x"], "cut": False}}, "its result is not what it should be"),
        ({"players": ["a"]}, "names 1 players; pig:target=8 has 2"),
        ({"moves": [-1]}, "its moves is not what it should be"),
        ({"moves": [0.5]}, "its moves is not what it should be"),
        ({"game": "pgi"}, "unknown game 'pgi'"),
        ({"game": "os:system"}, "unknown game"),
        ({"options": "target=-3"}, "target=-3"),
        ({"moves": [0] * 9000}, "has more steps than pig:target=8 can have"),
        ({"format": 2}, "it is another file, or of another format"),
        ({"players": ["a", "\x1b[2J"]}, "its players is not what it should be"),
    ],
)
def test_what_is_no_game_is_refused(tmp_path, change, says):
    with pytest.raises(UserError) as refused:
        check(tmp_path / "game.json", by_hand() | change)
    assert says in str(refused.value)


@pytest.mark.parametrize("content", ["", "[", "[]", "{}", "nul", '{"kind": NaN}', "[" * 100_000])
def test_other_files_are_refused(tmp_path, content):
    with pytest.raises(UserError, match="cannot be read as a replay of format 1"):
        check(tmp_path / "game.json", content)
    with pytest.raises(UserError, match="does not exist"):
        replay_file.read(tmp_path / "none.json")
    with pytest.raises(UserError, match="cannot be read"):
        replay_file.read(tmp_path)


def test_another_game_than_the_named_is_refused(tmp_path):
    path = tmp_path / "game.json"
    path.write_text(json.dumps(by_hand()))
    with pytest.raises(UserError, match="is a game of pig:target=8, not of pig"):
        replay_file.game_of(path, replay_file.read(path), "pig")


def test_cut_games_are_recorded_as_they_stood(tmp_path):
    from tiny_games import Coin

    game = Coin(heads=0.0, max_steps=7)
    steps = [(-1, 1)] * 7
    replay = Replay("coin", "", ("a", "b"), 0, (), tuple(move for _, move in steps), Result((0.0, 0.0), True))
    found = list(replay_file.follow(tmp_path, replay, game))
    assert len(found) == 7
    assert not found[-1].over
    with pytest.raises(UserError, match="is not over after its 6 steps"):
        list(replay_file.follow(tmp_path, replay._replace(outcomes=replay.outcomes[:6]), game))
    assert np.asarray(found[-1].returns).tolist() == [0.0, 0.0]


def test_outcomes_that_cannot_fall_are_refused(tmp_path):
    from tiny_games import Coin

    replay = Replay("coin", "", ("a", "b"), 0, (), (0,), Result((1.0, -1.0), False))
    with pytest.raises(UserError, match="step 1 has the outcome 0; the rules allow 1"):
        list(replay_file.follow(tmp_path, replay, Coin(heads=0.0)))
