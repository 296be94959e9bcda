"""Pictures of Jumper positions: shapes for SVG and replays, glyphs for the terminal."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
import rich.text

from boardrl import drawing
from boardrl.drawing import Circle, Drawing, Glyph, Label, Part, PlainShape, Polygon, Rect, Shape
from games.jumper.rules import BLACK, DEAD, DIRECTIONS, EMPTY, NO_CHAIN, WHITE, Rules, State
from games.jumper.text import NAMES

CELLS = ("#e3d3b0", "#d8c49a")  # the two shades of the board
LINE, CHAIN, CROSS = "#6b5a3c", "#c22f2f", "#5b5140"
GRAVE = "#a2967c"  # the ground of a dead cell
FILL = {WHITE: "#fbfaf5", BLACK: "#26241f"}
GLOSS = {WHITE: "#cfcabc", BLACK: "#57534a"}
MARGIN = 0.7  # for the numbers of rows and columns, in cells
FOOT = 0.9  # for the line below the board


def draw(game: Rules, state: State) -> Drawing:
    """The board with its row and column numbers, pieces, crosses on dead cells; an unfinished chain's last cell has a
    ring, and arrows to where it may go on."""
    width = game.size + MARGIN
    return Drawing(width, width + FOOT, _board(game.size), _pieces(game, state), _foot(game, state), FOOT)


def clicks(game: Rules, state: State, action: int) -> list[str]:
    """The cell to place on, or the piece that hops and where it lands; in a chain the landing alone."""
    if action == game.stop:
        return []
    if action < game.num_cells:
        return [f"c{action}"]
    start, landing = _hop(game, action)
    return [f"c{landing}"] if int(state.chain) != NO_CHAIN else [f"c{start}", f"c{landing}"]


def routes(game: Rules, state: State, move: int) -> dict[str, list[tuple[float, float]]]:
    """The new piece of a hop comes from the one that hops."""
    if move < game.num_cells or move == game.stop:
        return {}
    start, landing = _hop(game, move)
    return {f"p{landing}": [_centre(game, start), _centre(game, landing)]}


def _hop(game: Rules, action: int) -> tuple[int, int]:
    """The cells from which and to which an action hops."""
    direction, start = divmod(action - game.num_cells, game.num_cells)
    row, column = DIRECTIONS[direction]
    return start, start + 2 * (game.size * row + column)


def _centre(game: Rules, cell: int) -> tuple[float, float]:
    return MARGIN + cell % game.size + 0.5, MARGIN + cell // game.size + 0.5


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
            square = Rect(MARGIN + column, MARGIN + row, 1, 1, fill=CELLS[(row + column) % 2], line=LINE)
            shapes.append(Part("cell", f"c{size * row + column}", (square,), f"row {row}, column {column}"))
    return shapes


def _pieces(game: Rules, state: State) -> list[Shape]:
    shapes: list[Shape] = []
    for cell, what in enumerate(np.asarray(state.board).tolist()):
        x, y = _centre(game, cell)
        if what in FILL:
            disc = Circle(x, y, 0.38, fill=FILL[what], line=LINE)
            gloss = Circle(x, y, 0.27, fill="none", line=GLOSS[what])
            shadow = Circle(x + 0.03, y + 0.05, 0.38, fill="#00000030")
            shapes.append(Part("piece", f"p{cell}", (shadow, disc, gloss), NAMES[what], (x, y)))
        elif what == DEAD:
            shapes += [Rect(x - 0.5, y - 0.5, 1, 1, fill=GRAVE, line=LINE), _bar(x, y, 1), _bar(x, y, -1)]
        if cell == int(state.chain):
            shapes.append(Circle(x, y, 0.46, line=CHAIN))
    if int(state.chain) != NO_CHAIN:
        for action in np.flatnonzero(_legal(game, state)).tolist():
            if action != game.stop:
                shapes.append(_arrow(*(_centre(game, cell) for cell in _hop(game, action))))
    return shapes


def _foot(game: Rules, state: State) -> list[PlainShape]:
    words, width = status(game, state), game.size + MARGIN
    size = drawing.fitting(words, width=width, most=0.35)
    return [Label(width / 2, width + FOOT / 2, words, size)]


@functools.partial(jax.jit, static_argnames="game")
def _legal(game: Rules, state: State) -> jax.Array:
    return game.legal(jax.tree.map(jnp.asarray, state))


def _arrow(start: tuple[float, float], end: tuple[float, float]) -> Polygon:
    """From the ring around one cell into another."""
    (x, y), (u, v) = start, end
    length = float(np.hypot(u - x, v - y))
    along, across = ((u - x) / length, (v - y) / length), (-(v - y) / length, (u - x) / length)
    outline = [(0.5, 0.03), (length - 0.32, 0.03), (length - 0.32, 0.13), (length - 0.08, 0)]
    corners = [*outline, *((far, -side) for far, side in reversed(outline))]
    return Polygon(
        tuple((x + f * along[0] + s * across[0], y + f * along[1] + s * across[1]) for f, s in corners), CHAIN
    )


def _bar(x: float, y: float, slope: int) -> Polygon:
    """One stroke of a cross."""
    far, near = 0.3, 0.22
    corners = ((-far, -near), (-near, -far), (far, near), (near, far))
    return Polygon(tuple((x + dx, y + slope * dy) for dx, dy in corners), fill=CROSS)
