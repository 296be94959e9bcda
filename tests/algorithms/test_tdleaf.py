"""TD-Leaf: hand-computed updates, gradients by finite differences, the leaf of every move, credit, resuming."""

from __future__ import annotations

import dataclasses
from typing import Any

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from algorithms import gradient_fit, tdleaf
from algorithms.by_search import learner, self_play, targets
from algorithms.by_search.self_play import Decision, SelfPlayGame
from algorithms.by_search.targets import RegressionTarget
from boardrl import host, registry, workers
from boardrl.errors import UserError
from boardrl.game import TERMINAL
from boardrl.runs import run_directory, training
from boardrl.runs.training import Schedule, Strength
from boardrl.values.linear import Linear
from search import evaluators, searchers
from search.analysis.principal_variation import Leaf
from search.budget import Budget
from search.searcher import Searcher

JUMPER = registry.make("jumper:size=3")
SMALL = tdleaf.Config(games=8, batch=2, depth=2, kilobytes=256, opening=3)


def decision(seat: int, value: float, *, explored: bool = False, leaves: Any = ()) -> Decision:
    """One whose value is that number to the seat, and the opposite to the other."""
    values = np.array([value, -value] if seat == 0 else [-value, value])
    return Decision(seat, np.zeros(1, np.uint64), values, leaves, explored)


def batch_of(wanted: list[RegressionTarget]) -> targets.Batch:
    return targets.batch_of(host.of(JUMPER), [targets.arrays_of(host.of(JUMPER), wanted)])


# --- targets ----------------------------------------------------------------------------------------------------------


def test_targets_by_hand() -> None:
    played = SelfPlayGame(
        [decision(0, 0.1), decision(1, 0.4), decision(0, 0.5), decision(1, -0.2), decision(0, 0.3)],
        np.array([1.0, -1.0], np.float32),
    )
    wanted = tdleaf.leaf_targets(played, 0.5)
    # Seat 0: differences 0.4, -0.2, 0.7; sums 0.4 - 0.1 + 0.175, -0.2 + 0.35, 0.7. Seat 1: -0.6, -0.8.
    want = {(0, 0.1): 0.1 + 0.475, (0, 0.5): 0.5 + 0.15, (0, 0.3): 1.0, (1, 0.4): 0.4 - 1.0, (1, -0.2): -1.0}
    assert {(x.seat, x.value): pytest.approx(x.target) for x in wanted} == want


def test_lambda_one_is_the_result_and_lambda_zero_the_next_value() -> None:
    played = SelfPlayGame([decision(0, v) for v in (0.1, 0.5, 0.3)], np.array([-1.0, 1.0], np.float32))
    assert [x.target for x in tdleaf.leaf_targets(played, 1.0)] == pytest.approx([-1.0, -1.0, -1.0])
    assert [x.target for x in tdleaf.leaf_targets(played, 0.0)] == pytest.approx([-1.0, 0.3, 0.5])


def test_a_move_at_random_teaches_nothing_and_hides_what_follows() -> None:
    decisions = [decision(0, 0.1), decision(0, 0.5, explored=True), decision(0, 0.3)]
    wanted = tdleaf.leaf_targets(SelfPlayGame(decisions, np.array([1.0, -1.0], np.float32)), 0.9)
    assert {x.value: x.target for x in wanted} == pytest.approx({0.3: 1.0, 0.5: 0.5, 0.1: 0.5})


# --- the step ---------------------------------------------------------------------------------------------------------


def leaf(text: str) -> Leaf:
    return Leaf(host.of(JUMPER).row(JUMPER.from_text(text)), 1.0)


OPEN, FULL = "3\nW - -\n- B -\n- - W\nB", "3\nW B W\nB W W\nW B W\nB"


def test_a_step_of_linear_weights_by_hand() -> None:
    """Δw = α mean δ (1 − V²) f(leaf); a leaf where the game is over has no gradient."""
    weights = jnp.array([0.5, -0.25, 1.0, 0.125], jnp.float32)
    wanted = [RegressionTarget(1, [leaf(OPEN)], 0.0, 0.8), RegressionTarget(0, [leaf(FULL)], 1.0, -1.0)]
    batch = batch_of(wanted)
    after, _, metrics = targets.step(Linear(JUMPER), "sgd", weights, (), batch, jnp.float32(0.1))
    # Black has one piece to two, none safe to two, and can be jumped along three axes; three of nine cells are full.
    features = np.array([-1 / 9, -2 / 9, 3 / 36, 3 / 9])
    value = np.tanh(features @ np.asarray(weights))
    change = 0.1 * 0.5 * (0.8 - value) * (1 - value**2) * features
    np.testing.assert_allclose(np.asarray(after), np.asarray(weights) + change, rtol=1e-5)
    np.testing.assert_allclose(float(metrics["loss"]), 0.25 * ((0.8 - value) ** 2 + 4.0), rtol=1e-5)


