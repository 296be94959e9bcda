"""Ataxx against a second, plain Python reading of its rules, published counts, and positions made by hand."""

from __future__ import annotations

import csv
import functools
import pathlib
import random
from collections import Counter
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from boardrl import registry
from boardrl.errors import UserError
from boardrl.game import TERMINAL
from boardrl.matches import arena
from boardrl.play import players
from boardrl.testing import host_check
from games.ataxx import Ataxx, tables

DATA = pathlib.Path(__file__).parents[1] / "data" / "perft.csv"
GAME = Ataxx()
# Legal moves after 1, 2, … plies as tests/perft.cpp of github.com/kz04px/libataxx has them (commit 23065fc; the same
# counts are in the tests of the engines sanctaphraxx and zataxx). A pass counts as a move there, and a game that is
# over has none.
PUBLISHED = {
    "x5o/7/7/7/7/7/o5x x": [16, 256, 6460, 155888, 4752668],
    "x5o/7/7/7/7/7/o5x o": [16, 256, 6460, 155888, 4752668],
    "7/7/7/7/ooooooo/ooooooo/xxxxxxx x": [1, 75, 249, 14270, 452980],
    "7/7/7/7/ooooooo/ooooooo/xxxxxxx o": [75, 249, 14270, 452980],
    "7/7/7/7/xxxxxxx/xxxxxxx/ooooooo x": [75, 249, 14270, 452980],
    "7/7/7/2x1o2/7/7/7 x": [23, 419, 7887, 168317, 4266992],
    "7/7/7/2x1o2/7/7/7 o": [23, 419, 7887, 168317, 4266992],
}


class Plain(NamedTuple):
    """A position in Python's own types: (row, column) to 'x' or 'o', and who is to move."""

    size: int
    board: frozenset[tuple[tuple[int, int], str]]
    mover: str

    @classmethod
    def read(cls, text: str) -> Plain:
        rows, mover = text.split()
        board = set()
        for r, row in enumerate(rows.split("/")):
            c = 0
            for mark in row:
                if mark in "xo":
                    board.add(((r, c), mark))
                c += 1 if mark in "xo" else int(mark)
        return cls(len(rows.split("/")), frozenset(board), mover)

    @property
    def over(self) -> bool:
        marks = {mark for _, mark in self.board}
        return len(marks) < 2 or not (self.moves("x") or self.moves("o"))

    def around(self, cell: tuple[int, int], distance: int) -> list[tuple[int, int]]:
        steps = range(-distance, distance + 1)
        ring = [(cell[0] + dr, cell[1] + dc) for dr in steps for dc in steps if max(abs(dr), abs(dc)) == distance]
        return [(r, c) for r, c in ring if 0 <= r < self.size and 0 <= c < self.size]

    def moves(self, mark: str) -> set[tuple[tuple[int, int] | None, tuple[int, int]]]:
        """(source of a jump or None, target)."""
        taken, found = dict(self.board), set()
        for cell, owner in self.board:
            if owner == mark:
                found |= {(None, target) for target in self.around(cell, 1) if target not in taken}
                found |= {(cell, target) for target in self.around(cell, 2) if target not in taken}
        return found

    def play(self, move: tuple[tuple[int, int] | None, tuple[int, int]]) -> Plain:
        board = dict(self.board)
        source, target = move
        if source is not None:
            del board[source]
        board[target] = self.mover
        for cell in self.around(target, 1):
            if cell in board:
                board[cell] = self.mover
        return Plain(self.size, frozenset(board.items()), self.passed().mover)

    def passed(self) -> Plain:
        return self._replace(mover="o" if self.mover == "x" else "x")

    def count(self, depth: int) -> int:
        """Legal moves `depth` plies on, as libataxx counts them."""
        level = Counter({self: 1})
        for _ in range(depth - 1):
            after: Counter[Plain] = Counter()
            for position, paths in level.items():
                if not position.over:
                    moves = position.moves(position.mover)
                    for following in [position.play(move) for move in moves] or [position.passed()]:
                        after[following] += paths
            level = after
        return sum(paths * max(1, len(p.moves(p.mover))) for p, paths in level.items() if not p.over)


