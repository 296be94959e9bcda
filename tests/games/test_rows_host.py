"""Bitboards of pieces in a row do what the lowered rules do, over whole random games."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from boardrl import host, registry
from boardrl.game import TERMINAL


@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four", "connect_four:rows=5,columns=4"])
def test_bitboards_agree_with_the_lowered_rules(name: str) -> None:
    game = registry.make(name)
    own, lowered = host.of(game), host.lowered(game)
    assert own is not lowered
    spec, rng = game.spec, np.random.default_rng(0)
    works, masks = (own.work(), lowered.work()), np.zeros((2, own.module.MASK_WORDS), np.uint64)
    buffers = own.rows(spec.num_actions), lowered.rows(spec.num_actions)
    returns, seen = np.zeros((2, 2), np.float32), np.zeros((2, own.module.OBS_SIZE), np.float32)
    images = own.rows(), lowered.rows()
    finished = set()
    for _ in range(12):
        rows = own.rows(), lowered.rows()
        own.init(rows[0])
        lowered.init(rows[1])
        while True:
            for n, facet in enumerate((own, lowered)):
                facet.legal(rows[n], masks[n], works[n])
                facet.returns(rows[n], returns[n], works[n])
                facet.observe(rows[n], 1, seen[n], works[n])
                facet.symmetric(rows[n], spec.num_actions % 2, images[n], works[n])
            for pair in (masks, returns, seen):
                np.testing.assert_array_equal(pair[0], pair[1])
            same_states(own.state(images[0]), lowered.state(images[1]))
            who = own.actor(rows[0], works[0])
            assert who == lowered.actor(rows[1], works[1])
            counts = [facet.successors(rows[n], buffers[n], works[n]) for n, facet in enumerate((own, lowered))]
            assert counts[0] == counts[1] == len(own.actions(rows[0]))
            if who == TERMINAL:
                finished.add(tuple(returns[0].tolist()))
                break
            same_states(own.state(buffers[0][: counts[0]]), lowered.state(buffers[1][: counts[1]]))
            move = rng.integers(counts[0])
            after = own.rows()
            own.step(rows[0], int(own.actions(rows[0])[move]), after, works[0])
            np.testing.assert_array_equal(after, buffers[0][move])
            np.testing.assert_array_equal(own.row(own.state(after)), after)
            rows = after, buffers[1][move].copy()
    assert len(finished) >= 2


def same_states(ours: object, theirs: object) -> None:
    jax.tree.map(np.testing.assert_array_equal, ours, theirs)
