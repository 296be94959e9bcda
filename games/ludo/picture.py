"""Pictures of Ludo positions: shapes for SVG, replays and the page, glyphs for the terminal."""

from __future__ import annotations

import collections
import functools
import math

import jax
import rich.text

from boardrl import drawing
from boardrl.drawing import Circle, Drawing, Glyph, Label, Part, PlainShape, Polygon, Rect, Shape
from games.ludo import board_picture
from games.ludo import layout as layouts
from games.ludo.board import BASE, START
from games.ludo.board_picture import DEEP, FULL, GROUND, INK, LINE, grounds, marks, quarter_of
from games.ludo.layout import Cell, Layout, Point
from games.ludo.rules import DRAW, ROLL, LudoRules, State

NAMES = ("yellow", "red", "blue", "green")
DIGITS = ("#222222", "#ffffff", "#ffffff", "#ffffff")  # on the die
RIM = "#ffffff"
SHADOW = "#00000038"
FOOT = 1.4  # height of the line below the board, in cells
DIE = 1.0  # side of the die there
RADIUS = 0.36  # of a piece that is alone on its square
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
    """The board with its yards, globes and stars, the numbered pieces, whose turn it is and the die."""
    layout = layouts.make(game.board, game.column)
    pieces, foot = _pieces(game, layout, state), _foot(game, layout, state)
    return Drawing(layout.size, layout.size + FOOT, board_picture.board(game, layout), pieces, foot, FOOT)


def clicks(game: LudoRules, state: State, action: int) -> list[str]:
    """A piece is moved by a click on it; passing has a button."""
    return [piece_name(int(state.turn), action)] if action < game.pieces else []


def routes(game: LudoRules, state: State, move: int) -> dict[str, list[Point]]:
    """The moved piece goes square by square, and jumps from star to star."""
    if int(state.die) <= ROLL or move >= game.pieces:
        return {}
    layout, seat = layouts.make(game.board, game.column), int(state.turn)
    start = int(state.pieces[seat, move])
    stop, target = (int(places[move]) for places in _landing(game, state))
    way = [START] if start == BASE else list(range(start + 1, start + int(state.die) + 1))
    # A throw that is too high for the goal turns back there.
    goal = game.board.goal
    way = [place if place <= goal else 2 * goal - place for place in way if start != BASE or place == START]
    if way[-1] != target:  # by some rules such a throw moves differently
        way = [target]
    way += [stop] if stop != way[-1] else []
    points = [layout.point(game.board, seat, move, place) for place in way]
    return {piece_name(seat, move): points}


@functools.partial(jax.jit, static_argnames="game")
def _landing(game: LudoRules, state: State) -> tuple[jax.Array, jax.Array]:
    """[N] where each of the actor's pieces would end, and where it would be before a jump or a return to its base."""
    found = game.landings(jax.tree.map(jax.numpy.asarray, state))
    return found.place, found.target


def piece_name(seat: int, piece: int) -> str:
    return f"p{seat}.{piece}"


def show(game: LudoRules, state: State) -> rich.text.Text:
    """The same for a terminal: ● is a piece, a digit is several pieces of one player; · is an empty square, o a globe,
    * a star, G a goal."""
    layout = layouts.make(game.board, game.column)
    coloured, marked = grounds(game, layout), marks(game, layout)
    standing: dict[Cell, collections.Counter[int]] = collections.defaultdict(collections.Counter)
    for seat, _, cell in _standing(game, layout, state):
        standing[cell][seat] += 1
    rows = []
    for row in range(layout.size):
        glyphs = []
        for column in range(layout.size):
            cell = (column, row)
            glyphs += _cell(
                game, standing.get(cell, collections.Counter()), coloured.get(cell, ""), marked.get(cell, "")
            )
        rows.append(glyphs)
    # Text in a player's colour is hard to read on some backgrounds; a disc is not.
    rows.append(
        [Glyph("● ", FULL[quarter_of(game, int(state.turn))], bold=True), Glyph(status(game, state), bold=True)]
    )
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
    return f"seat {seat} ({NAMES[quarter_of(game, seat)]})"


def _standing(game: LudoRules, layout: Layout, state: State) -> list[tuple[int, int, Cell]]:
    """(seat, piece, cell) of every piece."""
    return [
        (seat, piece, layout.cell(game.board, seat, piece, place))
        for seat, row in enumerate(state.pieces.tolist())
        for piece, place in enumerate(row)
    ]


