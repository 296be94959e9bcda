"""Boards and moves of pgx's games as text, and the published counts of chess."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from boardrl import registry
from boardrl.exact import perft

COUNTS = [20, 400, 8902]  # paths of so many moves of chess: https://www.chessprogramming.org/Perft_Results


def lines(game: Any, state: Any) -> list[str]:
    return game.show(state).plain.split("\n")


def legal_texts(game: Any, state: Any) -> set[str]:
    legal = np.flatnonzero(np.asarray(game.legal(state)))
    texts = {game.move_text(state, np.int32(action)) for action in legal}
    assert len(texts) == len(legal)  # no two share a name
    return texts


def played(game: Any, *moves: str) -> Any:
    """The state after moves that are given by their texts."""
    state = game.init()
    for move in moves:
        named = {game.move_text(state, action): action for action in np.flatnonzero(np.asarray(game.legal(state)))}
        state = game.step(state, jnp.int32(named[move]))
    return state


def test_published_counts_of_chess(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(perft, "CHUNK", 64)  # states that are computed at once, however few there are
    assert [row.nodes for row in perft.counts(registry.make("pgx_chess"), len(COUNTS))] == COUNTS


def test_the_first_moves_of_chess_as_uci_names_them() -> None:
    game = registry.make("pgx_chess")
    pawns = {f"{file}2{file}{rank}" for file in "abcdefgh" for rank in "34"}
    assert legal_texts(game, game.init()) == pawns | {"b1a3", "b1c3", "g1f3", "g1h3"}
    small = registry.make("pgx_gardner_chess")
    assert legal_texts(small, small.init()) == {f"{file}2{file}3" for file in "abcde"} | {"b1a3", "b1c3"}
    assert lines(small, small.init())[::2] == ["5 r n b q k", "3 . . . . .", "1 R N B Q K"]
    assert lines(small, small.init())[1::2] == ["4 p p p p p", "2 P P P P P", "  a b c d e"]


@pytest.mark.parametrize(
    ("color", "texts", "row"),
    [
        (0, ["b7b8q", "b7a8n", "b7c8b"], "7 . P . . . . . ."),
        (1, ["b2b1q", "b2a1n", "b2c1b"], "2 . p . . . . . ."),
    ],
)
def test_promotions_from_both_sides(color: int, texts: list[str], row: str) -> None:
    game: Any = registry.make("pgx_chess")
    start = game.init()
    pawn = 1 * 8 + 6  # pgx's number of b7 from the mover's view
    board = jnp.zeros(64, jnp.int8).at[pawn].set(1)
    state = start.replace(_x=start._x._replace(board=board, color=jnp.int32(color)))
    # pgx's planes: 16 is one step ahead, 0 to 8 are underpromotions (rook, bishop, knight) × (ahead, right, left).
    assert [game.move_text(state, 73 * pawn + plane) for plane in (16, 8, 4)] == texts
    assert row in lines(game, state)


def test_the_first_moves_of_shogi_as_usi_names_them() -> None:
    game = registry.make("pgx_shogi")
    pawns = {f"{file}g{file}f" for file in "123456789"}
    men = "1i1h 9i9h 3i3h 3i4h 7i7h 7i6h 4i3h 4i4h 4i5h 6i5h 6i6h 6i7h 5i4h 5i5h 5i6h"
    rook = "2h1h 2h3h 2h4h 2h5h 2h6h 2h7h"
    assert legal_texts(game, game.init()) == pawns | set(men.split()) | set(rook.split())
    assert lines(game, game.init())[2] == "b  .  r  .  .  .  .  .  b  ."


def test_animal_shogi_seen_by_the_second_player() -> None:
    game: Any = registry.make("pgx_animal_shogi")
    start = game.init()
    assert legal_texts(game, start) == {"2c2b", "1d1c", "2d1c", "2d3c"}
    assert lines(game, start)[1:-1] == ["a g l e", "b . c .", "c . C .", "d E L G", "  3 2 1"]
    # The mover's own lion and a chick one step before the last rank, an elephant in hand; he is second.
    board = jnp.full(12, -1, jnp.int8).at[7].set(3).at[1].set(0).at[4].set(8)
    state = start.replace(_board=board, _hand=start._hand.at[0, 1].set(1), _turn=jnp.int32(1))
    assert lines(game, state) == ["in hand: e", "a . l .", "b . . .", "c c . .", "d . L .", "  3 2 1", "in hand: -"]
    ahead, drop = 3 * 12 + 1, (8 + 1) * 12 + 11
    assert [game.move_text(state, move) for move in (ahead, drop)] == ["3c3d+", "E*1a"]


def test_othello_from_the_first_moves_on() -> None:
    game: Any = registry.make("pgx_othello")
    assert legal_texts(game, game.init()) == {"d3", "c4", "f5", "e6"}
    assert lines(game, played(game, "c4"))[3:5] == ["4 . . x x x . . .", "5 . . . x o . . ."]
    state = played(game, "c4", "e3")
    assert lines(game, state)[2:5] == ["3 . . . . o . . .", "4 . . x x o . . .", "5 . . . x o . . ."]
    assert game.move_text(state, 64) == "pass"


def test_the_swap_of_hex_mirrors_the_stone() -> None:
    game: Any = registry.make("pgx_hex")
    state = played(game, "c1")
    assert lines(game, state)[0] == " 1 . . x . . . . . . . ."
    state = played(game, "c1", "swap")
    assert lines(game, state)[:3] == [
        " 1 . . . . . . . . . . .",
        "  2 . . . . . . . . . . .",
        "   3 o . . . . . . . . . .",
    ]


def test_points_of_go_are_named_without_i() -> None:
    game: Any = registry.make("pgx_go_9x9")
    start = game.init()
    assert [game.move_text(start, move) for move in (0, 8, 80, 81)] == ["a9", "j9", "j1", "pass"]
    board = start._x.board.at[0].set(1).at[80].set(-81)  # whoever moves
    for step in (0, 1):
        shown = lines(game, start.replace(_x=start._x._replace(board=board, step_count=jnp.int32(step))))
        assert (shown[0], shown[8]) == ("9 x . . . . . . . .", "1 . . . . . . . . o")


def test_discs_of_connect_four_fall_to_the_bottom() -> None:
    game: Any = registry.make("pgx_connect_four")
    assert lines(game, played(game, "d", "d", "a"))[4:] == ["2 . . . o . . .", "1 x . . x . . .", "  a b c d e f g"]
    small: Any = registry.make("pgx_tic_tac_toe")
    assert lines(small, played(small, "a1", "b3")) == ["3 . o .", "2 . . .", "1 x . .", "  a b c"]
