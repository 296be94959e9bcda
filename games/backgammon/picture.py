"""Pictures of positions: shapes for SVG and replays, and text for the terminal, as seat 0 sees the board."""

from __future__ import annotations

import numpy as np
import rich.text

from boardrl import drawing
from boardrl.drawing import Circle, Drawing, Label, Polygon, Rect, Shape
from games.backgammon.board import BAR, CHECKERS, POINTS
from games.backgammon.rules import OPENING, ROLL, STARTER, Rules, State
from games.backgammon.text import dice_left

NAMES = ("white", "black")
FULL = ("#f7f3e8", "#2f2f2f")
DIGITS = ("#222222", "#ffffff")
GROUND, FRAME, LINE, INK = "#ddc9a3", "#8a5a33", "#555555", "#222222"
POINT_COLOURS = ("#b5533c", "#efe0c0")
WIDTH, HEIGHT = 15.0, 11.0  # 12 points, the bar and the tray of checkers that are off
FOOT = 1.2
TALL = 4.6  # height of a point
MOST = 5  # checkers of a point that are drawn one above the other; the last one has the number
MARKS = "xo"


def draw(game: Rules, state: State) -> Drawing:
    """The board with seat 0's home at the lower right, its checkers white; whose turn it is, and the dice."""
    return Drawing(WIDTH, HEIGHT + FOOT, _board(), [*_checkers(state), *_foot(game, state)])


def show(game: Rules, state: State) -> rich.text.Text:
    """Seat 0 as x, whose points are numbered; seat 1 as o."""
    top = " ".join(f"{point:2}" for point in range(13, 19)) + "  bar " + " ".join(f"{p:2}" for p in range(19, 25))
    low = " ".join(f"{point:2}" for point in range(12, 6, -1)) + "  bar " + " ".join(f"{p:2}" for p in range(6, 0, -1))
    bars, offs = _bars(state), _offs(state)
    rows = [f" {top}    off"]
    for upper in (True, False):
        points = range(12, 24) if upper else range(11, -1, -1)
        cells = [_cell(state, point) for point in points]
        bar = f"{bars[1]}{MARKS[1]}" if upper else f"{bars[0]}{MARKS[0]}"
        off = f"{offs[1]}{MARKS[1]}" if upper else f"{offs[0]}{MARKS[0]}"
        rows.append(f" {' '.join(cells[:6])}  {bar:>3} {' '.join(cells[6:])}    {off:>3}")
    return rich.text.Text("\n".join([*rows, f" {low}", f" {status(game, state)}"]))


def status(game: Rules, state: State) -> str:
    """A sentence about whose turn it is."""
    done = (np.asarray(state.checkers) == 0).all(1)
    if done.any():
        winner = int(np.argmax(done))
        return f"over: {name(winner)} wins {int(np.asarray(game.returns(state))[winner])}"
    left = int(state.left)
    if left == STARTER:
        return "who begins is drawn"
    if left in (OPENING, ROLL):
        return f"{name(int(state.turn))} rolls"
    return f"{name(int(state.turn))} has {'-'.join(map(str, dice_left(state)))} to play"


def name(seat: int) -> str:
    return f"seat {seat} ({NAMES[seat]})"


def _bars(state: State) -> list[int]:
    return np.asarray(state.checkers)[:, BAR].tolist()


def _offs(state: State) -> list[int]:
    return (CHECKERS - np.asarray(state.checkers).sum(1)).tolist()


def _on(state: State, point: int) -> tuple[int, int]:
    """The seat and the number of checkers on a point of seat 0's."""
    mine, theirs = np.asarray(state.checkers)[:, :POINTS].tolist()
    return (0, mine[point]) if mine[point] else (1, theirs[POINTS - 1 - point])


def _cell(state: State, point: int) -> str:
    seat, count = _on(state, point)
    return f"{count}{MARKS[seat]}".rjust(2) if count else " ."


def _column(point: int) -> float:
    """The left edge of a point of seat 0's; the bar is in the middle."""
    along = point - 12 if point >= 12 else 11 - point
    return 0.5 + along + (1 if along >= 6 else 0)


def _board() -> list[Shape]:
    shapes: list[Shape] = [Rect(0, 0, WIDTH, HEIGHT + FOOT, "#f4f1ea"), Rect(0, 0, WIDTH, HEIGHT, FRAME, INK)]
    shapes += [Rect(x, 0.4, 6, HEIGHT - 0.8, GROUND, INK) for x in (0.5, 7.5)]
    shapes += [Rect(13.8, 0.4, 0.9, HEIGHT - 0.8, GROUND, INK)]
    for point in range(POINTS):
        left, upper = _column(point), point >= 12
        base, tip = (0.4, 0.4 + TALL) if upper else (HEIGHT - 0.4, HEIGHT - 0.4 - TALL)
        shape = ((left, base), (left + 1, base), (left + 0.5, tip))
        shapes.append(Polygon(shape, POINT_COLOURS[point % 2], LINE))
        shapes.append(Label(left + 0.5, 0.2 if upper else HEIGHT - 0.2, str(point + 1), 0.3, "#ffffff"))
    return shapes


def _checkers(state: State) -> list[Shape]:
    shapes: list[Shape] = []
    for point in range(POINTS):
        seat, count = _on(state, point)
        shapes += _stack(seat, count, _column(point) + 0.5, upper=point >= 12)
    for seat in (0, 1):  # a checker on the bar enters the other's home board
        shapes += _stack(seat, _bars(state)[seat], 7.0, upper=seat == 0, start=1.5)
        shapes += _stack(seat, _offs(state)[seat], 14.25, upper=seat == 1)
    return shapes


def _stack(seat: int, count: int, x: float, *, upper: bool, start: float = 0.0) -> list[Shape]:
    shapes: list[Shape] = []
    for number in range(min(count, MOST)):
        away = 0.4 + start + 0.44 + 0.88 * number
        y = away if upper else HEIGHT - away
        shapes.append(Circle(x, y, 0.43, FULL[seat], INK))
        if number == MOST - 1 and count > MOST:
            shapes.append(Label(x, y, str(count), 0.5, DIGITS[seat]))
    return shapes


def _foot(game: Rules, state: State) -> list[Shape]:
    words = status(game, state)
    size = drawing.fitting(words, width=WIDTH - 1, most=0.6)
    return [Label(WIDTH / 2, HEIGHT + FOOT / 2, words, size, INK)]