def test_leaves_share_a_value_and_its_gradient() -> None:
    weights = jnp.array([2.0, 1.0, 0.0, 0.0], jnp.float32)
    shared = [Leaf(leaf(OPEN).row, 0.25), Leaf(leaf("3\nW W -\n- B -\n- - W\nB").row, 0.75)]
    both = batch_of([RegressionTarget(0, shared, 0.0, 1.0)])
    total, _ = jax.jit(targets.loss, static_argnums=0)(Linear(JUMPER), weights, both)
    states = [JUMPER.from_text(text) for text in (OPEN, "3\nW W -\n- B -\n- - W\nB")]
    value = jax.jit(Linear(JUMPER))
    values = [float(value(weights, state, jnp.int32(0))[0]) for state in states]
    assert float(total) == pytest.approx(0.5 * (1 - (0.25 * values[0] + 0.75 * values[1])) ** 2, rel=1e-5)


@pytest.mark.parametrize("kind", ["features", "net"])
def test_gradients_are_those_of_finite_differences(kind: Any) -> None:
    value = learner.value_of(dataclasses.replace(SMALL, evaluator=kind, hidden=(5,)), JUMPER)
    params = jax.tree.map(lambda leaf: leaf + 0.3, jax.jit(value.init)(jax.random.key(1)))
    wanted = [RegressionTarget(seat, [leaf(OPEN)], 0.0, target) for seat, target in ((0, 0.9), (1, -0.3))]
    batch = batch_of(wanted)
    call = jax.jit(lambda params: targets.loss(value, params, batch)[0])
    gradient = jax.grad(call)(params)
    leaves, tree = jax.tree.flatten(params)
    for seed in range(3):
        keys = jax.random.split(jax.random.key(seed), len(leaves))
        way = tree.unflatten([jax.random.normal(k, x.shape) for k, x in zip(keys, leaves, strict=True)])
        ahead, back = (call(jax.tree.map(lambda p, w, s=sign: p + s * 1e-2 * w, params, way)) for sign in (1.0, -1.0))
        slope = sum(float((g * w).sum()) for g, w in zip(jax.tree.leaves(gradient), jax.tree.leaves(way), strict=True))
        assert slope == pytest.approx(float(ahead - back) / 2e-2, rel=2e-2, abs=1e-4)


# --- the leaf ---------------------------------------------------------------------------------------------------------


def worth(searcher: Searcher, found: Leaf, seat: int) -> float:
    """What a leaf is worth, by the evaluator or as the result."""
    facet, work = searcher.facet, searcher.facet.work()
    returns = np.zeros(facet.game.spec.num_players, np.float32)
    facet.returns(found.row, returns, work)
    over = facet.actor(found.row, work) == TERMINAL
    return float(returns[seat] if over else searcher.evaluate(found.row)[seat])


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("alphabeta", {}),
        ("alphabeta", {"table": True, "symmetry": True}),
        ("negascout", {}),
        ("negascout", {"table": False, "aspiration": 0.05}),
        ("negascout", {"deepening": False, "reverse": True}),
        ("minimax", {}),
        ("maxn", {}),
    ],
)
def test_the_leaf_is_worth_the_root_on_every_move(kind: str, options: dict[str, Any]) -> None:
    game = registry.make("jumper:size=4")
    facet = host.of(game)
    evaluator = evaluators.linear(facet, (5.0, 3.0, -2.0, 0.3))
    moves = 0
    for depth in (1, 3):
        budget, chosen = Budget(depth=depth, kilobytes=512), searchers.find(kind).options(**options)
        search = Searcher(game, kind, chosen, budget=budget, evaluator=evaluator)
        for seed in range(6):
            played = self_play.play(search, np.random.default_rng(seed), opening=6, epsilon=0.1)
            for made in played.decisions:
                assert [found.share for found in made.leaves] == [1.0]
                assert worth(search, made.leaves[0], made.seat) == made.value[made.seat]
                moves += 1
    assert moves > 80


