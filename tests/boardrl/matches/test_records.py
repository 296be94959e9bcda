"""Matches that are stopped: what counts of them, and that they go on to the same numbers."""

from __future__ import annotations

import base64
import json
import tracemalloc
import zlib

import numpy as np
import pytest
from arena_bots import Moody
from tiny_games import Coin

from boardrl.errors import UserError
from boardrl.matches import arena, intervals, records
from boardrl.matches.records import Record, _packed
from boardrl.play import rollout
from boardrl.play.players import Bot, Player, make_lineup
from boardrl.play.policy import Policy, Uniform
from boardrl.runs.saved_results import Kept
from boardrl.tournaments import tournament
from games.tic_tac_toe import TicTacToe

GAME = TicTacToe()


class Stop:
    """A bar that is interrupted when so many games are done."""

    def __init__(self, at: int) -> None:
        self.at, self.began = at, 0

    def restart(self, done: int) -> None:
        self.began = done

    def update(self, done: int, note: str = "") -> None:
        if done >= self.at:
            raise KeyboardInterrupt

    def rest(self, first: int) -> Stop:
        return Stop(self.at - first)


def stopped(play, at: int):
    bar = Stop(at)
    with pytest.raises(KeyboardInterrupt):
        play(bar=bar)
    return bar.began


def lineup(kind):
    if kind == "policies":
        return make_lineup("random,perfect", GAME)
    return [Player("moody", host=Bot(Moody, {"patience": 1})), make_lineup("random", GAME)[0]]


@pytest.mark.parametrize(("kind", "num_games"), [("policies", 300), ("host", 12)])
def test_a_match_goes_on_to_the_same_numbers(kind, num_games, tmp_path, monkeypatch):
    monkeypatch.setattr(records, "SAVE_SECONDS", 0.0)  # after every call on the device
    monkeypatch.setattr(records, "SAVE_SHARE", 0.0)
    monkeypatch.setattr(arena, "TURNS", 3)
    monkeypatch.setattr(arena, "MAX_LANES", 16)
    players, path = lineup(kind), tmp_path / "match.jsonl"

    def play(record, bar=None):
        return arena.match(GAME, players, num_games=num_games, seed=5, record=record, bar=bar)

    whole = play(None)
    for at in (num_games // 3, 2 * num_games // 3):
        record = Record(Kept(path))
        began = stopped(lambda bar, record=record: play(record, bar), at)
        assert (began > 0) == (at > num_games // 2)  # what was there is not played again
        record.save()
        # A kill in the midst of a line costs that line alone.
        path.write_bytes(path.read_bytes()[:-9])
        assert 0 < record.num_counted <= record.num_over < num_games
    record = Record(Kept(path))
    assert play(record) == whole
    played = record.played()
    monkeypatch.setattr(rollout, "play", None)  # nothing is left to play
    finished = Record(Kept(path))
    assert play(finished) == whole
    for one, other in zip(played, finished.played(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_counts_of_a_stopped_match_does_not_favour_short_games():
    """Of games that are long for one side, all that are over would be wins of the other."""
    game = Coin(heads=0.5, delay=60)
    record = Record()
    players = [Player("random", Policy(Uniform(game))) for _ in range(2)]
    stopped(lambda bar: arena.match(game, players, num_games=40_000, seed=1, record=record, bar=bar), 12_000)
    played = record.played()
    assert record.num_counted == len(played.cut)
    assert record.num_counted % arena.MAX_LANES == 0
    assert 0 < record.num_counted < record.num_over
    wins = int((played.returns[:, 0] > 0).sum())
    low, high = intervals.wilson(wins, len(played.cut), confidence=0.999)
    assert low < 0.5 < high
    assert (np.unique(played.seating[:, 0], return_counts=True)[1] == record.num_counted // 2).all()


def test_before_the_first_round_nothing_counts():
    game = Coin(heads=0.5, delay=60)
    record = Record()
    players = [Player("random", Policy(Uniform(game))) for _ in range(2)]
    stopped(lambda bar: arena.match(game, players, num_games=1000, seed=1, record=record, bar=bar), 1)
    assert record.num_over > 400  # heads
    assert record.num_counted == 0
    match = arena.score(players, record.played(), seed=1)
    assert (match.num_games, match.players[0].win_rate, match.players[0].high) == (0, 0.0, 1.0)


def test_a_tournament_goes_on_and_shows_the_games_so_far(tmp_path):
    players, path = (
        [*make_lineup("random,greedy", GAME), Player("moody", host=Bot(Moody, {}))],
        tmp_path / "games.jsonl",
    )

    def play(records, bar=None):
        return tournament.play(GAME, players, games=60, seed=2, records=records, bar=bar, processes=1)

    whole = play(tournament.Records())
    records = tournament.Records(Kept(path))
    with pytest.raises(KeyboardInterrupt):
        play(records, Stop(36))
    so_far = tournament.rank(players, records.played())
    assert 30 < so_far.num_games < 90
    assert so_far.players[0].games > so_far.players[2].games > 0  # policies come first
    records.save()
    del records
    assert play(tournament.Records(Kept(path))) == whole


def test_rows_that_do_not_fit_are_refused(tmp_path):
    path = tmp_path / "match.jsonl"
    players = lineup("policies")
    arena.match(GAME, players, num_games=64, seed=5, record=Record(Kept(path)))
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    bomb = base64.b64encode(zlib.compress(bytes(1 << 24), 9)).decode()
    done = _packed(np.full(64, 10**6))
    for change in (
        {"lanes": []},
        {"done": "AAAA"},
        {"done": bomb},
        {"done": done},
        {"games": [1, 2, 3, 4]},
        {"games": [_packed(np.full((64, 2), np.nan, np.float32)), *rows[-1]["found"]["games"][1:]]},
        {"chunk": None},
        {"chunk": -1},
        {"chunk": "1"},
    ):
        bad = [{"key": row["key"], "found": {**row["found"], **change}} for row in rows]
        path.write_text("".join(json.dumps(row) + "\n" for row in bad))
        with pytest.raises(UserError, match="is damaged, or was written by another version of boardrl"):
            arena.match(GAME, players, num_games=64, seed=5, record=Record(Kept(path)))


@pytest.mark.parametrize(
    "found",
    [
        [[1.0], False, 5, True, False],
        [[1.0, "-1"], False, 5, True, False],
        [[1.0, -1.0], 0, 5, True, False],
        [[1.0, -1.0], False, -5, True, False],
        [[1.0, -1.0], False, 1 << 65, True, False],
        [[1.0, -1.0], False, "5", True, False],
        [[1.0, -1.0]],
        {"returns": [1.0, -1.0]},
        7,
    ],
)
def test_games_that_are_none_are_refused(tmp_path, found):
    kept = Kept(tmp_path / "match.jsonl")
    kept.add("game 0", found)
    with pytest.raises(UserError, match="is damaged, or was written by another version of boardrl"):
        arena.match(GAME, lineup("host"), num_games=2, seed=5, record=Record(kept))


def test_a_row_unpacks_to_no_more_than_fits():
    bomb = base64.b64encode(zlib.compress(bytes(1 << 26), 9)).decode()
    tracemalloc.start()
    with pytest.raises(ValueError, match="too long"):
        records._unpacked(bomb, np.zeros(4))
    assert tracemalloc.get_traced_memory()[1] < 1 << 23
    tracemalloc.stop()
