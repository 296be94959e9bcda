"""Searches that are watched: the same result, and an end when somebody asks for it."""

from __future__ import annotations

import threading

from boardrl import registry
from launch.console import search_progress
from search.budget import Budget
from search.searcher import Searcher


def test_a_watched_search_finds_the_same() -> None:
    game = registry.make("tic_tac_toe")
    one, other = (Searcher(game, "alphabeta", budget=Budget(depth=5, kilobytes=256)) for _ in range(2))
    watched, plain = search_progress.search(one, game.init()), other.search(game.init())
    assert (watched.nodes, watched.value.tolist()) == (plain.nodes, plain.value.tolist())
    assert sorted(one.nodes_to) == [1, 2, 3, 4, 5]
    assert one.nodes_to[5] == plain.nodes


def test_a_search_without_limits_can_be_stopped() -> None:
    game = registry.make("connect_four")  # to whose end no plain search comes
    search = Searcher(game, "minimax", budget=Budget(kilobytes=256))
    timer = threading.Timer(0.3, search.stop)
    timer.start()
    result = search_progress.search(search, game.init())
    timer.join()
    assert not result.exact
    assert result.depth >= 3
