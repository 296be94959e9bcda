"""The best moves: each has the value that a plain search gives its successor, the first is that of a plain search."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from reference_search import Jumper, OnRows, Pig, TicTacToe, expectation, minimax, random_positions
from test_dice import last_positions, maxn, near_the_end, paranoid

from boardrl import host, registry
from boardrl.errors import UserError
from boardrl.game import CHANCE
from search import evaluators, searchers
from search.analysis import multi_pv, turns
from search.budget import Budget
from search.searcher import Searcher


def searcher(game: Any, kind: str, *, weights: Any = (), **budget: Any) -> Searcher:
    facet = host.of(game)
    evaluator = evaluators.linear(facet, weights) if weights else evaluators.none(facet)
    return Searcher(game, kind, budget=Budget(kilobytes=512, **budget), evaluator=evaluator)


def check(search: Searcher, other: Searcher, row: np.ndarray, want: dict[bytes, Any]) -> None:
    """Compares all moves with {successor: what it is worth to the player to act}; `other` is the same searcher."""
    view = int(search.facet.actor(row, search.memory.work))
    search.reset()
    other.reset()
    result, moves = multi_pv.best_moves(search, search.facet.state(row), 1000)
    found = {move.line[1].tobytes(): move.value[view] for move in moves}
    assert found.keys() == want.keys()
    np.testing.assert_allclose([found[key] for key in want], list(want.values()), atol=1e-6)
    values = [move.value[view] for move in moves]
    np.testing.assert_allclose(values, sorted(values, reverse=True), atol=1e-6)
    plain = other.search_row(row)
    assert (result.depth, result.exact) == (plain.depth, plain.exact)
    np.testing.assert_array_equal(moves[0].value, plain.value)
    assert [r.tolist() for r in moves[0].line] == [r.tolist() for r in other.complete(plain).line]


@pytest.mark.parametrize("kind", ["minimax", "alphabeta", "negascout"])
def test_tic_tac_toe(kind: str) -> None:
    plain, game = TicTacToe(), registry.make("tic_tac_toe")
    value = minimax(plain)
    for depth in (1, 3, 9):
        pair = [searcher(game, kind, depth=depth) for _ in range(2)]
        for position in random_positions(plain, 8, after=3, seed=depth):
            sign = 1 if position[1] == 0 else -1
            after = plain.moves(position)
            winners = [{1.0: 0, -1.0: 1}.get(plain.over(a) or 0.0, -1) for a in after]
            states = plain.states(after)._replace(winner=np.array(winners, np.int32))
            keys = [row.tobytes() for row in pair[0].facet.row(states)]
            check(
                *pair,
                pair[0].facet.row(plain.states([position]))[0],
                {key: sign * value(a, depth - 1) for key, a in zip(keys, after, strict=True)},
            )


def test_turns_of_several_actions() -> None:
    """A successor is one hop of a chain: a move is the best turn that begins with it, followed to its end."""
    plain, game = Jumper(4), registry.make("jumper:size=4")
    facet = host.of(game)
    value = minimax(plain, lambda position: plain.lead(position, 0.7))
    search, other = [searcher(game, "negascout", weights=(0.7, 0, 0, 0), depth=2) for _ in range(2)]
    for position in random_positions(plain, 6, after=4, seed=0):
        sign = 1 if position[1] == 0 else -1
        row = facet.row(plain.states([position]))[0]
        best = sign * value(position, 2)
        result, moves = multi_pv.best_moves(search, facet.state(row), 1000)
        np.testing.assert_allclose(moves[0].value[position[1]], best, atol=1e-6)
        plain_result = other.search_row(row)
        assert (result.depth, result.exact) == (plain_result.depth, plain_result.exact)
        np.testing.assert_array_equal(moves[0].value, plain_result.value)
        taken = [turns.turns(facet, move.line)[0] for move in moves]
        assert sorted(turn.actions[0] for turn in taken) == facet.actions(row).tolist()
        for move, turn in zip(moves, taken, strict=True):
            state = facet.state(row)
            for action in turn.actions:
                state = game.step(state, np.int32(action))
            assert int(game.actor(state)) != position[1]
            (end,) = [a for a in plain.moves(position) if (plain.states([a]).board[0] == state.board).all()]
            np.testing.assert_allclose(move.value[position[1]], sign * value(end, 1), atol=1e-6)


def test_pig() -> None:
    plain = Pig(2, 30)
    pair = [searcher(registry.make("pig:target=30"), "expectimax", depth=3) for _ in range(2)]
    for position in [p for p in near_the_end(plain, 20, 1) if plain.actor(p) >= 0]:
        view = plain.actor(position)
        compare_to_expectation(plain, paranoid(view), pair, pair[0].facet.row(plain.states([position]))[0], position, 3)


@pytest.mark.parametrize("kind", ["expectimax", "paranoid", "maxn"])
def test_small_ludo(kind: str) -> None:
    players = 2 if kind == "expectimax" else 3
    game = registry.make(f"ludo:rules=sdu_java,ring=8,column=2,pieces=2,players={players}")
    plain = OnRows(host.of(game))
    for depth in (1, 3):
        pair = [searcher(game, kind, depth=depth) for _ in range(2)]
        for position in [p for p in last_positions(plain, 4, 8, seed=5) if plain.actor(p) >= 0]:
            view = plain.actor(position)
            combine = maxn if kind == "maxn" else paranoid(view)
            compare_to_expectation(plain, combine, pair, plain.row(position), position, depth)


def compare_to_expectation(plain: Any, combine: Any, pair: Any, row: Any, position: Any, depth: int) -> None:
    value, view = expectation(plain, combine), plain.actor(position)
    want = {}
    for after in plain.moves(position):
        key = after if isinstance(after, bytes) else pair[0].facet.row(plain.states([after]))[0].tobytes()
        want[key] = value(after, depth - (plain.actor(after) != view))[view]
    check(*pair, row, want)


def test_moves_are_those_of_the_last_depth_that_the_budget_allowed() -> None:
    game = registry.make("connect_four")
    limit = 3000
    found, moves = multi_pv.best_moves(searcher(game, "negascout", nodes=limit), game.init(), 7)
    assert found.nodes <= limit
    assert 1 < found.depth < 10
    again, same = multi_pv.best_moves(searcher(game, "negascout", depth=found.depth), game.init(), 7)
    assert [move.value.tolist() for move in moves] == [move.value.tolist() for move in same]
    assert again.depth == found.depth
    assert [len(turns.turns(host.of(game), move.line)) for move in moves] == [found.depth] * 7
    # Not one depth: all moves as they stand.
    found, moves = multi_pv.best_moves(searcher(game, "negascout", nodes=1), game.init(), 3)
    assert (found.depth, len(moves), {len(move.line) for move in moves}) == (0, 3, {2})


def test_what_cannot_be_ranked() -> None:
    game = registry.make("tic_tac_toe")
    search = searcher(game, "negascout", depth=2)
    with pytest.raises(UserError, match="0 is not a number of moves"):
        multi_pv.best_moves(search, game.init(), 0)
    with pytest.raises(UserError, match="the game is over"):
        multi_pv.best_moves(search, game.from_text("XXX OO. ... 1"), 1)
    ludo = registry.make("ludo:rules=sdu_java,ring=8,column=2,pieces=2,players=2")
    assert int(ludo.actor(ludo.init())) == CHANCE
    with pytest.raises(UserError, match="dice are to be thrown"):
        multi_pv.best_moves(searcher(ludo, "expectimax", depth=1), ludo.init(), 1)


def test_a_searcher_by_simulations_ranks_moves_by_how_often_it_tried_them() -> None:
    """What it plays need not be what it tried most: a win that is certain is worth more."""
    game: Any = registry.make("tic_tac_toe")
    state = game.from_text("XX. .O. ..O 0")
    search = searchers.make(game, "mcts", budget=Budget(nodes=200, kilobytes=512))
    found, moves = multi_pv.best_moves(search, state, 4)
    won = search.facet.row(game.from_text("XXX .O. ..O 1"))
    assert len(moves) == 4
    assert (moves[0].line[1] == won).all()
    assert (moves[0].value.tolist(), found.exact) == ([1.0, -1.0], True)
    search = searchers.make(registry.make("connect_four"), "mcts", budget=Budget(nodes=300, kilobytes=512))
    found, moves = multi_pv.best_moves(search, search.game.init(), 9)
    assert len(moves) == 7
    by_row = {move.row.tobytes(): move for move in search.root_moves()}
    visits = [by_row[move.line[1].tobytes()].visits for move in moves]
    assert visits == sorted(visits, reverse=True)
    assert sum(visits) == found.nodes - 1
    for move in moves:
        np.testing.assert_array_equal(move.value, by_row[move.line[1].tobytes()].value)
