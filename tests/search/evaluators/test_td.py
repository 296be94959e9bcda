"""Values learned during a search: the step of TD(λ), what self-play learns, where it is kept, and who may use it."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from compiled_calls import from_python
from reference_search import OnRows, random_positions

from boardrl import host, registry
from boardrl.errors import UserError
from boardrl.exact import solve
from boardrl.game import CHANCE
from boardrl.play import players
from search import evaluators, searchers
from search.budget import Budget

PIG = "pig:players=2,target=12"


def searcher_of(game: Any, nodes: int = 300) -> Any:
    return searchers.make(game, "mcts", budget=Budget(nodes=nodes, kilobytes=1024))


def learned(searcher: Any) -> np.ndarray:
    """A copy of the weights."""
    module = searcher.evaluator.module
    return np.array(searcher.memory.scratch[module.WEIGHTS : module.SQUARES])


@pytest.mark.parametrize("name", [PIG, "ludo:players=2,pieces=2,ring=16,column=2"])  # every input; those that may count
def test_inputs_add_up_to_the_observation(name: str) -> None:
    game: Any = registry.make(name)
    facet, module = host.of(game), host.lower_inputs(game)
    plain, work, out = OnRows(facet), np.zeros(module.WORK_WORDS, np.uint64), np.zeros(module.INPUT_WORDS, np.uint64)
    for position in random_positions(plain, 8, after=5, seed=1):
        for player in range(2):
            module.inputs(plain.row(position), player, out, work)
            seen = np.zeros(game.spec.obs_shape, np.float32).reshape(-1)
            np.add.at(seen, out.view(np.int32)[: module.NUM_INPUTS], out.view(np.float32)[module.NUM_INPUTS :])
            want = game.observe(facet.state(plain.row(position)), jnp.int32(player))
            np.testing.assert_allclose(seen, np.asarray(want).reshape(-1), rtol=1e-6)


def test_a_step_is_adagrad_towards_the_lambda_return() -> None:
    """Two afterstates, from weights that are not 0, against the same in NumPy."""
    game: Any = registry.make(PIG)
    searcher = searcher_of(game)
    facet, module, memory = searcher.facet, searcher.evaluator.module, searcher.memory
    plain = OnRows(facet)
    rows = [plain.row(p) for p in random_positions(plain, 40, seed=3) if plain.actor(p) == CHANCE][:2]
    rng = np.random.default_rng(0)
    size = module.SQUARES - module.WEIGHTS
    weights, squares = rng.normal(size=size), rng.uniform(0.5, 1.0, size)
    memory.scratch[module.WEIGHTS : module.SQUARES] = weights
    memory.scratch[module.SQUARES : module.SQUARES + size] = squares
    stored = memory.scratch[module.GAME : module.OWED].view(np.uint64).reshape(module.LENGTH, -1)
    stored[:2] = rows
    targets = np.array([1.0, 0.0])
    memory.scratch[module.TARGETS : module.TARGETS + 2] = targets
    assert from_python(module.learn)(stored, 2, memory.scratch, memory.work) == 4
    for row in rows[::-1]:
        for player in range(2):
            x = np.append(np.asarray(game.observe(facet.state(row), jnp.int32(player))).reshape(-1), 1.0)
            value = 1 / (1 + np.exp(-(weights @ x)))
            gradient = (targets[player] - value) * x
            squares += gradient**2
            weights = weights + 0.1 * gradient / np.sqrt(squares + 1e-8)
            targets[player] = 0.9 * targets[player] + 0.1 * value
    np.testing.assert_allclose(learned(searcher), weights, rtol=2e-5, atol=1e-6)


def test_self_play_learns_the_values_of_good_play() -> None:
    game: Any = registry.make(PIG)
    searcher, solution = searcher_of(game), solve.solve(game)
    facet, module, memory = searcher.facet, searcher.evaluator.module, searcher.memory
    plain, out = OnRows(facet), np.zeros(2)
    rows = [plain.row(p) for p in random_positions(plain, 60, seed=5) if plain.actor(p) == CHANCE]
    index = jax.jit(solution.index)
    exact = np.array([solution.values[int(index(facet.state(row)))] for row in rows])

    def error() -> float:
        got = []
        for row in rows:
            module.value_all(row, out, memory.scratch, memory.work)
            got.append(out.copy())
        return float(np.abs(np.array(got) - exact).mean())

    searcher.reset()
    before = error()
    for number in range(2000):
        module.self_play(plain.row(plain.first), np.uint64(number), memory.scratch, memory.work)
    assert error() < 0.4 * before


def test_what_is_learned_is_kept_until_reset() -> None:
    game: Any = registry.make(PIG)
    searcher = searcher_of(game)
    assert not learned(searcher).any()
    first = searcher.search(game.init(), seed=1)
    kept = learned(searcher)
    assert kept.any()
    searcher.search(game.init(), seed=2)
    assert (learned(searcher) != kept).any()
    searcher.reset()
    assert not learned(searcher).any()
    np.testing.assert_array_equal(searcher.search(game.init(), seed=1).value, first.value)
    np.testing.assert_array_equal(learned(searcher), kept)


def test_simulations_with_dice_learn_by_default() -> None:
    assert searcher_of(registry.make(PIG)).search(registry.make(PIG).init()).evaluation == "td"
    facet = host.of(registry.make("connect_four"))
    assert evaluators.default(facet, games=1, simulates=True).name == "playouts(games=1)"
    player: Any = players.make("mcts(nodes=50,evaluation=td)", registry.make("tic_tac_toe")).host
    assert player.searcher.evaluator.name == "td"
    assert evaluators.default(host.of(registry.make(PIG))).name == "playouts(games=8)"  # of other searches
    with pytest.raises(UserError, match="evaluation=td learns from simulations, which only mcts makes"):
        players.make("expectimax(depth=1,evaluation=td)", registry.make(PIG))
