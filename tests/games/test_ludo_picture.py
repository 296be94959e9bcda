"""Where pieces are drawn, and what the terminal shows."""

import collections
import itertools

import numpy as np
import pytest

from boardrl import drawing
from boardrl.drawing import Circle, Label, Part, Polygon, Rect
from boardrl.game import CHANCE, TERMINAL
from boardrl.play import position
from games.ludo import Ludo, layout
from games.ludo.picture import FULL, GOLD, INK, PALE, SEA

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


def shapes_of(parts, name=""):
    """The plain shapes of a picture, or of one of its parts."""
    return [
        shape
        for part in parts
        if not name or (isinstance(part, Part) and part.name == name)
        for shape in (part.shapes if isinstance(part, Part) else [part])
    ]


def test_drawing_has_board_pieces_turn_and_die():
    game = Ludo(rules="sdu_java")
    picture = game.draw(game.from_text("1.1.0.57 1.0.0.0 0.0.0.0 0.0.0.0 1 plays 6 tries=1 ranks=0.0.0.0"))
    assert sum(isinstance(shape, Polygon) and shape.fill == GOLD for shape in picture.board) == 8  # stars
    assert sum(isinstance(shape, Circle) and shape.fill == SEA for shape in picture.board) == 8  # globes
    squares = [shape for shape in picture.board if isinstance(shape, Rect) and shape.width == 1]
    assert sum(shape.fill in PALE for shape in squares) == 4 * (1 + 5)  # start and column
    assert len(squares) == 52 + 4 * 5
    yards = [shape.fill for shape in picture.board if isinstance(shape, Rect) and shape.width == 6]
    assert sorted(yards) == sorted(FULL)
    places = [shape for shape in picture.board if isinstance(shape, Circle) and shape.fill in PALE]
    assert len(places) == 4 * 4
    pieces = [shape for shape in shapes_of(picture.pieces) if isinstance(shape, Circle) and shape.fill in FULL]
    assert collections.Counter(piece.fill for piece in pieces) == dict.fromkeys(FULL, 4)
    on_start = [piece for piece in pieces if 1 <= piece.x < 2 and 6 <= piece.y < 7]
    assert len(on_start) == 2
    (first, second), middle = on_start, 6.5
    assert first.y == second.y == middle
    assert second.x - first.x >= first.radius + second.radius  # side by side
    (die,) = (shape for shape in shapes_of(picture.foot, "die") if isinstance(shape, Rect))
    assert die.fill == FULL[1]
    assert sum(isinstance(shape, Circle) for shape in shapes_of(picture.foot, "die")) == 6  # its pips
    rings = [shape for shape in shapes_of(picture.pieces) if isinstance(shape, Circle) and shape.line == INK]
    assert len(rings) == 4  # round red's pieces, which may all move
    status = [shape.text for shape in picture.foot if isinstance(shape, Label)][-1]
    assert status == "seat 1 (red) has rolled 6 and may move 0, 1, 2, 3"
    assert drawing.svg(picture).startswith("<svg")


def test_pieces_are_named_and_clicked():
    game = Ludo(rules="sdu_java")
    state = game.from_text("1.1.0.57 1.0.0.0 0.0.0.0 0.0.0.0 1 plays 6 tries=1 ranks=0.0.0.0")
    names = [part.name for part in game.draw(state).pieces]
    assert sorted(names) == sorted(f"p{seat}.{piece}" for seat in range(4) for piece in range(4))
    assert [game.clicks(state, action) for action in range(4)] == [["p1.0"], ["p1.1"], ["p1.2"], ["p1.3"]]
    label = next(part.label for part in game.draw(state).pieces if part.name == "p0.3")
    assert label == "yellow piece 3 at the goal"


@pytest.mark.parametrize("game", [*GAMES, Ludo()])
def test_a_piece_goes_square_by_square_to_where_the_rules_put_it(game):
    """Along random games: the way ends where the piece is drawn next, and on the cross no step is longer than one."""
    rng, look = np.random.default_rng(0), position.first(game)
    plan, moved = layout.make(game.board, game.column), 0
    while moved < 40 and look.actor != TERMINAL:
        dice = look.actor == CHANCE
        weights = np.asarray(look.chance if dice else look.legal, np.float64)
        move, before = int(rng.choice(len(weights), p=weights / weights.sum())), look
        look = position.after(game, before, move)
        ways = game.routes(before.state, move)
        if dice or move == game.pieces:
            assert ways == {}
            continue
        moved += 1
        seat = int(before.state.turn)
        ((name, points),) = ways.items()
        assert name == f"p{seat}.{move}"
        place = int(look.state.pieces[seat, move])
        assert points[-1] == plan.point(game.board, seat, move, place)
        if len(points) == int(before.state.die) and game.ring == 52 and place:
            start = plan.point(game.board, seat, move, int(before.state.pieces[seat, move]))
            assert all(max(abs(x - u), abs(y - v)) <= 1 for (x, y), (u, v) in itertools.pairwise([start, *points]))


# Machado, Oliveira & Fernandes (2009), severity 1.0, on linear RGB.
BLINDNESS = {
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
TO_XYZ = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]


@pytest.mark.parametrize("kind", BLINDNESS)
def test_the_colours_differ_for_people_who_are_blind_to_some(kind):
    rgb = np.array([[int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)] for colour in FULL])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ np.array(BLINDNESS[kind]).T, 0, 1)
    x, y, z = np.cbrt(np.maximum(seen @ np.array(TO_XYZ).T / [0.9505, 1.0, 1.089], 1e-9)).T
    lab = np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], 1)
    apart = [np.linalg.norm(lab[one] - lab[other]) for one, other in itertools.combinations(range(4), 2)]
    assert min(apart) > 15  # CIE76; 2.3 is just noticeable


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