@pytest.mark.parametrize(("text", "depth"), [(text, 2 if i else 3) for i, text in enumerate(PUBLISHED)])
def test_plain_python_counts_what_engines_count(text, depth):
    assert [Plain.read(text).count(d) for d in range(1, depth + 1)] == PUBLISHED[text][:depth]


def test_the_data_of_perft_are_the_published_counts():
    """tests/boardrl/exact/test_perft.py counts them; no game is over and nobody has to pass so early."""
    rows = [row for row in csv.DictReader(DATA.read_text().splitlines()) if row["game"] == "ataxx"]
    assert [int(row["paths"]) for row in rows] == PUBLISHED["x5o/7/7/7/7/7/o5x x"][:4]
    level = {Plain.read("x5o/7/7/7/7/7/o5x x")}
    for row in rows[:3]:
        level = {position.play(move) for position in level for move in position.moves(position.mover)}
        assert len(level) == int(row["states"])


@functools.partial(jax.jit, static_argnames="game")
def answers(game, state):
    return game.actor(state), game.legal(state), game.returns(state)


def action(size: int, move: tuple[tuple[int, int] | None, tuple[int, int]]) -> int:
    source, target = (size * size if cell is None else size * cell[0] + cell[1] for cell in move)
    return int(np.flatnonzero((tables(size).source == source) & (tables(size).target == target))[0])


@pytest.mark.parametrize(("size", "games"), [(4, 12), (7, 2)])
def test_whole_games_agree_with_plain_python(size, games):
    game, rng, results, passes = Ataxx(size), random.Random(size), Counter(), 0
    step = jax.jit(game.step)
    for _ in range(games):
        state = game.init()
        plain = Plain.read(game.to_text(state))
        while True:
            actor, legal, returns = map(np.asarray, answers(game, state))
            if not plain.over and not plain.moves(plain.mover):
                plain, passes = plain.passed(), passes + 1
            turn = "-" if plain.over else plain.mover
            assert game.to_text(state).split()[1] == turn
            assert Plain.read(game.to_text(state)).board == plain.board
            moves = [] if plain.over else sorted(plain.moves(plain.mover), key=str)
            assert np.flatnonzero(legal).tolist() == sorted(action(size, move) for move in moves)
            lead = sum(1 if mark == "x" else -1 for _, mark in plain.board) if plain.over else 0
            assert returns.tolist() == [np.sign(lead), -np.sign(lead)]
            if plain.over:
                assert actor == TERMINAL
                results[int(np.sign(lead))] += 1
                break
            move = rng.choice(moves)
            plain, state = plain.play(move), step(state, jnp.int32(action(size, move)))
    assert results.total() == games
    assert size == 7 or (len(results) > 1 and passes)


@pytest.mark.parametrize(
    ("text", "move", "after"),
    [
        ("x5o/7/7/7/7/7/o5x x", "f1", "x5o/7/7/7/7/7/o4xx o"),  # a clone
        ("x5o/7/7/7/7/7/o5x x", "g1e3", "x5o/7/7/7/4x2/7/o6 o"),  # a jump
        ("7/2ooo2/2o1o2/2ooo2/7/7/x5x x", "a1b3", "7/2ooo2/2o1o2/2xoo2/1x5/7/6x o"),  # turns the one that it touches
        ("7/2ooo2/2o1o2/2ooo2/7/7/x5x x", "a1c2", "7/2ooo2/2o1o2/2ooo2/7/2x4/6x o"),
        ("7/2ooo2/2o1o2/2ooo2/3x3/7/o6 x", "d3d5", "7/2xxx2/2xxx2/2xxx2/7/7/o6 o"),  # all around
        ("7/7/7/7/7/7/x1o4 x", "b1", "7/7/7/7/7/7/xxx4 -"),  # the other colour is gone
        ("xxx/xo1/xxx x", "c2", "xxx/xxx/xxx -"),  # the board is full
        ("xxx/xxo/x1o x", "b1", "xxx/xxx/xxx -"),
        ("oooo/oooo/xxxo/xo1o x", "c1", "oooo/oooo/xxxx/xxxx -"),
        ("oxx4/xxx4/xx5/7/7/7/7 x", "d7", "oxxx3/xxx4/xx5/7/7/7/7 o"),  # o can jump to c5
        ("oxx4/xxx4/xxx4/7/7/7/7 x", "d7", "oxxx3/xxx4/xxx4/7/7/7/7 x"),  # o is shut in and passed over
    ],
)  # fmt: skip
def test_moves_made_by_hand(text, move, after):
    game = Ataxx(len(text.split("/")))
    state = game.from_text(text)
    names = {game.move_text(state, number): number for number in np.flatnonzero(game.legal(state))}
    assert game.to_text(game.step(state, jnp.int32(names[move]))) == after


