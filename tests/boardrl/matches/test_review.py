"""Reviews: losses and luck by exact values add up to the result, and judges agree where they must."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

from boardrl.exact import solve
from boardrl.matches import arena, luck, replay_file, review
from boardrl.matches.replay_file import Recorder
from boardrl.matches.review import ValueJudge
from boardrl.play.players import make_lineup
from games.pig import Pig
from search import searchers
from search.analysis.judge import SearchJudge
from search.budget import Budget

GAME = Pig(target=6)
PLAYERS = ("random", "hold(total=3)")


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    folder = tmp_path_factory.mktemp("games")
    arena.match(
        GAME,
        make_lineup(",".join(PLAYERS), GAME),
        num_games=8,
        seed=1,
        recorder=Recorder(folder, GAME, PLAYERS, seed=1),
    )
    return [(path, replay_file.read(path)) for path in sorted(folder.iterdir())]


def reviewed(game: tuple[pathlib.Path, replay_file.Replay], judge: review.Judge) -> review.Review:
    path, replay = game
    return review.review(GAME, replay.players, replay_file.follow(path, replay, GAME), judge)


def test_with_exact_values_result_is_value_luck_and_losses(games):
    value = solve.solve(GAME).values[0]
    judge = ValueJudge(GAME, luck.make("exact", GAME))
    lost = []
    for game in games:
        found = reviewed(game, judge)
        assert all(one.loss >= 0 for one in found.decisions)
        totals = found.totals
        for seat in range(2):
            sum_ = value[seat] + totals[seat].luck - totals[seat].loss + totals[1 - seat].loss
            assert totals[seat].result == pytest.approx(sum_, abs=1e-4)
            assert totals[seat].adjusted == pytest.approx(totals[seat].result - totals[seat].luck)
            assert totals[seat].player == game[1].players[seat]
        assert len(found.rolls) == len(game[1].outcomes)
        lost += [(total.player, total.loss) for total in totals]
    mean = {name: np.mean([loss for player, loss in lost if player == name]) for name in PLAYERS}
    assert mean["random"] > mean["hold(total=3)"]


def test_a_search_to_the_end_judges_as_the_exact_values(games):
    """To hold ends the game or the turn: near the end a search sees all of it."""
    game = Pig(target=2)
    exact = ValueJudge(game, luck.make("exact", game))
    searcher = searchers.make(game, "expectimax", budget=Budget(depth=40, kilobytes=4096))
    judge = SearchJudge("expectimax(depth=40)", searcher)
    state = game.from_text("0 0 2 0 decides")
    np.testing.assert_allclose(judge.actions(state), exact.actions(state), atol=1e-3)
    rolling = game.from_text("0 0 0 0 rolls")
    np.testing.assert_allclose(judge.outcomes(rolling, 0), exact.outcomes(rolling, 0), atol=1e-3)
