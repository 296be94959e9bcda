"""Pictures of Ludo positions: shapes for SVG and replays, glyphs for the terminal."""

from __future__ import annotations

import collections
import math

import rich.text

from boardrl import drawing
from boardrl.drawing import Circle, Drawing, Glyph, Label, Polygon, Rect, Shape
from games.ludo import layout as layouts
from games.ludo.board import START
from games.ludo.layout import Cell, Layout
from games.ludo.rules import DRAW, ROLL, LudoRules, State

NAMES = ("yellow", "red", "blue", "green")
FULL = ("#d9a400", "#cc2b2b", "#2b5fcc", "#2a9a3c")  # colours of pieces, by quarter
PALE = ("#fdf0c0", "#f9d2d2", "#d2defa", "#d0f0d6")  # their squares
DIGITS = ("#222222", "#ffffff", "#ffffff", "#ffffff")  # on the pieces
EMPTY, LINE, GROUND, INK = "#ffffff", "#777777", "#f4f1ea", "#222222"
FOOT = 1.4  # height of the line below the board, in cells
DIE = 1.0  # side of the die there
# Positions of the pips of each face: -1, 0 and 1 are left or up, the middle, right or down.
_CORNERS, _OTHERS = [(-1, -1), (1, 1)], [(-1, 1), (1, -1)]
PIPS = {
    1: [(0, 0)],
    2: _CORNERS,
    3: [(0, 0), *_CORNERS],
    4: _CORNERS + _OTHERS,
    5: [(0, 0), *_CORNERS, *_OTHERS],
    6: [*_CORNERS, *_OTHERS, (-1, 0), (1, 0)],
}


def draw(game: LudoRules, state: State) -> Drawing:
    """The board with its globes and stars, the numbered pieces, whose turn it is and the die."""
    layout = layouts.make(game.board, game.column)
    return Drawing(layout.size, layout.size + FOOT, _board(game, layout), _pieces(game, layout, state))


def show(game: LudoRules, state: State) -> rich.text.Text:
    """The same for a terminal: ● is a piece, a digit is several pieces of one player; · is an empty square, o a globe,
    * a star, G a goal."""
    layout = layouts.make(game.board, game.column)
    grounds, marks = _grounds(game, layout), _marks(game, layout)
    standing: dict[Cell, collections.Counter[int]] = collections.defaultdict(collections.Counter)
    for seat, _, cell in _standing(game, layout, state):
        standing[cell][seat] += 1
    rows = []
    for row in range(layout.size):
        glyphs = []
        for column in range(layout.size):
            cell = (column, row)
            glyphs += _cell(game, standing.get(cell, collections.Counter()), grounds.get(cell, ""), marks.get(cell, ""))
        rows.append(glyphs)
    # Text in a player's colour is hard to read on some backgrounds; a disc is not.
    rows.append([Glyph("● ", FULL[_quarter(game, int(state.turn))], bold=True), Glyph(status(game, state), bold=True)])
    return drawing.terminal(rows)


def status(game: LudoRules, state: State) -> str:
    """A sentence about whose turn it is."""
    if int(state.finished) >= game.winners:
        order = sorted((rank, seat) for seat, rank in enumerate(state.ranks.tolist()) if rank)
        return "over: " + ", ".join(f"{rank}. {name(game, seat)}" for rank, seat in order)
    if int(state.die) == DRAW:
        return "the starter is drawn"
    who = name(game, int(state.turn))
    if int(state.die) == ROLL:
        return f"{who} rolls"
    pieces = ", ".join(str(piece) for piece, movable in enumerate(state.movable.tolist()) if movable)
    return f"{who} has rolled {int(state.die)} and may move {pieces}"


def name(game: LudoRules, seat: int) -> str:
    return f"seat {seat} ({NAMES[_quarter(game, seat)]})"


def _quarter(game: LudoRules, seat: int) -> int:
    return seat * game.board.gap // (game.ring // 4)


def _standing(game: LudoRules, layout: Layout, state: State) -> list[tuple[int, int, Cell]]:
    """(seat, piece, cell) of every piece."""
    return [
        (seat, piece, layout.cell(game.board, seat, piece, place))
        for seat, row in enumerate(state.pieces.tolist())
        for piece, place in enumerate(row)
    ]


def _marks(game: LudoRules, layout: Layout) -> dict[Cell, str]:
    board = game.board
    marks = {layout.ring[place - START]: "*" for place in board.near_stars + board.far_stars}
    marks |= {layout.ring[place - START]: "o" for place in board.neutral_globes + board.start_globes}
    return marks | {layout.goal[_quarter(game, seat)]: "G" for seat in range(game.players)}


