"""Jumper's further features on boards counted by hand, and equal on the host; the game's named players."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from test_jumper_host import positions

from boardrl import host
from boardrl.values.linear import find
from games.jumper import Jumper, extended


def counted(game: Jumper, text: str, seat: int = 0) -> dict[str, float]:
    """What is not 0, counts as whole numbers."""
    values = np.asarray(extended.extended(game, game.from_text(text), jnp.int32(seat)), np.float64)
    four = ("axes", "attacked_axes", "own_hops")
    scale = [
        game.num_cells * (4 if name.removesuffix("_early") in four else 1)
        if name not in ("threat", "tempo", "last_move")
        else 8
        for name in extended.NAMES
    ]
    named = dict(zip(extended.NAMES, np.round(values * scale, 4).tolist(), strict=True))
    return {name: value for name, value in named.items() if value}


@pytest.mark.parametrize(
    ("text", "want"),
    [
        # Nobody is in reach; an odd number of cells is left to Black, who is to move.
        (
            "4\nW - - -\n- - - -\n- - - -\n- - - -\nB",
            {"pieces": 1, "safe": 1, "corners": 1, "tempo": -1, "last_move": -1},
        ),
        # White in the corner attacks the black piece beside it, and is to move; the landing's hop goes no further.
        (
            "4\nW - - -\n- B - -\n- - - -\n- - - -\nW",
            {
                "safe": 1,
                "axes": -4,
                "attacked_axes": -1,
                "attacked": -1,
                "corners": 1,
                "second": -1,
                "landings": 1,
                "threat": 1,
                "threats": 1,
                "tempo": 1,
                "last_move": -1,
            },
        ),
        # Hops over own pieces, and on from the landing: W to 0 2, from there over 1 2 to 2 2.
        (
            "4\nW W - -\n- - W -\n- - - -\n- - - -\nW",
            {
                "pieces": 3,
                "safe": 2,
                "axes": 3,
                "corners": 1,
                "edges": 1,
                "second": 1,
                "own_hops": 2,
                "landings": 2,
                "chains": 1,
                "chain_threat": 1,
                "tempo": 1,
                "last_move": 1,
            },
        ),
    ],
)
def test_counted_by_hand(text: str, want: dict[str, float]) -> None:
    game = Jumper(4)
    found = counted(game, text)
    late = {name: value for name, value in found.items() if not name.endswith("_early")}
    late.pop("safe_cells", None)
    assert late == want
    empty = text.count("-") / 16
    for name in extended.COUNTS:
        assert found.get(f"{name}_early", 0) == pytest.approx(found.get(name, 0) * empty, abs=1e-3)
    assert counted(game, text, 1) == {name: -value for name, value in found.items()}


def test_safe_cells_by_hand() -> None:
    """Of 3×3 the corners are safe for both; an edge cell is so for who holds, or has killed, a corner beside it."""
    game = Jumper(3)
    assert "safe_cells" not in counted(game, "3\n- - -\n- - -\n- - -\nW")
    assert counted(game, "3\nW - -\n- - -\n- - -\nW")["safe_cells"] == 2
    assert counted(game, "3\nX - -\n- - -\n- - W\nW")["safe_cells"] == 2


@pytest.mark.parametrize("size", [3, 6, 8])
def test_the_host_has_the_same_features(size: int) -> None:
    game = Jumper(size)
    facet, states = host.of(game), positions(size, 300, seed=1)
    module = host.lower_features(game, "extended")
    work, out = np.zeros(module.WORK_WORDS, np.uint64), np.zeros(module.NUM_FEATURES, np.float32)
    assert len(find(game, "extended").names) == module.NUM_FEATURES
    call = jax.jit(jax.vmap(functools.partial(extended.extended, game), (0, None)))
    for seat in (0, 1):
        want = np.asarray(call(states, jnp.int32(seat)))
        for n, row in enumerate(facet.row(states)):
            module.features(row, seat, out, work)
            np.testing.assert_allclose(out, want[n], rtol=1e-6, atol=1e-7)


def test_mirror_images_have_the_same_features() -> None:
    game = Jumper(6)
    states = positions(6, 50, seed=3)
    call = jax.jit(jax.vmap(functools.partial(extended.extended, game), (0, None)))
    image = jax.jit(jax.vmap(game.symmetric, (0, None)))
    for number in range(1, game.num_symmetries):
        mirrored = call(image(states, jnp.int32(number)), jnp.int32(0))
        np.testing.assert_allclose(np.asarray(mirrored), np.asarray(call(states, jnp.int32(0))), rtol=1e-6)
