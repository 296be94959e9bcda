"""Pictures of Ludo positions: shapes for SVG, replays and the page, glyphs for the terminal."""

from __future__ import annotations

import collections
import functools
import math

import jax
import rich.text

from boardrl import drawing
from boardrl.drawing import Circle, Drawing, Glyph, Label, Part, PlainShape, Polygon, Rect, Shape
from games.ludo import layout as layouts
from games.ludo.board import BASE, START
from games.ludo.layout import Cell, Layout, Point
from games.ludo.rules import DRAW, ROLL, LudoRules, State

NAMES = ("yellow", "red", "blue", "green")
# Colours by quarter: yellow, red, blue and green that people who are blind to some colours can tell apart.
FULL = ("#eab308", "#d1431f", "#1c5a9e", "#059a72")  # pieces, yards, goals
DEEP = ("#8a6500", "#7d2410", "#123f68", "#00513d")  # outlines
PALE = ("#f6d773", "#ee9f89", "#94bde3", "#7fcab3")  # start squares, columns, places in the base
EMPTY, LINE, GROUND, INK = "#ffffff", "#8d877b", "#f4f1ea", "#222222"
PAPER, SEA, GOLD = "#fffdf8", "#cfe3f3", "#f7e7b4"
MARK = "#6d675c"  # outlines of globes and stars
YARD = 6  # cells on a side of a yard of the cross
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
    return Drawing(layout.size, layout.size + FOOT, _board(game), pieces, foot, FOOT)


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


# --- the board, which all positions have in common ----------------------------------------------------------------


def quarter_of(game: LudoRules, seat: int) -> int:
    return seat * game.board.gap // (game.ring // 4)


def marks(game: LudoRules, layout: Layout) -> dict[Cell, str]:
    """By cell: o a globe, * a star, G a goal."""
    board = game.board
    marks = {layout.ring[place - START]: "*" for place in board.near_stars + board.far_stars}
    marks |= {layout.ring[place - START]: "o" for place in board.neutral_globes + board.start_globes}
    return marks | {layout.goal[quarter_of(game, seat)]: "G" for seat in range(game.players)}


def grounds(game: LudoRules, layout: Layout) -> dict[Cell, str]:
    """The background colour of every cell that is a square."""
    grounds = dict.fromkeys(layout.ring, EMPTY)
    for seat in range(game.players):
        quarter = quarter_of(game, seat)
        own = [layout.ring[seat * game.board.gap], *layout.column[quarter], layout.goal[quarter]]
        grounds |= dict.fromkeys([*own, *layout.base[quarter][: game.pieces]], PALE[quarter])
    return grounds


@functools.lru_cache(maxsize=16)
def _board(game: LudoRules) -> list[Shape]:
    """Yards, squares, globes, stars and goals."""
    layout = layouts.make(game.board, game.column)
    shapes: list[Shape] = [Rect(0, 0, layout.size, layout.size, GROUND)]
    playing = {quarter_of(game, seat) for seat in range(game.players)}
    if layout.yards:
        for quarter in range(4):
            shapes += _yard(layout, quarter, game.pieces if quarter in playing else 0)
        shapes += _goals(layout)
    bases = {cell for quarter in playing for cell in layout.base[quarter]}
    goals = set(layout.goal) if layout.yards else set()
    for (x, y), ground in grounds(game, layout).items():
        if ((x, y) in bases and layout.yards) or (x, y) in goals:
            continue
        shapes.append(Rect(x, y, 1, 1, ground, LINE))
    for (x, y), mark in marks(game, layout).items():
        if mark == "o":
            shapes += _globe(x + 0.5, y + 0.5)
        elif mark == "*":
            shapes.append(_star(x + 0.5, y + 0.5))
        elif not layout.yards:
            shapes.append(Rect(x + 0.15, y + 0.15, 0.7, 0.7, "none", LINE, 0.2))
    return shapes


def _yard(layout: Layout, quarter: int, pieces: int) -> list[PlainShape]:
    """A coloured corner with a white square, and a round place for each piece."""
    x, y = layout.yards[quarter]
    shapes: list[PlainShape] = [
        Rect(x, y, YARD, YARD, FULL[quarter], DEEP[quarter], 0.4),
        Rect(x + 0.9, y + 0.9, YARD - 1.8, YARD - 1.8, PAPER, DEEP[quarter], 0.9),
    ]
    return [*shapes, *(Circle(*spot, 0.6, PALE[quarter], DEEP[quarter]) for spot in layout.spots[quarter][:pieces])]


def _goals(layout: Layout) -> list[PlainShape]:
    """Four triangles that meet in the middle."""
    low, high, middle = layout.size / 2 - 1.5, layout.size / 2 + 1.5, (layout.size / 2, layout.size / 2)
    corners = [(low, high), (low, low), (high, low), (high, high)]
    return [
        Polygon((corners[quarter], corners[(quarter + 1) % 4], middle), FULL[quarter], DEEP[quarter])
        for quarter in range(4)
    ]


def _globe(x: float, y: float) -> list[PlainShape]:
    """A sphere with its equator and a meridian."""
    turns = [math.pi * step / 12 for step in range(24)]
    meridian = Polygon(tuple((x + 0.15 * math.cos(a), y + 0.34 * math.sin(a)) for a in turns), "none", MARK)
    return [Circle(x, y, 0.34, SEA, MARK), meridian, Rect(x - 0.34, y - 0.015, 0.68, 0.03, MARK)]


def _star(x: float, y: float) -> Polygon:
    angles = [math.pi * corner / 5 - math.pi / 2 for corner in range(10)]
    radii = [0.42 if corner % 2 == 0 else 0.18 for corner in range(10)]
    points = zip(radii, angles, strict=True)
    return Polygon(tuple((x + r * math.cos(a), y + r * math.sin(a)) for r, a in points), GOLD, MARK)