def test_at_dice_the_leaves_are_worth_the_root_together() -> None:
    game = registry.make("pig:target=30")
    config = tdleaf.Config(depth=2, kilobytes=512, hidden=(8,), batch=2, games=4)
    value = learner.value_of(config, game)
    evaluator = evaluators.learned(game, value, jax.jit(value.init)(jax.random.key(0)))
    search = Searcher(game, "expectimax", budget=Budget(depth=2, kilobytes=512), evaluator=evaluator)
    played = self_play.play(search, np.random.default_rng(0), opening=0, epsilon=0.2)
    assert max(len(made.leaves) for made in played.decisions) > 5
    for made in played.decisions:
        assert sum(found.share for found in made.leaves) == pytest.approx(1.0)
        together = sum(found.share * worth(search, found, made.seat) for found in made.leaves)
        assert together == pytest.approx(made.value[made.seat], abs=1e-6)
    state, metrics = tdleaf.update(config, game, (), tdleaf.init(config, game, jax.random.key(0)))
    assert float(metrics["leaf_error"]) < 1e-6
    assert int(state.games) == 2


# --- learning ---------------------------------------------------------------------------------------------------------


def learn(config: tdleaf.Config, game: Any = JUMPER, seed: int = 0) -> tuple[Any, list[dict[str, float]]]:
    state, metrics = tdleaf.init(config, game, jax.random.key(seed)), []
    while int(state.games) < config.games:
        state, found = tdleaf.update(config, game, (), state)
        metrics.append({name: float(value) for name, value in found.items()})
    return state, metrics


def test_who_wins_is_valued_higher_and_who_loses_lower() -> None:
    rows = [leaf(OPEN)]
    played = SelfPlayGame(
        [decision(0, 0.0, leaves=rows), decision(1, 0.0, leaves=rows)],
        np.array([1.0, -1.0], np.float32),
    )
    batch = batch_of(tdleaf.leaf_targets(played, 0.7))
    weights = jnp.zeros(4, jnp.float32)
    after, _, _ = targets.step(Linear(JUMPER), "sgd", weights, (), batch, jnp.float32(1.0))
    values = Linear(JUMPER)(after, JUMPER.from_text(OPEN), jnp.int32(0))
    assert float(values[0]) > 0 > float(values[1])


def test_pieces_are_found_to_be_good() -> None:
    state, metrics = learn(dataclasses.replace(SMALL, games=60, batch=10, learning_rate=0.5))
    assert float(state.params[0]) > 0.5
    assert max(row["leaf_error"] for row in metrics) < 1e-6


@pytest.mark.parametrize(("averaged", "last"), [(0.5, 2), (0.0, 1), (1.0, 4)])
def test_what_plays_is_the_mean_of_the_last_steps(averaged: float, last: int) -> None:
    config = dataclasses.replace(SMALL, averaged=averaged)
    state, seen = tdleaf.init(config, JUMPER, jax.random.key(0)), []
    while int(state.games) < config.games:
        state, _ = tdleaf.update(config, JUMPER, (), state)
        seen.append(np.asarray(state.params))
    assert len(seen) == 4
    assert not np.array_equal(seen[-1], seen[-2])
    np.testing.assert_allclose(np.asarray(state.average), np.mean(seen[-last:], 0), rtol=1e-6)
    np.testing.assert_array_equal(tdleaf.player(config, JUMPER, state).searcher.memory.weights, state.average)
    np.testing.assert_array_equal(tdleaf.policy(config, JUMPER, state).params, state.average)


@pytest.mark.parametrize("method", ["rootstrap", "treestrap"])
def test_positions_move_towards_what_the_search_finds(method: Any) -> None:
    state, _ = learn(dataclasses.replace(SMALL, method=method))
    assert float(jnp.abs(state.params).max()) > 0.01
    found = {name: learn(dataclasses.replace(SMALL, method=name))[1][0]["targets"] for name in ("tdleaf", method)}
    assert found[method] >= 2 * found["tdleaf"]  # each seat's view of every root, or of every position above leaves


def test_treestrap_teaches_the_value_of_each_position_above_the_leaves() -> None:
    facet = host.of(JUMPER)
    evaluator = evaluators.linear(facet, (5.0, 3.0, -2.0, 0.0))
    deep, shallow = (
        Searcher(JUMPER, "negascout", budget=Budget(depth=d, kilobytes=256), evaluator=evaluator) for d in (2, 1)
    )
    row = leaf("3\nW - -\n- B -\n- - -\nW").row
    wanted = tdleaf.tree_targets(deep, row, 2)
    rows = facet.rows(64)
    count = facet.successors(row, rows, facet.work())
    assert len(wanted) == 2 * (1 + count)
    assert wanted[0].target == pytest.approx(float(deep.search_row(row).value[0]))
    # The features of both sides are the same but for the sign: seen from either seat, a reply is worth the same.
    for number in range(count):
        want = shallow.search_row(rows[number].copy()).value
        assert [x.target for x in wanted[2 + 2 * number : 4 + 2 * number]] == pytest.approx(want.tolist(), abs=1e-6)