def _cell(game: LudoRules, owners: collections.Counter[int], ground: str, mark: str) -> list[Glyph]:
    """Four terminal columns: one for each player."""
    if not owners:
        return [Glyph(f" {mark or '·'}  " if ground else "    ", LINE, ground)]
    glyphs = [
        Glyph("●" if count == 1 else str(count), FULL[quarter_of(game, seat)], ground, bold=True)
        for seat, count in sorted(owners.items())
    ]
    before = [Glyph(" ", "", ground)] if len(glyphs) < 4 else []
    return [*before, *glyphs, Glyph(" " * (4 - len(before) - len(glyphs)), "", ground)]


def _pieces(game: LudoRules, layout: Layout, state: State) -> list[Shape]:
    """The pieces; those on one square stand side by side."""
    squares = collections.defaultdict(list)
    for seat, row in enumerate(state.pieces.tolist()):
        for piece, place in enumerate(row):
            squares[layout.point(game.board, seat, piece, place)].append((seat, piece, place))
    shapes: list[Shape] = []
    for (x, y), standing in squares.items():
        across = math.ceil(math.sqrt(len(standing)))
        down = math.ceil(len(standing) / across)
        radius = RADIUS if across == 1 else 0.46 / across
        for index, (seat, piece, place) in enumerate(standing):
            row, column = divmod(index, across)
            centre = x - 0.5 + (column + 0.5) / across, y + (row + 0.5 - down / 2) / across
            movable = seat == int(state.turn) and bool(state.movable[piece])
            where = {BASE: "in its base", game.board.goal: "at the goal"}.get(place, f"on square {place}")
            label = f"{NAMES[quarter_of(game, seat)]} piece {piece} {where}"
            look = _piece(*centre, radius, quarter_of(game, seat), piece, movable=movable)
            shapes.append(Part("piece", piece_name(seat, piece), look, label, centre))
    return shapes


def _piece(x: float, y: float, radius: float, quarter: int, number: int, *, movable: bool) -> tuple[PlainShape, ...]:
    """A disc with its number on an emblem; a ring around it if it may be moved."""
    ring = [Circle(x, y, 1.28 * radius, RIM, INK)] if movable else []
    return (
        Circle(x + 0.12 * radius, y + 0.16 * radius, 1.04 * radius, SHADOW),
        *ring,
        Circle(x, y, radius, FULL[quarter], DEEP[quarter]),
        _emblem(x, y, 0.7 * radius, quarter),
        Label(x, y + (0.1 * radius if quarter == 3 else 0.02 * radius), str(number), 0.8 * radius, INK),
    )


def _emblem(x: float, y: float, radius: float, quarter: int) -> PlainShape:
    """A disc, a square, a diamond or a triangle: pieces are told apart without their colours."""
    if quarter == 0:
        return Circle(x, y, 0.9 * radius, RIM)
    corners, first, size = {1: (4, 0.25, 1.05), 2: (4, 0.5, 1.1), 3: (3, 0.5, 1.2)}[quarter]
    angles = [2 * math.pi * corner / corners - math.pi * first for corner in range(corners)]
    return Polygon(tuple((x + size * radius * math.cos(a), y + size * radius * math.sin(a)) for a in angles), RIM)


def _foot(game: LudoRules, layout: Layout, state: State) -> list[Shape]:
    """The die in the colour of the player to act, blank before the roll, and the text of `status`."""
    quarter, middle = quarter_of(game, int(state.turn)), layout.size + FOOT / 2
    shapes: list[Shape] = [Rect(0, layout.size, layout.size, FOOT, GROUND)]
    if int(state.die) != DRAW and int(state.finished) < game.winners:
        face: list[PlainShape] = [Rect(0.3, middle - DIE / 2, DIE, DIE, FULL[quarter], DEEP[quarter], 0.2)]
        for x, y in PIPS.get(int(state.die), []):
            centre = 0.3 + DIE / 2 + x * 0.28 * DIE, middle + y * 0.28 * DIE
            face.append(Circle(*centre, 0.1 * DIE, DIGITS[quarter]))
        shown = f"the die shows {int(state.die)}" if int(state.die) > ROLL else "the die is to be rolled"
        shapes.append(Part("die", "die", tuple(face), shown))
    words, left = status(game, state), 0.6 + DIE
    size = drawing.fitting(words, width=layout.size - left, most=0.6)
    return [*shapes, Label((layout.size + left) / 2, middle, words, size, INK)]
