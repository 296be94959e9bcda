"""Where pieces are drawn, and what the terminal shows."""

import collections

import pytest

from boardrl import drawing
from boardrl.drawing import Circle, Label, Polygon, Rect
from games.ludo import Ludo, layout
from games.ludo.picture import FULL, PALE

GAMES = [
    Ludo(rules="sdu_java"),
    Ludo(rules="ludopy131", players=3),
    Ludo(players=2, pieces=2, ring=8, column=4),
    Ludo(ring=64, column=12),
]


@pytest.mark.parametrize("game", GAMES)
def test_every_place_has_a_cell_of_its_own(game):
    plan = layout.make(game.board, game.column)
    board = game.board
    cells = [*plan.ring]
    for quarter in range(4):
        cells += [*plan.column[quarter], plan.goal[quarter], *plan.base[quarter]]
    assert len(plan.ring) == board.ring
    assert max(collections.Counter(cells).values()) == 1
    assert all(0 <= x < plan.size and 0 <= y < plan.size for x, y in cells)
    # Seats meet where the rules say: seat 1 is `gap` squares ahead of seat 0.
    assert plan.cell(board, 0, 0, 1 + board.gap) == plan.cell(board, 1, 0, 1)
    assert plan.cell(board, 0, 0, board.goal) == plan.goal[0]
    assert plan.cell(board, 0, 0, board.goal - 1) == plan.column[0][-1]
    # One step along the ring of the cross is one cell.
    if board.ring == 52:
        steps = zip(plan.ring, plan.ring[1:] + plan.ring[:1], strict=True)
        assert all(max(abs(a - c), abs(b - d)) == 1 for (a, b), (c, d) in steps)


def test_drawing_has_board_pieces_turn_and_die():
    game = Ludo(rules="sdu_java")
    picture = game.draw(game.from_text("1.1.0.57 1.0.0.0 0.0.0.0 0.0.0.0 1 plays 6 tries=1 ranks=0.0.0.0"))
    kinds = collections.Counter(type(shape) for shape in picture.board)
    assert kinds[Polygon] == 8  # stars
    assert kinds[Circle] == 8  # globes
    squares = [shape for shape in picture.board if isinstance(shape, Rect)]
    assert sum(shape.fill in PALE for shape in squares) == 4 * (1 + 5 + 1 + 4)  # start, column, goal, base
    pieces = [shape for shape in picture.pieces if isinstance(shape, Circle) and shape.fill in FULL]
    assert collections.Counter(piece.fill for piece in pieces) == dict.fromkeys(FULL, 4)
    on_start = [piece for piece in pieces if 1 <= piece.x < 2 and 6 <= piece.y < 7]
    assert len(on_start) == 2
    (first, second), middle = on_start, 6.5
    assert first.y == second.y == middle
    assert second.x - first.x >= first.radius + second.radius  # side by side
    (die,) = (shape for shape in picture.pieces if isinstance(shape, Rect))
    assert die.fill == FULL[1]
    assert sum(isinstance(s, Circle) and s.y > 15 for s in picture.pieces) == 6  # its pips
    rings = [
        shape for shape in picture.pieces if isinstance(shape, Circle) and shape.fill == "#ffffff" and shape.y < 15
    ]
    assert len(rings) == 4  # round red's pieces, which may all move
    status = [shape.text for shape in picture.pieces if isinstance(shape, Label)][-1]
    assert status == "seat 1 (red) has rolled 6 and may move 0, 1, 2, 3"
    assert drawing.svg(picture).startswith("<svg")


def test_terminal_shows_counts_globes_and_stars():
    game = Ludo(rules="sdu_java")
    text = game.show(game.from_text("1.1.3.57 49.0.0.0 0.0.0.0 0.0.0.0 0 rolls tries=1 ranks=0.0.0.0"))
    rows = text.plain.split("\n")
    assert len(rows) == 16
    assert all(len(row) == 60 for row in rows[:15])
    cells = {(x, y): rows[y][4 * x : 4 * x + 4].strip() for x in range(15) for y in range(15)}
    assert cells[1, 6] == "2"
    assert cells[3, 6] == "●"
    assert cells[6, 2] == "o"  # the neutral globe of the first quarter
    assert cells[6, 5] == "*"
    assert cells[6, 7] == "●"  # at the goal
    assert cells[7, 6] == "G"
    assert cells[7, 7] == ""
    assert rows[15] == "● seat 0 (yellow) rolls"


def test_the_end_names_the_order():
    game = Ludo(rules="sdu_java", pieces=1)
    over = game.from_text("57 57 3 57 2 rolls tries=1 ranks=2.3.0.1")
    assert game.show(over).plain.split("\n")[-1] == "● over: 1. seat 3 (green), 2. seat 0 (yellow), 3. seat 1 (red)"