def test_the_larger_colour_wins_and_equal_ones_draw():
    for text, returns in {"xxo/xxo/xoo -": [1, -1], "oxo/oxo/oox -": [-1, 1]}.items():
        state = Ataxx(3).from_text(text)
        assert Ataxx(3).returns(state).tolist() == returns
        assert not Ataxx(3).legal(state).any()
    assert Ataxx(4).returns(Ataxx(4).from_text("xxxx/xxxx/oooo/oooo -")).tolist() == [0, 0]


def test_mirror_images_move_alike():
    game, state = Ataxx(4), Ataxx(4).from_text("x2o/1x2/4/o2x o")
    images = [game.symmetric(state, jnp.int32(number)) for number in range(game.num_symmetries)]
    assert game.to_text(images[0]) == game.to_text(state)
    assert len({game.to_text(image) for image in images}) == 8 // 2  # the position is its own mirror image
    assert {int(game.legal(image).sum()) for image in images} == {int(game.legal(state).sum())}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "expected 7 rows of 7 cells"),
        ("x5o/7/7/7/7/7/o5 x", "expected 7 rows of 7 cells"),
        ("x5o/7/7/7/7/7/o5z x", "expected 7 rows of 7 cells"),
        ("x5o/7/7/7/7/7/o5x -", "'-' does not move there"),
        ("x5o/7/7/7/7/7/o5x xo", "'xo' does not move there"),
        ("7/7/7/7/ooooooo/ooooooo/xxxxxxx x", "'x' does not move there"),  # it has to pass
        ("x6/7/7/7/7/7/7 x", "'x' does not move there"),  # it has won
    ],
)
def test_bad_positions_are_refused(text, words):
    with pytest.raises(UserError, match=words):
        GAME.from_text(text)


@pytest.mark.parametrize("size", [2, 9])
def test_bad_sizes_are_refused(size):
    with pytest.raises(UserError, match=f"size={size} does not fit ataxx: expected 3 to 8"):
        Ataxx(size)


def test_the_board_is_shown():
    assert str(Ataxx(3).show(Ataxx(3).init())) == "3 x . o\n2 . . .\n1 o . x\n  a b c"


def test_features_weigh_pieces_room_and_turn():
    state = Ataxx(3).from_text("xx1/3/2o o")
    # x touches 4 empty cells, o 3.
    np.testing.assert_allclose(Ataxx(3).features(state, jnp.int32(0)), [1 / 9, 1 / 9, -1], rtol=1e-6)
    np.testing.assert_allclose(Ataxx(3).features(state, jnp.int32(1)), [-1 / 9, -1 / 9, 1], rtol=1e-6)


def test_compiled_rules_do_not_differ():
    agreement = host_check.compare(registry.make("ataxx"), num_rolls=8192, seed=1)
    assert agreement.games >= 20
    assert agreement.differences == dict.fromkeys(agreement.differences, 0)


def test_a_shallow_search_beats_random():
    pair = [players.make("negascout(depth=2,kilobytes=512)", GAME), players.make("random", GAME)]
    assert arena.match(GAME, pair, num_games=6, seed=0, processes=1).players[0].wins == 6
