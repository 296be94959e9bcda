"""The layout with games last computes what vmap alone does, also where only some arguments have games."""

import jax
import jax.numpy as jnp
import pytest

from boardrl.play.games_last import games_last

SHAPES = []


def move_one(state, move):
    """Moves the first of [N, *] pieces by [*] squares."""
    SHAPES.append((state["pieces"].shape, move.shape))
    first = jnp.arange(3).reshape((3,) + (1,) * move.ndim) == 0
    return {"pieces": state["pieces"] + jnp.where(first, move[None], 0), "last": state["last"] + move}


STATE = {"pieces": jnp.arange(15).reshape(5, 3), "last": jnp.arange(5)}
MOVE = jnp.arange(5) * 10


@pytest.mark.parametrize(
    ("state", "move", "axes"),
    [
        (STATE, MOVE, (0, 0)),
        (jax.tree.map(lambda leaf: leaf[0], STATE), MOVE, (None, 0)),
        (STATE, jnp.int32(7), (0, None)),
    ],
)
def test_games_come_last_and_the_result_is_that_of_vmap(state, move, axes):
    expected = jax.vmap(move_one, axes)(state, move)
    SHAPES.clear()
    found = jax.vmap(games_last(move_one), axes)(state, move)
    assert SHAPES[-1] == ((3, 5), (5,))
    assert jax.tree.all(jax.tree.map(lambda a, b: bool((a == b).all()), found, expected))


def test_one_game_has_no_axis_of_games():
    SHAPES.clear()
    after = games_last(move_one)(jax.tree.map(lambda leaf: leaf[1], STATE), jnp.int32(2))
    assert SHAPES[-1] == ((3,), ())
    assert after["pieces"].tolist() == [5, 4, 5]