def test_a_net_learns_by_search_too() -> None:
    game = registry.make("tic_tac_toe")
    config = tdleaf.Config(games=8, batch=4, depth=2, kilobytes=256, hidden=(8,), opening=2)
    state, metrics = learn(config, game)
    assert max(row["leaf_error"] for row in metrics) < 1e-6
    assert int(state.updates) == 2
    player = tdleaf.player(config, game, state)
    assert player.choose(game, jax.device_get(game.from_text("XX. OO. ... 0")), np.random.default_rng(0)) == 2


def test_threads_change_nothing() -> None:
    config = dataclasses.replace(SMALL, games=12, batch=12, epsilon=0.1)
    after = []
    for count in (1, 3):
        with workers.using(workers.Local(count)):
            state = tdleaf.init(config, JUMPER, jax.random.key(1))
            after.append(tdleaf.update(config, JUMPER, (), state))
    chex.assert_trees_all_equal(*after)


def test_gradient_fit_moves_a_position_towards_its_searched_value() -> None:
    config = gradient_fit.Config(
        games=40, batch=20, depth=2, kilobytes=256, learning_rate=0.1, optimizer="sgd", anneal_learning_rate=False
    )
    state = gradient_fit.init(config, JUMPER, jax.random.key(0))
    state = state._replace(params=jnp.array([2.0, 1.0, -1.0, 0.5], jnp.float32))
    after, metrics = gradient_fit.update(config, JUMPER, (), state)
    again, lower = gradient_fit.update(config, JUMPER, (), after._replace(games=state.games))
    assert float(metrics["targets"]) == 40  # both seats of every position
    assert float(lower["loss"]) < float(metrics["loss"])
    assert int(again.games) == 20


# --- the loop ---------------------------------------------------------------------------------------------------------


def nobody(player: Any, *, num_games: int, seed: int, bar: Any) -> list[Strength]:
    """Stands in for matches, where the learned player would be made from its checkpoint."""
    assert player.host is not None
    return [Strength("nobody", num_games, 0.5, 0.0, 1.0, points=0.0, wins=0, draws=0, losses=0, seats=(), seed=seed)]


def train(path: Any, games: int) -> Any:
    config = dataclasses.replace(SMALL, games=games, anneal_learning_rate=False)
    schedule = Schedule(log_every=2, evaluate_every=8, evaluate_games=2, final_games=2)
    task = training.Task(tdleaf, config, JUMPER, (), nobody, schedule, seed=1)
    facts = {
        "game": registry.describe(JUMPER),
        "algo": "tdleaf",
        "seed": 1,
        "settings": dataclasses.asdict(config),
        "schedule": dataclasses.asdict(schedule),
    }
    with run_directory.Run.resume(path) if path.exists() else run_directory.Run.create(path, facts) as opened:
        return training.train(task, opened).state


def test_a_resumed_run_ends_in_the_same_bits(tmp_path: Any) -> None:
    whole = train(tmp_path / "whole", 16)
    train(tmp_path / "parts", 8)
    parts = train(tmp_path / "parts", 16)
    for one, other in zip(jax.tree.leaves(whole), jax.tree.leaves(parts), strict=True):
        assert np.asarray(one).tobytes() == np.asarray(other).tobytes()


@pytest.mark.parametrize(
    ("game", "changes", "words"),
    [
        ("jumper:size=3", {"decay": 1.5}, "--decay=1.5 is out of range"),
        ("jumper:size=3", {"opponents": "random"}, "cannot be seated"),
        ("jumper:size=3", {"depth": 0}, "--depth=0 is too small"),
        ("tic_tac_toe", {"evaluator": "features"}, "offers no features to weigh; give --evaluator=net"),
        ("pig", {"searcher": "alphabeta"}, "cannot see through the dice of pig; use expectimax"),
        ("pig", {"searcher": "alphabet"}, "did you mean 'alphabeta'"),
        ("jumper:size=3", {"searcher": "mcts"}, "--searcher=mcts has no leaf .* expected one of .*alphabeta"),
        ("jumper:size=3", {"learning_rate": 0.0}, "learns nothing"),
        ("jumper:size=3", {"averaged": 2.0}, "--averaged=2.0 is out of range"),
        ("jumper:size=3", {"features": "extend"}, "did you mean 'extended'"),
    ],
)
def test_mistakes(game: str, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        tdleaf.check(dataclasses.replace(SMALL, **changes), registry.make(game))


@pytest.mark.parametrize(("game", "name"), [("jumper", "negascout"), ("pig", "expectimax"), ("pig:players=3", "maxn")])
def test_the_searcher_suits_the_game(game: str, name: str) -> None:
    assert learner.searcher_of(tdleaf.Config(), registry.make(game)) == name
