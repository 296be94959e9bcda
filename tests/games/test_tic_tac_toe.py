"""Tic-tac-toe against a second, plain Python reading of its rules, and on positions made by hand."""

from __future__ import annotations

import csv
import pathlib
import random
from collections import Counter

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from boardrl.errors import UserError
from boardrl.game import TERMINAL
from games.tic_tac_toe import TicTacToe

GAME = TicTacToe()
DATA = pathlib.Path(__file__).parents[1] / "data" / "perft.csv"
LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


class Plain:
    """A position as nine characters; whose turn it is follows from their number."""

    def __init__(self, cells: str = " " * 9) -> None:
        self.cells = cells

    @property
    def winner(self) -> str | None:
        return next(
            (self.cells[a] for a, b, c in LINES if self.cells[a] == self.cells[b] == self.cells[c] != " "), None
        )

    @property
    def mover(self) -> str:
        return "XO"[self.cells.count("X") > self.cells.count("O")]

    def moves(self) -> list[int]:
        return [] if self.winner else [cell for cell in range(9) if self.cells[cell] == " "]

    def play(self, cell: int) -> Plain:
        return Plain(self.cells[:cell] + self.mover + self.cells[cell + 1 :])


def levels(depth: int, *, keep_finished: bool) -> list[Counter[str]]:
    """Positions after 1 to `depth` moves, with the number of paths to each."""
    level, all_levels = Counter({" " * 9: 1}), []
    for _ in range(depth):
        following: Counter[str] = Counter()
        for cells, paths in level.items():
            position = Plain(cells)
            for move in position.moves():
                following[position.play(move).cells] += paths
            if keep_finished and not position.moves():
                following[cells] += paths
        level = following
        all_levels.append(level)
    return all_levels


def test_perft_data_agree_with_plain_python():
    rows = [row for row in csv.DictReader(DATA.read_text().splitlines()) if row["game"] == "tic_tac_toe"]
    counted = levels(9, keep_finished=True)
    assert [(int(row["depth"]), int(row["paths"]), int(row["states"])) for row in rows] == [
        (depth, level.total(), len(level)) for depth, level in enumerate(counted, 1)
    ]


def test_conventions_of_counting():
    """Published counts of full-length paths leave finished games out; ours count each finished game once, for ever."""
    full = [level.total() for level in levels(9, keep_finished=False)]
    kept = [level.total() for level in levels(9, keep_finished=True)]
    assert full == [9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872]
    ended = [
        sum(paths for cells, paths in level.items() if not Plain(cells).moves())
        for level in levels(9, keep_finished=False)
    ]
    assert kept == [full[d] + sum(ended[:d]) for d in range(9)]
    assert kept[-1] == sum(ended) == 255168  # all games of tic-tac-toe


@jax.jit
def answers(state):
    return (
        GAME.actor(state),
        GAME.legal(state),
        GAME.returns(state),
        jnp.stack([GAME.observe(state, p) for p in (0, 1)]),
    )


def test_whole_games_agree_with_plain_python():
    rng, step, results = random.Random(1), jax.jit(GAME.step), Counter()
    for _ in range(60):
        plain, state = Plain(), GAME.init()
        while True:
            actor, legal, returns, observed = map(np.asarray, answers(state))
            moves = plain.moves()
            assert np.flatnonzero(legal).tolist() == moves
            assert "".join(" XO"[cell] for cell in np.asarray(state.board)) == plain.cells
            assert actor == ("XO".index(plain.mover) if moves else TERMINAL)
            won = {"X": [1.0, -1.0], "O": [-1.0, 1.0], None: [0.0, 0.0]}[plain.winner]
            assert returns.tolist() == won
            for seat, (mine, theirs) in enumerate(("XO", "OX")):
                planes = [[c == mine for c in plain.cells], [c == theirs for c in plain.cells]]
                assert observed[seat, :18].reshape(2, 9).tolist() == planes
            if not moves:
                results[plain.winner] += 1
                break
            assert (observed[:, 18:] == (np.arange(2) == actor)[:, None]).all()
            move = rng.choice(moves)
            plain, state = plain.play(move), step(state, jnp.int32(move))
    assert set(results) == {"X", "O", None}  # wins of both and draws have all been compared


@pytest.mark.parametrize(
    ("text", "actor", "returns"),
    [
        ("... ... ... 0", 0, [0, 0]),
        ("X.. .O. ... 0", 0, [0, 0]),
        ("XX. OO. X.. 1", 1, [0, 0]),
        ("XXX OO. ... 1", TERMINAL, [1, -1]),
        ("XXO XO. O.. 0", TERMINAL, [-1, 1]),
        ("XO. XO. X.. 1", TERMINAL, [1, -1]),
        ("XO. OX. ..X 1", TERMINAL, [1, -1]),
        ("XOX XOO OXX 1", TERMINAL, [0, 0]),
    ],
)
def test_positions_made_by_hand(text, actor, returns):
    state = GAME.from_text(text)
    assert int(GAME.actor(state)) == actor
    assert GAME.returns(state).tolist() == returns
    assert GAME.legal(state).tolist() == [actor != TERMINAL and mark == "." for mark in text.replace(" ", "")[:9]]
    assert GAME.to_text(state) == text


def test_a_move_wins_and_the_end_stays():
    won = GAME.step(GAME.from_text("XX. OO. ... 0"), jnp.int32(2))
    assert GAME.to_text(won) == "XXX OO. ... 1"
    assert int(won.winner) == 0
    assert GAME.to_text(GAME.step(won, jnp.int32(5))) == "XXX OO. ... 1"


@pytest.mark.parametrize(
    "text", ["", "X.. .O. ...", "X.. .O. ... 2", "X.. .Q. ... 0", "X... .O ... 0", "X.. .O. ... ... 0", "XXX OOO ... 0"]
)
def test_bad_position_is_refused(text):
    with pytest.raises(UserError, match="bad position"):
        GAME.from_text(text)
