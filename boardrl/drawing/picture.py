"""Pictures of positions: shapes as SVG, a sequence of pictures as an HTML replay, glyphs on a terminal.

Games describe their appearance with these shapes and glyphs, and never write SVG, HTML or escape codes.
"""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

import rich.text

from boardrl import optional
from boardrl.drawing import state_text
from boardrl.game import Game, State

LINE = 0.03  # width of outlines, in units of the drawing
ADVANCE = 0.62  # distance between two monospaced characters, in heights
LEADING = 1.3  # distance between two lines of text, in heights
LEAST_COLUMNS = 40  # least width of a picture of text, so that short text does not get huge letters
WIDE = 0.58  # generous estimate of a character's mean width, in heights


class Rect(NamedTuple):
    """A rectangle given by its upper left corner; `corner` is the corner radius."""

    x: float
    y: float
    width: float
    height: float
    fill: str = "none"
    line: str = "none"
    corner: float = 0.0


class Circle(NamedTuple):
    x: float
    y: float
    radius: float
    fill: str = "none"
    line: str = "none"


class Polygon(NamedTuple):
    points: tuple[tuple[float, float], ...]
    fill: str = "none"
    line: str = "none"


class Label(NamedTuple):
    """Text centred on a point; `fitting` gives a size that fits a width."""

    x: float
    y: float
    text: str
    size: float
    fill: str = "black"


class Line(NamedTuple):
    """One line of monospaced text from its left end, blanks included."""

    x: float
    y: float
    text: str
    size: float = 1.0
    fill: str = "black"


PlainShape: TypeAlias = Rect | Circle | Polygon | Label | Line
Kind: TypeAlias = Literal["cell", "piece", "action", "die"]


class Part(NamedTuple):
    """Shapes that are one thing of the game, with a name by which a page finds it (`data-cell="c4"`, …).

    Names are unique in a picture. A piece keeps its name from position to position, so that a page can move it; an
    action's name is its number, and a click makes it. Which cells and pieces choose an action is said by the game's
    `clicks`.
    """

    kind: Kind
    name: str
    shapes: tuple[PlainShape, ...]
    label: str = ""  # for screen readers
    at: tuple[float, float] | None = None  # the centre of a piece, from which a page moves it


Shape: TypeAlias = PlainShape | Part


class Drawing(NamedTuple):
    """A picture of width × height units: a fixed background, and the changing parts on top.

    A page may turn what is above the foot, so that another player sits below.
    """

    width: float
    height: float
    board: Sequence[Shape]
    pieces: Sequence[Shape]
    foot: Sequence[Shape] = ()  # changing shapes below the board: dice, a sentence
    foot_height: float = 0.0


class Frame(NamedTuple):
    """One picture of a replay, with a caption."""

    drawing: Drawing
    caption: str


class Glyph(NamedTuple):
    """A piece of text on a terminal; colours are names or '#rrggbb'."""

    text: str
    colour: str = ""
    ground: str = ""
    bold: bool = False


def of_states(game: Game[State], states: Sequence[State]) -> list[Drawing]:
    """Pictures of positions, all of one size: drawn by the game, or its text if it has no `draw`."""
    if (draw := optional.draw(game)) is not None:
        return [draw(state) for state in states]
    return of_texts([state_text.position(game, state) for state in states])


def of_texts(texts: Sequence[str]) -> list[Drawing]:
    """Monospaced texts as pictures, all as large as the largest needs."""
    pages = [[_printable(line) for line in text.expandtabs().splitlines()] for text in texts]
    columns = max(LEAST_COLUMNS, *(len(line) for page in pages for line in page), 0)
    width, height = 2 + ADVANCE * columns, 1 + LEADING * max(map(len, pages), default=1)
    board = [Rect(0, 0, width, height, "white", "#bbb")]
    return [
        Drawing(width, height, board, [Line(1, 0.5 + LEADING * (row + 0.5), line) for row, line in enumerate(page)])
        for page in pages
    ]


