"""The host benchmark plays the games it says it plays."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from boardrl import host, registry
from boardrl.lowering import lower
from launch.bench import host_kernel, host_suite


@pytest.mark.parametrize(
    ("name", "steps_a_game", "returns"),
    # Random tic-tac-toe: 58.5 % to 28.8 % of the games, and 7.6 moves. Pig to 1: a turn w = 5/6 · (1 + w) / 2 = 5/7
    # is won and takes 29/7 steps, so the first player wins 7/9 of the games, in 29/5 steps.
    [("tic_tac_toe", 7.62, 0.585 - 0.288), ("pig:target=1", 29 / 5, 2 * 7 / 9 - 1)],
)
def test_random_play_in_compiled_code(name: str, steps_a_game: float, returns: float) -> None:
    kernel = host.specialise(host_kernel, host.of(registry.make(name)))
    steps, games, total = kernel.play(200_000, 5)
    assert 200_000 <= steps < 200_100
    assert steps / games == pytest.approx(steps_a_game, abs=0.07)
    assert total / games == pytest.approx(returns, abs=0.03)
    assert kernel.play(200_000, 5) == (steps, games, total)


def test_the_mask_of_hops_against_a_plain_loop() -> None:
    mask = host_suite.jumper_like_mask()
    board = np.random.default_rng(1).integers(0, 4, 36).astype(np.int8)
    got = lower(mask, board, np.int8(1), name="jumper_mask")(board, np.int8(1))
    square, count = board.reshape(6, 6), 0
    for r, c in np.ndindex(6, 6):
        for dr, dc in ((a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b):
            r2, c2 = r + 2 * dr, c + 2 * dc
            if 0 <= r2 < 6 and 0 <= c2 < 6:
                count += square[r, c] == 1 and square[r + dr, c + dc] in (1, 2) and square[r2, c2] == 0
    assert got.shape == (200,)
    assert got[:160].sum() == count > 0
    np.testing.assert_array_equal(got, jax.jit(mask)(jnp.asarray(board), jnp.int8(1)))
