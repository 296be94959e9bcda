"""Monte Carlo tree search: exact play as simulations grow, chance, several players, memory and the kept tree."""

from __future__ import annotations

import re
from typing import Any

import jax
import numpy as np
import pytest
from reference_search import OnRows, Pig, random_positions

from boardrl import host, registry
from boardrl.errors import UserError
from boardrl.exact import solve
from boardrl.game import CHANCE
from boardrl.matches import arena
from boardrl.play import players
from search import evaluators, searchers
from search.budget import Budget
from search.kernel import tree
from search.kernel.tree import CHILDREN, FIRST, NUM_NODES, VALUES, VISITS
from search.tree_searcher import TreeSearcher


def mcts(game: Any, nodes: int, *, kilobytes: int = 8192, evaluator: Any = None, **options: Any) -> Any:
    budget = Budget(nodes=nodes, kilobytes=kilobytes)
    options = searchers.find("mcts").options(**options)
    return searchers.make(game, "mcts", options, budget=budget, evaluator=evaluator)


# --- solved games -----------------------------------------------------------------------------------------------------


def optimal_share(game: Any, searcher: Any, solution: Any, rows: list[np.ndarray]) -> float:
    """How often the move is one of the best, over positions in which not every move is."""
    right = total = 0
    index = jax.jit(solution.index)
    for row in rows:
        number = int(index(searcher.facet.state(row)))
        best, legal = solution.optimal[number], solution.graph.child[number] >= 0
        if best.sum() < legal.sum():
            searcher.reset()
            action = searcher.facet.action(row, searcher.search_row(row).line[1])
            right, total = right + bool(best[action]), total + 1
    assert total > 10
    return right / total


def test_tic_tac_toe_is_played_perfectly_as_simulations_grow() -> None:
    game = registry.make("tic_tac_toe")
    plain = OnRows(host.of(game))
    rows = [plain.row(position) for position in random_positions(plain, 60, after=1, seed=0)]
    solution = solve.solve(game)
    shares = [optimal_share(game, mcts(game, nodes), solution, rows) for nodes in (10, 20_000)]
    assert shares[0] < 0.9
    assert shares[1] == 1.0


def test_what_is_certain_is_exact() -> None:
    """Late positions of tic-tac-toe are searched to the end: their values are the solved ones."""
    game = registry.make("tic_tac_toe")
    plain = OnRows(host.of(game))
    solution = solve.solve(game)
    searcher, index = mcts(game, 20_000), jax.jit(solution.index)
    for position in random_positions(plain, 30, after=4, seed=2):
        row = plain.row(position)
        result = searcher.search_row(row)
        assert result.exact
        np.testing.assert_array_equal(result.value, solution.values[int(index(searcher.facet.state(row)))])
        assert result.nodes < 20_000


@pytest.mark.parametrize("num_players", [2, 3])
def test_dice_and_several_players(num_players: int) -> None:
    game: Any = registry.make(f"pig:players={num_players},target=12")
    solution = solve.solve(game)
    searcher, index = mcts(game, 20_000), jax.jit(solution.index)
    plain = Pig(num_players, 12)
    positions = [p for p in random_positions(plain, 60, seed=5) if not p[3] and p[1]]
    rows = searcher.facet.row(plain.states(positions))
    wrong = 0
    for row in rows[:12]:
        number = int(index(searcher.facet.state(row)))
        result = searcher.search_row(row)
        seat, children = solution.graph.actor[number], solution.graph.child[number]
        # Where the others' moves are nearly as good as each other, what is left for third players hangs on them.
        np.testing.assert_allclose(result.value[seat], solution.values[number, seat], atol=0.05)
        np.testing.assert_allclose(result.value, solution.values[number], atol=0.1)
        action = searcher.facet.action(row, result.line[1])
        gap = solution.values[number, seat] - solution.values[children[action], seat]
        wrong += gap > 0.03
    assert wrong == 0


def test_connect_four_sees_a_forced_win() -> None:
    """Two open ends of three in the bottom row: White wins at the next turn whatever Black does."""
    game: Any = registry.make("connect_four")
    facet, work = host.of(game), host.of(game).work()
    row, after = facet.rows(), facet.rows()
    facet.init(row)
    for column in (2, 2, 3, 3):
        facet.step(row, column, after, work)
        row, after = after.copy(), row
    result = mcts(game, 20_000).search_row(row)
    assert facet.action(row, result.line[1]) in (1, 4)
    assert result.value[0] > 0.9


# --- the tree ---------------------------------------------------------------------------------------------------------


def test_every_simulation_is_a_visit_and_dice_fall_by_their_odds() -> None:
    game: Any = registry.make("pig:players=2,target=12")
    searcher = mcts(game, 601)
    row, work = searcher.facet.row(game.init()), searcher.facet.work()
    after = searcher.facet.rows()
    searcher.facet.step(row, 0, after, work)
    assert searcher.facet.actor(after, work) == CHANCE
    result = searcher.search_row(after)
    assert result.nodes <= 601
    assert result.visits.sum() == 600
    assert np.abs(result.visits - 100).max() <= 1  # evenly, not by independent draws
    assert len(result.line) == 1  # a line ends at the dice


def test_the_same_seed_gives_the_same_tree() -> None:
    game = registry.make("connect_four")
    searcher = mcts(game, 300)

    def visits(seed: int) -> list[int]:
        searcher.reset()
        return searcher.search(game.init(), seed=seed).visits.tolist()

    assert visits(1) == visits(1) != visits(2)