def fitting(text: str, *, width: float, most: float) -> float:
    """The size at which a text is no wider than `width`, and at most `most`."""
    return min(most, width / (WIDE * max(1, len(text))))


def svg(drawing: Drawing, *, pixels: int = 600) -> str:
    """The picture as the text of an SVG file, `pixels` wide."""
    return _svg(drawing, _changing(drawing), pixels)


class Layers(NamedTuple):
    """The elements of an SVG picture, for a page that changes some of them."""

    board: str
    pieces: str
    foot: str


def layers(drawing: Drawing) -> Layers:
    """The elements of the picture, each layer as text."""
    return Layers(*("".join(map(_element, shapes)) for shapes in (drawing.board, drawing.pieces, drawing.foot)))


def replay(title: str, frames: Sequence[Frame], *, pixels: int = 600) -> str:
    """Frames as a self-contained HTML page with controls: play, pause, step, slider, arrow keys.

    All frames share the first one's board.
    """
    if not frames:
        raise ValueError("a replay needs at least one frame")
    data = [[_changing(frame.drawing), frame.caption] for frame in frames]
    return _PAGE.format(
        title=html.escape(title),
        picture=_svg(frames[0].drawing, "", pixels),
        pixels=pixels,
        last=len(frames) - 1,
        # "</script>" must not end the data early.
        data=json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"),
    )


def terminal(rows: Sequence[Sequence[Glyph]]) -> rich.text.Text:
    """Rows of glyphs as text that rich prints in colour, or plainly on a terminal without colours."""
    text = rich.text.Text()
    for index, row in enumerate(rows):
        text.append("\n" if index else "")
        for glyph in row:
            words = [glyph.colour, f"on {glyph.ground}" if glyph.ground else "", "bold" if glyph.bold else ""]
            text.append(glyph.text, " ".join(filter(None, words)))
    return text


def _svg(drawing: Drawing, pieces: str, pixels: int) -> str:
    # Outlines at the edge extend beyond it by half their width.
    width, height = drawing.width + LINE, drawing.height + LINE
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{pixels}" height="{round(pixels * height / width)}" '
        f'viewBox="{-LINE / 2:g} {-LINE / 2:g} {width:g} {height:g}" font-family="sans-serif">'
        f"<g>{''.join(map(_element, drawing.board))}</g>"
        f'<g id="pieces">{pieces}</g></svg>'
    )


def _changing(drawing: Drawing) -> str:
    """The elements that differ from position to position."""
    return "".join(map(_element, [*drawing.pieces, *drawing.foot]))


def _element(shape: Shape) -> str:
    if isinstance(shape, Part):
        label = f' aria-label="{_attribute(shape.label)}"' if shape.label else ""
        at = f' data-at="{shape.at[0]:g} {shape.at[1]:g}"' if shape.at else ""
        inside = "".join(map(_element, shape.shapes))
        return f'<g data-{shape.kind}="{_attribute(shape.name)}"{at}{label}>{inside}</g>'
    if isinstance(shape, Label):
        place = f'x="{shape.x:g}" y="{shape.y:g}" font-size="{shape.size:g}" fill="{_attribute(shape.fill)}"'
        return f'<text {place} text-anchor="middle" dominant-baseline="central">{html.escape(shape.text)}</text>'
    if isinstance(shape, Line):
        place = f'x="{shape.x:g}" y="{shape.y:g}" font-size="{shape.size:g}" fill="{_attribute(shape.fill)}"'
        # Keeps blanks in SVG files; pages have a style for it.
        look = 'font-family="monospace" dominant-baseline="central" xml:space="preserve"'
        return f"<text {place} {look}>{html.escape(shape.text)}</text>"
    paint = f'fill="{_attribute(shape.fill)}" stroke="{_attribute(shape.line)}" stroke-width="{LINE}"'
    if isinstance(shape, Rect):
        size = f'width="{shape.width:g}" height="{shape.height:g}" rx="{shape.corner:g}"'
        return f'<rect x="{shape.x:g}" y="{shape.y:g}" {size} {paint}/>'
    if isinstance(shape, Circle):
        return f'<circle cx="{shape.x:g}" cy="{shape.y:g}" r="{shape.radius:g}" {paint}/>'
    points = " ".join(f"{x:g},{y:g}" for x, y in shape.points)
    return f'<polygon points="{points}" {paint}/>'


