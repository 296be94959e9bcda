"""Searchers, runs and humans as players: what the library and every process know of them."""

from __future__ import annotations

import pytest

from boardrl import arena, players
from boardrl.errors import UserError
from games.pig import Pig
from games.tic_tac_toe import TicTacToe
from launch import lineup


def test_the_library_and_other_processes_find_searchers_and_refuse_humans():
    game = TicTacToe()
    assert players.make("negascout(depth=2)", game).host.searcher.budget.depth == 2
    match = arena.match(game, ["negascout(depth=2,kilobytes=64)", "random"], num_games=4, seed=0, processes=1)
    assert match.players[0].name == "negascout(depth=2,kilobytes=64)"
    assert match.players[0].losses == 0
    with pytest.raises(UserError, match=r"a human plays in launch.play alone"):
        players.make("human", game)


def test_an_install_that_is_older_than_the_code_is_said(monkeypatch):
    monkeypatch.setattr(lineup.entry_points, "of", lambda group: [])
    with pytest.raises(UserError, match=r"run pip install -e . once more"):
        lineup.make("random", Pig())