def _grounds(game: LudoRules, layout: Layout) -> dict[Cell, str]:
    """The background colour of every cell that is a square."""
    grounds = dict.fromkeys(layout.ring, EMPTY)
    for seat in range(game.players):
        quarter = _quarter(game, seat)
        own = [layout.ring[seat * game.board.gap], *layout.column[quarter], layout.goal[quarter]]
        grounds |= dict.fromkeys([*own, *layout.base[quarter][: game.pieces]], PALE[quarter])
    return grounds


def _cell(game: LudoRules, owners: collections.Counter[int], ground: str, mark: str) -> list[Glyph]:
    """Four terminal columns: one for each player."""
    if not owners:
        return [Glyph(f" {mark or '·'}  " if ground else "    ", LINE, ground)]
    glyphs = [
        Glyph("●" if count == 1 else str(count), FULL[_quarter(game, seat)], ground, bold=True)
        for seat, count in sorted(owners.items())
    ]
    before = [Glyph(" ", "", ground)] if len(glyphs) < 4 else []
    return [*before, *glyphs, Glyph(" " * (4 - len(before) - len(glyphs)), "", ground)]


def _board(game: LudoRules, layout: Layout) -> list[Shape]:
    shapes: list[Shape] = [Rect(0, 0, layout.size, layout.size + FOOT, GROUND)]
    for (x, y), ground in _grounds(game, layout).items():
        shapes.append(Rect(x, y, 1, 1, ground, LINE))
    for (x, y), mark in _marks(game, layout).items():
        if mark == "o":
            shapes.append(Circle(x + 0.5, y + 0.5, 0.38, "none", LINE))
        elif mark == "*":
            shapes.append(_star(x + 0.5, y + 0.5))
        else:
            shapes.append(Rect(x + 0.15, y + 0.15, 0.7, 0.7, "none", LINE, 0.2))
    return shapes


def _star(x: float, y: float) -> Polygon:
    angles = [math.pi * corner / 5 - math.pi / 2 for corner in range(10)]
    radii = [0.42 if corner % 2 == 0 else 0.18 for corner in range(10)]
    points = zip(radii, angles, strict=True)
    return Polygon(tuple((x + r * math.cos(a), y + r * math.sin(a)) for r, a in points), "#e8e2d0", LINE)


def _pieces(game: LudoRules, layout: Layout, state: State) -> list[Shape]:
    cells = collections.defaultdict(list)
    for seat, piece, cell in _standing(game, layout, state):
        cells[cell].append((seat, piece))
    shapes: list[Shape] = []
    for (x, y), standing in cells.items():
        across = math.ceil(math.sqrt(len(standing)))
        down = math.ceil(len(standing) / across)
        radius = 0.34 if across == 1 else 0.44 / across
        for index, (seat, piece) in enumerate(standing):
            row, column = divmod(index, across)
            centre = x + (column + 0.5) / across, y + 0.5 + (row + 0.5 - down / 2) / across
            quarter = _quarter(game, seat)
            if seat == int(state.turn) and bool(state.movable[piece]):
                shapes.append(Circle(*centre, 1.3 * radius, EMPTY, INK))  # a ring around a movable piece
            shapes.append(Circle(*centre, radius, FULL[quarter], INK))
            shapes.append(Label(*centre, str(piece), 1.2 * radius, DIGITS[quarter]))
    return [*shapes, *_foot(game, layout, state)]


def _foot(game: LudoRules, layout: Layout, state: State) -> list[Shape]:
    """The die in the colour of the player to act, blank before the roll, and the text of `status`."""
    quarter, middle = _quarter(game, int(state.turn)), layout.size + FOOT / 2
    shapes: list[Shape] = []
    if int(state.die) != DRAW and int(state.finished) < game.winners:
        shapes.append(Rect(0.3, middle - DIE / 2, DIE, DIE, FULL[quarter], INK, 0.2))
        for x, y in PIPS.get(int(state.die), []):
            centre = 0.3 + DIE / 2 + x * 0.28 * DIE, middle + y * 0.28 * DIE
            shapes.append(Circle(*centre, 0.1 * DIE, DIGITS[quarter]))
    words, left = status(game, state), 0.6 + DIE
    size = drawing.fitting(words, width=layout.size - left, most=0.6)
    return [*shapes, Label((layout.size + left) / 2, middle, words, size, INK)]
