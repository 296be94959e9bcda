"""A value net inside the compiled search gives the values that it has in JAX."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from boardrl import host, nets, registry
from boardrl.game import TERMINAL
from search import evaluators
from search.budget import Budget
from search.searcher import Searcher


def test_net_and_search_agree_with_jax() -> None:
    game = registry.make("tic_tac_toe")
    net = nets.ValueNet(game, nets.MLP((8,), 2, "tanh"))
    params = net.init(jax.random.key(0))
    facet = host.lowered(game)
    evaluator = evaluators.net(facet, net, params)
    search = Searcher(game, "negascout", budget=Budget(depth=2, kilobytes=256), evaluator=evaluator, facet=facet)

    state = game.from_text("X.. .O. ..X 1")
    value = jax.jit(net)
    got = np.zeros(2)
    evaluator.module.evaluate_all(
        facet.row(jax.device_get(state)), got, search.memory.weights, search.memory.scratch, search.memory.work
    )
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
