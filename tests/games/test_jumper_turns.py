"""Perft of Jumper by whole turns; the published rows of tests/data/perft.csv are read by test_perft.py."""

from __future__ import annotations

import csv
import pathlib

import plain_jumper as plain
import pytest

from boardrl import registry
from boardrl.exact import perft
from games.jumper import Jumper

DATA = pathlib.Path(__file__).parents[1] / "data" / "perft.csv"
BOARD = "5\nW - - - -\n- B - W -\n- - - - -\n- X - B -\n- - - - W\n"
ROWS = tuple(tuple("-WBX".index(c) for c in line.split()) for line in BOARD.splitlines()[1:])


def test_the_data_agree_with_the_plain_version() -> None:
    rows = [row for row in csv.DictReader(DATA.read_text().splitlines()) if row["game"].startswith("jumper")]
    assert len(rows) == 15
    for row in rows:
        size, depth = registry.make(row["game"]).size, int(row["depth"])
        if int(row["paths"]) < 10_000:
            for column in ("paths", "states"):
                got = plain.perft(plain.empty_board(size), plain.WHITE, depth, distinct=column == "states")
                assert got == int(row[column])


@pytest.mark.parametrize("distinct", [False, True])
@pytest.mark.parametrize(("side", "mover"), [("W", 1), ("B", 2)])
def test_counts_from_a_position(side: str, mover: int, distinct: bool) -> None:
    game = Jumper(5)
    state = game.from_text(BOARD + side)
    got = [row.nodes for row in perft.counts(game, 3, state=state, distinct=distinct)]
    assert got == [plain.perft(ROWS, mover, depth, distinct=distinct) for depth in (1, 2, 3)]


@pytest.mark.parametrize("distinct", [False, True])
def test_counts_from_the_middle_of_a_chain(distinct: bool) -> None:
    game = Jumper(5)
    state = game.from_text("5\nW - - - -\n- X - W -\n- - W - -\n- X - B -\n- - - - -\nW 2 2")
    board = tuple(map(tuple, state.board.reshape(5, 5).tolist()))
    after = [board, *(b for _, b in plain.chains(board, 1, ((2, 2),)))]  # stops, or goes on
    after = list(set(after)) if distinct else after
    assert perft.perft(game, 1, state=state, distinct=distinct) == len(after) > 2
    want = sum(plain.perft(b, 2, 1, distinct=distinct) for b in after)
    assert perft.perft(game, 2, state=state, distinct=distinct) == want


def test_a_finished_game_counts_1() -> None:
    game = Jumper(3)
    full = game.from_text("3\nW W W\nB B X\nW B W")
    assert [perft.perft(game, 3, state=full, distinct=distinct) for distinct in (False, True)] == [1, 1]