def subtree(arrays: tree.Arrays, node: int) -> Any:
    """A node and all below it, without their numbers."""
    first, count = arrays.links[node, FIRST], arrays.links[node, CHILDREN]
    below = [subtree(arrays, child) for child in range(first, first + count)]
    return arrays.rows[node].tobytes(), arrays.scores[node].tobytes(), arrays.links[node, CHILDREN:].tobytes(), below


def test_the_tree_is_kept_between_moves() -> None:
    game: Any = registry.make("pig:players=3,target=12")
    searcher = mcts(game, 400)
    row = searcher.facet.rows()
    searcher.facet.init(row)
    searcher.search_row(row)
    arrays, control = searcher.memory.arrays, searcher.memory.control
    node = int(
        max(range(1, control[NUM_NODES]), key=lambda n: (arrays.links[n, CHILDREN] > 1, arrays.scores[n, VISITS]))
    )
    want = subtree(arrays, node)
    assert want[3]
    before = int(arrays.scores[node, VISITS])
    searcher._keep(node)
    assert subtree(arrays, 0) == want
    result = searcher.search_row(arrays.rows[0].copy())
    assert result.nodes <= 400
    assert arrays.scores[0, VISITS] == before + result.nodes - 1
    # Without reuse a search begins anew.
    fresh = mcts(game, 400, reuse=False)
    for _ in range(2):
        fresh.search_row(row)
        assert fresh.memory.arrays.scores[0, VISITS] == 399


def test_memory_is_what_was_given_and_too_little_is_refused() -> None:
    game = registry.make("connect_four")
    with pytest.raises(UserError, match="kilobytes=8 is too little for mcts in connect_four; give at least") as error:
        mcts(game, 1000, kilobytes=8)
    (least,) = map(int, re.findall(r"at least (\d+)", str(error.value)))
    for kilobytes in (least, 64):
        searcher = mcts(game, 2000, kilobytes=kilobytes)
        result = searcher.search(game.init())
        assert result.bytes <= 1024 * kilobytes
        assert len(result.line) >= 2
        assert result.nodes == 2000  # simulations go on from the leaves there are
        assert result.overflows > 0
        assert searcher.memory.control[NUM_NODES] <= len(searcher.memory.arrays.links)
        assert result.visits.sum() == 1999


def test_depth_limits_the_tree_as_it_does_other_searches() -> None:
    game = registry.make("connect_four")
    budget = Budget(nodes=500, depth=2, kilobytes=4096)
    searcher = searchers.make(game, "mcts", budget=budget)
    result = searcher.search(game.init())
    assert searcher.memory.control[NUM_NODES] == 1 + 7 + 49
    assert result.depth == 2


# --- other values of leaves -------------------------------------------------------------------------------------------


def test_leaves_are_valued_by_features() -> None:
    game: Any = registry.make("jumper:size=4")
    weights = (5.0, 3.0, -2.0, 0.3)
    searcher = mcts(game, 17, evaluator=evaluators.linear(host.of(game), weights))
    result = searcher.search(game.init())
    assert result.visits.tolist() == [1] * 16
    for move in searcher.root_moves():
        np.testing.assert_array_equal(move.value, searcher.evaluate(move.row))
    assert result.evaluation == "features"


def test_values_are_scaled_before_they_are_compared() -> None:
    """UCT explores alike whatever the range of the returns: the same evaluation at a tenth of its size."""
    game: Any = registry.make("jumper:size=4")
    facet = host.of(game)
    visits = []
    for scale in (0.01, 0.1):  # so small that tanh hardly bends
        weights = np.array((5.0, 3.0, -2.0, 0.3)) * scale
        searcher = mcts(game, 400, evaluator=evaluators.linear(facet, weights))
        visits.append(searcher.search(game.init()).visits)
    assert np.abs(visits[0] - visits[1]).max() <= 0.1 * visits[0].max()
    assert visits[0].std() > 0


# --- as a player ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "text", "bound"),
    [("connect_four", "mcts(nodes=300)", 0.9), ("jumper:size=4", "mcts(nodes=200,evaluation=playouts)", 0.9)],
)
def test_it_beats_random_without_any_features(game: str, text: str, bound: float) -> None:
    made = registry.make(game)
    pair = [players.make(text, made), players.make("random", made)]
    match = arena.match(made, pair, num_games=20, seed=0, processes=1)
    assert match.players[0].win_rate >= bound


def test_a_game_of_three_and_dice_is_played() -> None:
    game = registry.make("pig:players=3,target=12")
    lineup = [players.make("mcts(nodes=200)", game), *(players.make("random", game) for _ in range(2))]
    assert arena.match(game, lineup, num_games=12, seed=0, processes=1).players[0].win_rate > 0.6


def test_options_are_checked() -> None:
    game = registry.make("tic_tac_toe")
    with pytest.raises(UserError, match=r"exploration=-1.0 is not a constant of UCT"):
        players.make("mcts(exploration=-1)", game)
    player: Any = players.make("mcts(ms=5,exploration=1.5,reuse=false)", game).host
    assert isinstance(player.searcher, TreeSearcher)
    assert (player.searcher.options.exploration, player.searcher.options.reuse) == (1.5, False)
    assert player.searcher.memory.arrays.scores.shape[1] == VALUES + 2
