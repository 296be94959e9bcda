"""Jumper's evaluation features on boards counted by hand, and equal on the host; players that use them."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from test_jumper_host import positions

from boardrl import host
from boardrl.matches import arena
from boardrl.play import players
from games.jumper import Jumper
from games.jumper.features import NAMES, jumpable


def counted(game: Jumper, text: str) -> dict[str, int]:
    """The features as White sees them, as whole numbers."""
    values = game.features(game.from_text(text), jnp.int32(0))
    scale = np.array([1, 1, 4, 1]) * game.num_cells
    return dict(zip(NAMES, np.round(np.asarray(values) * scale).astype(int).tolist(), strict=True))


@pytest.mark.parametrize(
    ("text", "pieces", "safe", "axes", "filled"),
    [
        # A piece in the middle can be jumped along four axes, at an edge along one, in a corner along none.
        ("3\n- - -\n- W -\n- - -", 1, 0, 4, 1),
        ("3\n- W -\n- - -\n- - -", 1, 0, 1, 1),
        ("3\nW - -\n- - -\n- - -", 1, 1, 0, 1),
        # One end held by the other player, the other empty: still open; both held: closed.
        ("3\n- - -\nB W -\n- - -", 0, 0, 4 - 1, 2),
        ("3\n- - -\nB W B\n- - -", -1, 0, 3 - 2, 3),
        # Own pieces and dead cells block.
        ("3\n- - -\nX W -\n- - -", 1, 0, 3, 2),
        ("3\n- - -\nW W -\n- - -", 2, 0, 3 + 1, 2),
        # Closed on all four axes.
        ("3\nX X X\nX B X\n- - -", -1, -1, 0, 6),
    ],
)
def test_features_counted_by_hand(text: str, pieces: int, safe: int, axes: int, filled: int) -> None:
    game = Jumper(3)
    assert counted(game, text) == {"pieces": pieces, "safe": safe, "axes": axes, "density": filled}
    state = game.from_text(text)
    white, black = (np.asarray(game.features(state, jnp.int32(seat))) for seat in (0, 1))
    np.testing.assert_array_equal(white[:3], -black[:3])
    assert white[3] == black[3]


@pytest.mark.parametrize("size", [6, 8, 9])
def test_the_host_has_the_same_features(size: int) -> None:
    game = Jumper(size)
    facet = host.of(game)
    states = positions(size, 300, seed=1)
    work, out = facet.work(), np.zeros(4, np.float32)
    for seat in (0, 1):
        want = np.asarray(jax.jit(jax.vmap(game.features, (0, None)))(states, jnp.int32(seat)))
        for n, row in enumerate(facet.row(states)):
            facet.features(row, seat, out, work)
            np.testing.assert_allclose(out, want[n], rtol=1e-6)


def test_a_piece_that_can_be_jumped_now_can_be_jumped_along_an_axis() -> None:
    """The features look further than the rules: where a hop over an enemy is legal the piece is not safe."""
    game = Jumper(6)
    states = positions(6, 300, seed=2)
    legal = np.asarray(jax.jit(jax.vmap(game.legal))(states))[:, 36:-1].reshape(-1, 8, 36)
    enemy = (2 - states.turn).astype(np.int8)
    theirs = np.where(states.turn[:, None] == 0, states.black, states.white)
    mine = np.where(states.turn[:, None] == 0, states.white, states.black)
    axes = np.stack(jax.jit(jax.vmap(functools.partial(jumpable, 6)))(theirs, mine, states.empty), 1)
    steps = [game._offset(way) for way in range(8)]
    jumped = 0
    for n, way, cell in np.argwhere(legal):
        middle = cell + steps[way]
        if states.board[n, middle] == enemy[n]:
            assert axes[n, :, middle].any()
            jumped += 1
    assert jumped > 50


def test_corner_opens_at_0_0_and_then_plays_at_random() -> None:
    game = Jumper(4)
    opening = np.asarray(game.strategies["corner"](game, game.init()))
    assert np.flatnonzero(np.isfinite(opening)).tolist() == [0]
    later = game.strategies["corner"](game, game.step(game.init(), jnp.int32(5)))
    assert np.isfinite(later).all()


def test_linear_takes_the_action_with_the_greatest_weighted_sum() -> None:
    game = Jumper(3)
    state = game.from_text("3\nW - -\n- B -\n- - -\nW")
    linear = jax.jit(functools.partial(game.strategies["linear"], game), static_argnames=("pieces", "safe"))
    # A hop over the enemy leads by two pieces, all places by one.
    logits = np.asarray(linear(state, pieces=1.0, safe=0.0))
    best = np.flatnonzero(np.isfinite(logits) & np.asarray(game.legal(state)))
    assert best.tolist() == [9 * 8]  # down-right from cell 0
    # Weighing only safety, those actions that leave the most safe pieces.
    cautious = np.asarray(linear(state, pieces=0.0, safe=1.0))
    safe = jax.jit(jax.vmap(lambda a: game.features(game.step(state, a), jnp.int32(0))[1]))(jnp.arange(82))
    legal = np.asarray(game.legal(state))
    best = np.asarray(safe)[legal].max()
    np.testing.assert_array_equal(np.isfinite(cautious)[legal], np.asarray(safe)[legal] == best)
    assert 0 < np.isfinite(cautious)[legal].sum() < legal.sum()


def test_greedy_and_linear_beat_random() -> None:
    game = Jumper(4)
    for name in ("greedy(value=pieces)", "linear"):
        pair = [players.make(name, game), players.make("random", game)]
        score = arena.match(game, pair, num_games=400, seed=0).players[0]
        assert score.low > 0.5


def test_linear_keeps_nothing_of_a_trace() -> None:
    game = Jumper(size=4)
    with jax.checking_leaks():
        logits = jax.eval_shape(functools.partial(game.strategies["linear"], game), game.init())
    assert logits.shape == (game.spec.num_actions,)
