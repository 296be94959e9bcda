"""Duplicate dice: the same outcomes in all games of a group, on the device and on the host; groups as observations."""

from __future__ import annotations

import collections
import json
import pathlib
from typing import Any

import numpy as np
import pytest

from boardrl.errors import UserError
from boardrl.matches import arena, duplicate, host_match, observations, replay_file
from boardrl.matches.records import Record
from boardrl.matches.replay_file import Recorder
from boardrl.play.bots import Bot
from boardrl.play.players import Player, make_lineup
from boardrl.runs.saved_results import Kept
from games.pig import Pig
from games.tic_tac_toe import TicTacToe

GAME = Pig(players=3, target=15)


class Rolls:
    """Holds at six."""

    def choose(self, game: Any, state: Any, rng: np.random.Generator) -> int:
        return int(state.total >= 6)


def outcomes_by_group(lineup: Any, folder: pathlib.Path, **more: Any) -> dict[int, list[tuple[int, ...]]]:
    recorder = Recorder(folder, GAME, [player.name for player in lineup], seed=9)
    arena.match(GAME, lineup, num_games=30, seed=9, recorder=recorder, **more)
    found = collections.defaultdict(list)
    for path in sorted(folder.iterdir()):
        replay = replay_file.read(path)
        list(replay_file.follow(path, replay, GAME))
        found[replay.number // 3].append(replay.outcomes)
    return found


@pytest.mark.parametrize("on_host", [False, True])
def test_games_of_a_group_have_the_same_dice(tmp_path, on_host):
    lineup = make_lineup("hold(total=4),random,random", GAME)
    if on_host:
        lineup[0] = Player("rolls", host=Bot(Rolls))
    groups = outcomes_by_group(lineup, tmp_path, duplicate=True)
    assert len(groups) == 10
    for games in groups.values():
        assert len(games) == 3
        for k in range(max(map(len, games))):
            assert len({game[k] for game in games if k < len(game)}) == 1
    first = {games[0][:6] for games in groups.values()}
    assert len(first) == 10  # and groups differ
    (tmp_path / "plain").mkdir()
    plain = outcomes_by_group(lineup, tmp_path / "plain")
    assert any(len({game[:6] for game in games}) > 1 for games in plain.values())


def test_equal_players_in_all_seats_get_equal_results():
    """Three times the same player, who leaves nothing to chance but the dice: in a group each wins once."""
    match = arena.match(
        GAME, make_lineup("hold(total=4)," * 2 + "hold(total=4)", GAME), num_games=31, seed=2, duplicate=True
    )
    assert match.num_games == 33
    assert match.observations == 11
    assert {score.wins for score in match.players} == {11}
    assert all(score.low < 1 / 3 < score.high for score in match.players)


def test_the_interval_treats_a_group_as_one_observation():
    won = np.array([True, True, False, False, True, True, False, False])
    group = np.repeat(np.arange(4), 2)
    assert observations.grouped(won, group).tolist() == [1.0, 0.0, 1.0, 0.0]
    low, high = observations.win_rate_interval(won, group)
    # Var = (1/3) / 4 and p (1 − p) = 1/4: as certain as three games, and Student's t of three degrees of freedom.
    trials = 3 * (1.959964 / 3.182446) ** 2
    middle, reach = 0.5, 1.959964 * np.sqrt(0.25 / trials + 1.959964**2 / (4 * trials**2)) / (1 + 1.959964**2 / trials)
    assert (low, high) == (pytest.approx(middle - reach, abs=1e-5), pytest.approx(middle + reach, abs=1e-5))
    opposite = observations.win_rate_interval(np.array([True, False] * 8), np.repeat(np.arange(8), 2))
    assert opposite[0] > 0.2
    assert opposite[1] < 0.8


def test_same_seed_same_result_and_resume(tmp_path):
    lineup = make_lineup("hold(total=4),random,random", GAME)
    more: dict[str, Any] = {"num_games": 300, "seed": 3, "duplicate": True, "control": "exact"}
    whole = arena.match(GAME, lineup, **more)
    assert whole == arena.match(GAME, lineup, **more)
    path = tmp_path / "match.jsonl"

    class Stop(Exception):
        pass

    class Broken(Record):
        def advance(self, batch):  # type: ignore[no-untyped-def]
            super().advance(batch)
            if batch.chunk == 1:
                self.save()
                raise Stop

    with pytest.raises(Stop):
        arena.match(GAME, lineup, record=Broken(Kept(path, {"a": 1})), **more)
    resumed = arena.match(GAME, lineup, record=Record(Kept(path, {"a": 1})), **more)
    assert resumed == whole


def test_resume_on_the_host(tmp_path):
    lineup = [Player("rolls", host=Bot(Rolls)), *make_lineup("random,random", GAME)]
    more: dict[str, Any] = {"num_games": 12, "seed": 3, "duplicate": True, "control": "exact"}
    whole = arena.match(GAME, lineup, **more)
    path = tmp_path / "match.jsonl"
    arena.match(GAME, lineup, record=Record(Kept(path, {"a": 1})), **more)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:7]))
    assert len(json.loads(lines[3])["found"][5]) == 3  # the luck of each seat
    assert arena.match(GAME, lineup, record=Record(Kept(path, {"a": 1})), **more) == whole


def test_an_opening_is_shared_where_there_are_no_dice():
    game = TicTacToe()
    lineup = [Player("first", host=Bot(First)), Player("first", host=Bot(First))]
    openings = collections.defaultdict(set)
    for index in range(8):
        made: list[Any] = []
        host_match.play_game(game, lineup, seed=1, index=index, opening=2, watch=made.append, group=index // 2)
        openings[index // 2].add(tuple(step.move for step in made[:2]))
    assert all(len(found) == 1 for found in openings.values())
    assert len({next(iter(found)) for found in openings.values()}) > 1
    batched = arena.match(game, make_lineup("random,random", game), num_games=8, seed=1, opening=9, duplicate=True)
    assert batched.players[0].wins == batched.players[1].wins  # all nine moves are the same in both games of a pair


class First:
    def choose(self, game: Any, state: Any, rng: np.random.Generator) -> int:
        return int(np.flatnonzero(game.legal(state))[0])


def test_without_dice_there_is_nothing_to_share():
    with pytest.raises(UserError, match="tic_tac_toe has no dice that games could share"):
        arena.match(TicTacToe(), make_lineup("random,random", TicTacToe()), num_games=4, seed=0, duplicate=True)
    assert duplicate.whole_groups(5, 4) == 8


def test_a_lanes_games_have_dice_of_their_own():
    """Of two lanes' games the second begins with other dice than the first, the same in both lanes."""
    first = duplicate.first_dice(8, 2)
    assert first.group.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    second = first.group + first.stride
    assert second.tolist() == [4, 4, 5, 5, 6, 6, 7, 7] == duplicate.group_of(np.arange(8) + 8, 2).tolist()