def _printable(line: str) -> str:
    """A line without control characters, which XML does not allow."""
    return "".join(character if character.isprintable() else "\ufffd" for character in line)


def _attribute(text: str) -> str:
    return html.escape(text, quote=True)


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<style>
body {{ font-family: sans-serif; color: #222; max-width: {pixels}px; margin: 1em auto; padding: 0 1em; }}
h1 {{ font-size: 1.2em; }}
svg {{ display: block; max-width: 100%; height: auto; }}
svg text {{ white-space: pre; }}
#caption {{ min-height: 1.4em; margin: 0.8em 0; }}
#bar {{ display: flex; gap: 0.4em; align-items: center; }}
#bar button {{ min-width: 2.4em; padding: 0.3em; font-size: 1em; }}
#play {{ min-width: 4.2em !important; }}
#slider {{ flex: 1; min-width: 4em; }}
#count {{ font-variant-numeric: tabular-nums; }}
#keys {{ color: #666; font-size: 0.85em; }}
</style>
</head>
<body>
<h1>{title}</h1>
<div>{picture}</div>
<p id="caption"></p>
<div id="bar">
<button id="first" title="to the start (Home)">|◀</button>
<button id="back" title="one step back (left arrow)">◀</button>
<button id="play" title="play or pause (space)">play</button>
<button id="next" title="one step forward (right arrow)">▶</button>
<button id="end" title="to the end (End)">▶|</button>
<input id="slider" type="range" min="0" max="{last}" value="0" aria-label="step">
<span id="count"></span>
<select id="speed" aria-label="speed">
<option value="1000">slow</option><option value="300" selected>normal</option><option value="60">fast</option>
</select>
</div>
<p id="keys">Keys: space plays and pauses, ← and → step, Home and End go to the ends.</p>
<script id="frames" type="application/json">{data}</script>
<script>
const frames = JSON.parse(document.getElementById("frames").textContent);
const at = name => document.getElementById(name);
let now = 0, timer = null;
function show(index) {{
  now = Math.max(0, Math.min(frames.length - 1, index));
  at("pieces").innerHTML = frames[now][0];
  at("caption").textContent = frames[now][1];
  at("count").textContent = now + " / " + (frames.length - 1);
  at("slider").value = now;
}}
function pause() {{ clearInterval(timer); timer = null; at("play").textContent = "play"; }}
function play() {{
  if (now === frames.length - 1) show(0);
  at("play").textContent = "pause";
  timer = setInterval(() => {{ show(now + 1); if (now === frames.length - 1) pause(); }}, Number(at("speed").value));
}}
function step(by) {{ pause(); show(now + by); }}
at("first").onclick = () => step(-frames.length);
at("back").onclick = () => step(-1);
at("next").onclick = () => step(1);
at("end").onclick = () => step(frames.length);
at("play").onclick = () => timer ? pause() : play();
at("slider").oninput = () => {{ pause(); show(Number(at("slider").value)); }};
at("speed").onchange = () => {{ if (timer) {{ pause(); play(); }} }};
document.onkeydown = event => {{
  if (event.target.id === "slider" || event.target.tagName === "SELECT") return;
  const by = {{ArrowLeft: -1, ArrowRight: 1, Home: -frames.length, End: frames.length}}[event.key];
  if (by) {{ event.preventDefault(); step(by); }}
  if (event.key === " " && event.target.tagName !== "BUTTON") {{ event.preventDefault(); timer ? pause() : play(); }}
}};
show(0);
</script>
</body>
</html>
"""
