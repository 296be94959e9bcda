"""The board of a Ludo picture: what every position has in common."""

from __future__ import annotations

import math

from boardrl.drawing import Circle, PlainShape, Polygon, Rect, Shape
from games.ludo.board import START
from games.ludo.layout import Cell, Layout
from games.ludo.rules import LudoRules

# Colours by quarter: yellow, red, blue and green that people who are blind to some colours can tell apart.
FULL = ("#eab308", "#d1431f", "#1c5a9e", "#059a72")  # pieces, yards, goals
DEEP = ("#8a6500", "#7d2410", "#123f68", "#00513d")  # outlines
PALE = ("#f6d773", "#ee9f89", "#94bde3", "#7fcab3")  # start squares, columns, places in the base
EMPTY, LINE, GROUND, INK = "#ffffff", "#8d877b", "#f4f1ea", "#222222"
PAPER, SEA, GOLD = "#fffdf8", "#cfe3f3", "#f7e7b4"
MARK = "#6d675c"  # outlines of globes and stars
YARD = 6  # cells on a side of a yard of the cross


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


def board(game: LudoRules, layout: Layout) -> list[Shape]:
    """Yards, squares, globes, stars and goals."""
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
