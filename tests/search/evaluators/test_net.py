"""A value net inside the compiled search gives the values that it has in JAX."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from boardrl import host, registry
from boardrl.game import TERMINAL, Spec
from boardrl.lowering.ir import LoweringError
from boardrl.values import named_nets, nets
from boardrl.values.return_scale import Scale
from games.pig import Pig
from search import random_step
from search.budget import Budget
from search.evaluators import evaluator as evaluators
from search.evaluators import jax_callback
from search.searcher import Searcher


def small_net(name: str) -> tuple[nets.ValueNet, Any]:
    game = registry.make(name)
    net = nets.ValueNet(game, nets.MLP((8,), game.spec.num_players, "tanh"))
    return net, jax.jit(net.init)(jax.random.key(0))


@pytest.mark.parametrize(
    ("name", "kind"),
    [("tic_tac_toe", "negascout"), ("tic_tac_toe", "maxn"), ("pig:target=30", "expectimax")],
)
def test_batches_in_jax_give_the_values_of_compiled_nets(name: str, kind: str) -> None:
    net, params = small_net(name)
    facet, rng = host.of(net.game), np.random.default_rng(0)
    searchers = [
        Searcher(
            net.game,
            kind,
            budget=Budget(depth=2, kilobytes=512),
            evaluator=evaluators.net(facet, net, params, batched=batched),
        )
        for batched in (False, True)
    ]
    row = facet.rows()
    facet.init(row)
    calls: list[int] = []
    values_of = jax_callback.BatchedNet.__call__

    def counted(self: Any, rows: np.ndarray, seat: int) -> np.ndarray:
        calls.append(len(rows))
        return values_of(self, rows, seat)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jax_callback.BatchedNet, "__call__", counted)
        for _ in range(4):
            one, other = (searcher.search_row(row) for searcher in searchers)
            np.testing.assert_allclose(one.value, other.value, atol=1e-6)
            assert (one.nodes, one.depth) == (other.nodes, other.depth)
            row = random_step.step(facet, row, rng)
    assert max(calls) > 1
    if name == "tic_tac_toe":  # every call values all successors of a position
        assert min(calls) >= 5


def test_what_goes_wrong_in_a_batch_is_raised_by_the_search() -> None:
    net, params = small_net("tic_tac_toe")
    facet = host.of(net.game)
    evaluator = evaluators.net(facet, net, params, batched=True)
    search = Searcher(net.game, "alphabeta", budget=Budget(depth=2), evaluator=evaluator)
    with pytest.MonkeyPatch.context() as patch:

        def broken(self: Any, rows: np.ndarray, seat: int) -> np.ndarray:
            raise RuntimeError("no net")

        patch.setattr(jax_callback.BatchedNet, "__call__", broken)
        with pytest.raises(RuntimeError, match="no net"):
            search.search(net.game.init())
    assert np.abs(search.search(net.game.init()).value).max() <= 1.0


def test_large_nets_are_batched_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    net, params = small_net("tic_tac_toe")
    size = sum(leaf.size for leaf in jax.tree.leaves(params))
    assert evaluators.net(host.of(net.game), net, params).name == "net"
    monkeypatch.setattr(evaluators, "LARGE", size)
    evaluator = evaluators.net(host.of(net.game), net, params)
    assert evaluator.name == "batched net"
    search = Searcher(net.game, "alphabeta", budget=Budget(depth=2), evaluator=evaluator)
    assert search.search(net.game.init()).bytes == search.memory.num_bytes + 4 * size  # parameters are memory too


def test_convolutions_are_batched_sooner() -> None:
    """As a parameter of theirs is used at every cell."""
    game = registry.make("connect_four")
    for text, batched in (("mlp", False), ("conv(channels=16,layers=2)", False), ("conv", True), ("residual", True)):
        net = nets.ValueNet(game, named_nets.make(text, 2, hidden=(64,), activation="relu"))
        assert evaluators.chooses_batches(jax.eval_shape(net.init, jax.random.key(0))) == batched


def test_net_and_search_agree_with_jax() -> None:
    game = registry.make("tic_tac_toe")
    net = nets.ValueNet(game, nets.MLP((8,), 2, "tanh"))
    params = jax.jit(net.init)(jax.random.key(0))
    facet = host.of(game)
    evaluator = evaluators.net(facet, net, params)
    search = Searcher(game, "negascout", budget=Budget(depth=2, kilobytes=256), evaluator=evaluator)

    state = game.from_text("X.. .O. ..X 1")
    value = jax.jit(net)
    got = search.evaluate(facet.row(jax.device_get(state)))
    want = [float(value(params, state, jnp.int32(player))[player]) for player in range(2)]
    np.testing.assert_allclose(got, want, atol=1e-6)

    # The search itself, two turns deep, by hand in JAX: seat 1 acts and looks at every leaf.
    best = -np.inf
    for first in np.flatnonzero(game.legal(state)):
        after = game.step(state, jnp.int32(first))
        worst = np.inf
        for second in np.flatnonzero(game.legal(after)):
            leaf = game.step(after, jnp.int32(second))
            over = int(game.actor(leaf)) == TERMINAL
            worst = min(worst, float(game.returns(leaf)[1] if over else value(params, leaf, jnp.int32(1))[1]))
        best = max(best, worst)
    result = search.search(state)
    np.testing.assert_allclose(result.value, [-best, best], atol=1e-6)
    assert not result.exact


@dataclasses.dataclass(frozen=True)
class Podium(Pig):
    """Pig for three, in which the first gets 3 points, the second 2 and the last 1; who are level share."""

    players: int = 3

    @property
    def spec(self) -> Spec:
        return dataclasses.replace(super().spec, name="podium", min_return=1.0, max_return=3.0, return_sum=6.0)

    def returns(self, state: Any) -> Any:
        mine, others = state.scores[:, None], state.scores[None]
        twice = 2 * (mine > others).sum(1) + (mine == others).sum(1) + 1
        return jnp.where(self._won(state).any(), twice.astype(jnp.float32) / 2, 0.0)


@pytest.mark.parametrize("batched", [False, True])
def test_no_value_is_more_than_a_player_can_get(batched: bool) -> None:
    """A net that gives whoever looks all that is shared, 1 + (6 - 3), where nobody can have more than 3."""
    game = Podium(target=8)
    net = nets.ValueNet(game, nets.MLP((), 3))
    size, state = net.num_inputs, game.init()
    params = {"params": {"layers_0": {"kernel": jnp.zeros((size, 3)), "bias": jnp.array([30.0, 0.0, 0.0])}}}
    np.testing.assert_allclose(net.expected(params, state, jnp.int32(1)), [1, 4, 1])
    np.testing.assert_allclose(net(params, state, jnp.int32(1)), [1, 3, 1])
    scaled = nets.ScaledParams(params, Scale(jnp.float32(-1), jnp.float32(1)))
    np.testing.assert_allclose(nets.Scaled(net)(scaled, state, jnp.int32(1)), [1, 3, 1])

    def own(params: Any, state: Any, player: Any) -> Any:
        return params * jnp.array([9.0, 2.0, -9.0], jnp.float32)

    facet = host.of(game)
    for value, numbers, wanted in ((net, params, [3, 3, 3]), (own, jnp.ones(3), [3, 2, 1])):
        evaluator = evaluators.net(facet, value, numbers, batched=batched)
        search = Searcher(game, "maxn", budget=Budget(depth=1, kilobytes=256), evaluator=evaluator)
        np.testing.assert_allclose(search.evaluate(facet.row(jax.device_get(state))), wanted)


def test_what_cannot_be_lowered_is_valued_in_jax() -> None:
    """Nothing is lowered of random numbers, say."""
    game = registry.make("tic_tac_toe")

    def drawn(params: Any, state: Any, player: Any) -> Any:
        return params * jax.random.uniform(jax.random.key(0), (2,))

    evaluator = evaluators.learned(game, drawn, jnp.float32(1))
    assert evaluator.name == "batched net"
    with pytest.raises(LoweringError):
        evaluators.learned(game, drawn, jnp.float32(1), batched=False)


def test_a_net_at_a_leaf_gives_every_player_its_own_view_and_adds_rows_of_few_inputs() -> None:
    """Values of all players, from one function, are those that JAX gives as each of them sees the position."""
    game = registry.make("ludo:pieces=2,ring=8")
    net = nets.ValueNet(game, nets.MLP((8,), 4))
    params = jax.jit(net.init)(jax.random.key(3))
    facet, rng = host.of(game), np.random.default_rng(0)
    compiled = host.lower_value(net, params, game)
    assert inspect.getsource(compiled.module).count("sum_rows(") == 1 + game.spec.num_players
    seen = jax.jit(jax.vmap(lambda state, player: net(params, state, player)[player], (None, 0)))
    row, found = facet.rows(), np.zeros(4, np.float32)
    facet.init(row)
    for _ in range(12):
        compiled.module.evaluate_all(compiled.params(params), row, found, compiled.work())
        wanted = seen(jax.tree.map(jnp.asarray, facet.state(row)), jnp.arange(4))
        np.testing.assert_allclose(found, wanted, atol=1e-6)
        row = random_step.step(facet, row, rng)
    assert np.ptp(found) > 0  # in the first position all see the same


def test_a_value_function_may_have_one_number_as_its_only_parameter() -> None:
    game = registry.make("tic_tac_toe")

    def value(params: Any, state: Any, player: Any) -> Any:
        return params * jnp.array([1.0, -1.0], jnp.float32)

    evaluator = evaluators.net(host.of(game), value, jnp.float32(0.25), batched=False)
    search = Searcher(game, "maxn", budget=Budget(depth=1), evaluator=evaluator)
    np.testing.assert_array_equal(search.search(game.init()).value, [0.25, -0.25])
    evaluator.load(jnp.float32(0.5))
    np.testing.assert_array_equal(search.search(game.init()).value, [0.5, -0.5])
