"""Pictures of Jumper positions: shapes for SVG and replays, glyphs for the terminal."""

from __future__ import annotations

import numpy as np
import rich.text

from boardrl import drawing
from boardrl.drawing import Circle, Drawing, Glyph, Label, Polygon, Rect, Shape
from games.jumper.rules import BLACK, DEAD, EMPTY, NO_CHAIN, WHITE, Rules, State
from games.jumper.text import NAMES

CELLS = ("#e3d3b0", "#d8c49a")  # the two shades of the board
LINE, CHAIN, CROSS = "#6b5a3c", "#c22f2f", "#8a7b60"
FILL = {WHITE: "#fbfaf5", BLACK: "#26241f"}
MARGIN = 0.7  # for the numbers of rows and columns, in cells
FOOT = 0.9  # for the line below the board


def draw(game: Rules, state: State) -> Drawing:
    """The board with its row and column numbers, pieces, crosses on dead cells, a ring around a chain's last cell."""
    width = game.size + MARGIN
    return Drawing(width, width + FOOT, _board(game.size), _pieces(game, state))


def show(game: Rules, state: State) -> rich.text.Text:
    """The same for a terminal: W and B are pieces, x is dead, brackets mark the last cell of an unfinished chain."""
    header = [Glyph("   " + "".join(f"{column:^3}" for column in range(game.size)), "bright_black")]
    rows = [header]
    board = np.asarray(state.board).reshape(game.size, game.size)
    for row in range(game.size):
        glyphs = [Glyph(f"{row:>2} ", "bright_black")]
        for column in range(game.size):
            left, right = "[]" if int(state.chain) == game.size * row + column else "  "
            what = int(board[row, column])
            colour = {WHITE: "black", BLACK: "white"}.get(what, CROSS)
            ground = FILL.get(what, CELLS[(row + column) % 2])
            glyphs.append(Glyph(left + "·WBx"[what] + right, colour, ground, bold=what in FILL))
        rows.append(glyphs)
    return drawing.terminal([*rows, [Glyph(status(game, state), bold=True)]])


def status(game: Rules, state: State) -> str:
    """A sentence with the score and whose turn it is."""
    board = np.asarray(state.board)
    white, black = int((board == WHITE).sum()), int((board == BLACK).sum())
    score = f"white {white}, black {black}"
    if (board != EMPTY).all():
        return f"{score}: " + ("a draw" if white == black else f"{NAMES[WHITE if white > black else BLACK]} wins")
    who = NAMES[WHITE + int(state.turn)]
    if (board != EMPTY).sum() < game.num_dealt:
        return f"{score}; the start is dealt"
    if int(state.chain) != NO_CHAIN:
        return f"{score}; {who} hops on from {int(state.chain) // game.size} {int(state.chain) % game.size} or stops"
    return f"{score}; {who} to move"


def _board(size: int) -> list[Shape]:
    shapes: list[Shape] = []
    for row in range(size):
        shapes.append(Label(MARGIN / 2, MARGIN + row + 0.5, str(row), 0.35, LINE))
        shapes.append(Label(MARGIN + row + 0.5, MARGIN / 2, str(row), 0.35, LINE))
        for column in range(size):
            shade = CELLS[(row + column) % 2]
            shapes.append(Rect(MARGIN + column, MARGIN + row, 1, 1, fill=shade, line=LINE))
    return shapes


def _pieces(game: Rules, state: State) -> list[Shape]:
    shapes: list[Shape] = []
    for cell, what in enumerate(np.asarray(state.board).tolist()):
        x, y = MARGIN + cell % game.size + 0.5, MARGIN + cell // game.size + 0.5
        if what in FILL:
            shapes.append(Circle(x, y, 0.38, fill=FILL[what], line=LINE))
        elif what == DEAD:
            shapes += [_bar(x, y, 1), _bar(x, y, -1)]
        if cell == int(state.chain):
            shapes.append(Circle(x, y, 0.46, line=CHAIN))
    words, width = status(game, state), game.size + MARGIN
    size = drawing.fitting(words, width=width, most=0.35)
    shapes.append(Label(width / 2, width + FOOT / 2, words, size))
    return shapes


def _bar(x: float, y: float, slope: int) -> Polygon:
    """One stroke of a cross."""
    far, near = 0.3, 0.22
    corners = ((-far, -near), (-near, -far), (far, near), (near, far))
    return Polygon(tuple((x + dx, y + slope * dy) for dx, dy in corners), fill=CROSS)
