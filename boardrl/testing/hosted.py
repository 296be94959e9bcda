"""Properties of a game's host code: compiled scalar functions that agree with the rules in JAX.

The conformance kit checks them on its random games; boardrl/testing/host_check.py on millions of positions.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import jax
import numpy as np

from boardrl import host
from boardrl.game import Game
from boardrl.host.masks import unpack
from boardrl.testing.node import TOLERANCE, Node
from boardrl.testing.play import Chunk
from boardrl.testing.report import Broken, state_text


def host_code_equals_jax(game: Game[Any], chunks: Iterable[Chunk]) -> int:
    """Compiled host code agrees with JAX over whole random games."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", host.SlowHostWarning)
        facet = host.of(game)
    count = 0
    for chunk in chunks:
        places = np.argwhere(chunk.counted)
        if not len(places):
            continue
        nodes = jax.tree.map(lambda leaf, places=places: leaf[places[:, 0], places[:, 1]], chunk.nodes)
        for name, agrees in agreement(facet, nodes).items():
            if not agrees.all():
                step, lane = (int(k) for k in places[agrees.argmin()])
                node = chunk.node(step, lane)
                raise Broken(
                    f"the compiled {name} differs from the one in JAX for move {int(node.move)}",
                    chunk.path(step, lane),
                    state_text(game, node.state),
                )
        count += len(places)
    return count


def agreement(facet: host.Facet, nodes: Node) -> dict[str, np.ndarray]:
    """For each function of the facet, [N] bool: whether it agrees with each of [N] nodes.

    Functions that run in JAX anyway are not compared.
    """
    number, spec = len(nodes.actor), facet.game.spec
    rows, work = facet.row(nodes.state), facet.work()
    moves = np.asarray(nodes.move)
    actors, masks = np.zeros(number, np.int64), facet.mask(number)
    probs, returns = (np.zeros((number, size), np.float32) for size in (spec.num_outcomes, spec.num_players))
    seen = np.zeros((number, spec.num_players, facet.module.OBS_SIZE), np.float32)
    after = np.full_like(rows, 2**64 - 1)  # words that a step does not write must not look correct

    def actor(n: int) -> None:
        actors[n] = facet.actor(rows[n], work)

    def observe(n: int) -> None:
        for player in range(spec.num_players):
            facet.observe(rows[n], player, seen[n, player], work)

    calls: dict[str, Callable[[int], None]] = {
        "actor": actor,
        "legal": lambda n: facet.legal(rows[n], masks[n], work),
        "chance": lambda n: facet.chance(rows[n], probs[n], work),
        "returns": lambda n: facet.returns(rows[n], returns[n], work),
        "observe": observe,
        "step": lambda n: facet.step(rows[n], moves[n], after[n], work),
    }
    asked = [name for name in calls if name not in facet.refused]
    for name in asked:
        for n in range(number):
            calls[name](n)
    results = {
        "actor": lambda: _same(actors, nodes.actor),
        "legal": lambda: _same(unpack(masks, spec.num_actions), nodes.legal),
        "chance": lambda: _same(probs, nodes.chance),
        "returns": lambda: _same(returns, nodes.returns),
        "observe": lambda: _same(seen, nodes.observations),
        "step": lambda: _same_states(facet.state(after), nodes.after),
    }
    agree = {name: results[name]() for name in asked}
    first = facet.rows()
    facet.init(first)
    agree["init"] = np.full(number, bool(_same_states(facet.state(first[None]), _batch(facet.game.init())).all()))
    # Equal rows have equal keys, and with 64 bits a collision by chance takes billions of rows.
    _, which_row = np.unique(rows, axis=0, return_inverse=True)
    _, which_key = np.unique([facet.key(row) for row in rows], return_inverse=True)
    pairs = len(np.unique(np.stack([which_row.reshape(-1), which_key]), axis=1).T)
    agree["key"] = np.full(number, pairs == which_row.max() + 1 == which_key.max() + 1)
    return agree


def _batch(state: Any) -> Any:
    return jax.tree.map(lambda leaf: np.asarray(leaf)[None], state)


def _same(got: np.ndarray, want: Any) -> np.ndarray:
    """[N] bool: whether entries are equal, floats up to rounding."""
    want = np.asarray(want).reshape(got.shape)
    equal = got == want
    if want.dtype.kind == "f" and not equal.all():
        equal = np.isclose(got, want, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)
    return equal.reshape(len(equal), -1).all(1)


def _same_states(got: Any, want: Any) -> np.ndarray:
    pairs = zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True)
    return np.all([_same(np.asarray(a), b) for a, b in pairs], axis=0)


ON_HOST: tuple[Callable[[Game[Any], Iterable[Chunk]], int], ...] = (host_code_equals_jax,)
