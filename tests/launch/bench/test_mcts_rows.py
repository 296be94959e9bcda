"""The benchmark of Monte Carlo tree search, against the real OpenSpiel where it is installed ([bench])."""

from __future__ import annotations

import pytest

from launch.bench import mcts_rows


def test_a_match_is_scored_from_both_seats(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both actions and results of the two programs agree, or the match would raise."""
    pytest.importorskip("pyspiel")
    monkeypatch.setattr(mcts_rows, "MATCH_GAMES", 2)
    monkeypatch.setattr(mcts_rows, "MATCH_MS", 2.0)
    match = mcts_rows.Match("tic_tac_toe")
    points = match.ours()
    assert points in (0.0, 25.0, 50.0, 75.0, 100.0) or points == pytest.approx(1e-9)
    assert points + match.theirs() == pytest.approx(100.0)
    assert match.round == 1


def test_a_rate_counts_simulations_of_a_fresh_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcts_rows, "SIMULATIONS", 500)
    monkeypatch.setattr(mcts_rows, "processor_seconds", lambda work: 0.25 if work().nodes == 500 else 0.0)
    assert mcts_rows.our_rate("tic_tac_toe")() == 2000.0
