"""Shapes become well-formed SVG, frames one page that needs nothing else."""

import io
import json
import re
import xml.etree.ElementTree as ET

import pytest
import rich.console

from boardrl import drawing
from boardrl.drawing import Circle, Drawing, Frame, Glyph, Label, Part, Polygon, Rect

SVG = "{http://www.w3.org/2000/svg}"
PICTURE = Drawing(
    4,
    2,
    board=[Rect(0, 0, 4, 2, "white", "#000", 0.5)],
    pieces=[Circle(1, 1, 0.25, "red"), Polygon(((0, 0), (1, 0), (0.5, 1)), "blue"), Label(2, 1, "a<b&\"c'", 0.5)],
)


def test_svg_holds_every_shape_with_its_numbers():
    root = ET.fromstring(drawing.svg(PICTURE, pixels=400))
    assert (root.get("width"), root.get("height"), root.get("viewBox")) == (
        "400",
        "201",
        "-0.015 -0.015 4.03 2.03",
    )
    rect, circle, polygon, text = (root.find(f".//{SVG}{tag}") for tag in ("rect", "circle", "polygon", "text"))
    assert [rect.get(k) for k in ("x", "y", "width", "height", "rx", "fill", "stroke")] == [
        "0", "0", "4", "2", "0.5", "white", "#000",
    ]  # fmt: skip
    assert [circle.get(k) for k in ("cx", "cy", "r", "fill", "stroke")] == ["1", "1", "0.25", "red", "none"]
    assert polygon.get("points") == "0,0 1,0 0.5,1"
    assert (text.text, text.get("x"), text.get("font-size")) == ("a<b&\"c'", "2", "0.5")


def test_replay_is_self_contained_and_keeps_frames_in_order():
    frames = [Frame(PICTURE, "begin"), Frame(PICTURE._replace(pieces=[Circle(3, 1, 0.5)]), "</script><b>end")]
    page = drawing.replay("A <game>", frames)
    data = json.loads(re.search(r'<script id="frames" type="application/json">(.*?)</script>', page, re.S)[1])
    assert [caption for _, caption in data] == ["begin", "</script><b>end"]
    assert data[1][0] == '<circle cx="3" cy="1" r="0.5" fill="none" stroke="none" stroke-width="0.03"/>'
    assert "<title>A &lt;game&gt;</title>" in page
    assert page.count("</script>") == 2
    assert page.count('rx="0.5"') == 1  # the board is written once
    without_namespace = page.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?:|src=|href=|@import|url\(", without_namespace)
    for control in ("first", "back", "play", "next", "end", "slider", "speed"):
        assert page.count(f'id="{control}"') == 1
        assert f'at("{control}")' in page


def test_parts_are_named_and_layers_apart():
    part = Part("piece", 'p"1', (Circle(1, 1, 0.25, "red"),), "a <b>", (1, 1.5))
    picture = PICTURE._replace(pieces=[part], foot=[Label(2, 1.9, "below", 0.1)], foot_height=0.2)
    group = ET.fromstring(drawing.svg(picture)).find(f".//{SVG}g[@data-piece]")
    assert (group.get("data-piece"), group.get("data-at"), group.get("aria-label")) == ('p"1', "1 1.5", "a <b>")
    assert group.find(f"{SVG}circle").get("fill") == "red"
    layers = drawing.layers(picture)
    assert [text.count("<g ") for text in layers] == [0, 1, 0]
    assert ["<rect" in layers.board, "<circle" in layers.pieces, "below" in layers.foot] == [True, True, True]
    assert "below" in drawing.replay("t", [Frame(picture, "c")])


def test_long_texts_are_written_smaller():
    assert drawing.fitting("short", width=6, most=0.35) == 0.35
    assert drawing.fitting("a" * 50, width=6, most=0.35) == pytest.approx(6 / 50 / 0.58)


def test_a_replay_without_frames_is_refused():
    with pytest.raises(ValueError, match="at least one frame"):
        drawing.replay("nothing", [])


def test_terminal_rows_keep_text_and_colour():
    text = drawing.terminal([[Glyph("ab", "red", "white", bold=True), Glyph("c")], [Glyph("d", ground="#112233")]])
    assert text.plain == "abc\nd"
    assert [(span.start, span.end, str(span.style)) for span in text.spans] == [
        (0, 2, "red on white bold"),
        (4, 5, "on #112233"),
    ]
    out = io.StringIO()
    rich.console.Console(file=out, force_terminal=True, color_system="truecolor", width=20).print(text)
    assert "\x1b[1;31;47mab" in out.getvalue()


def test_texts_become_monospaced_pictures_of_one_size():
    short, long = drawing.of_texts(["a <b>\n  c\td", "x" * 50 + "\x1b"])
    assert (short.width, short.height) == (long.width, long.height)
    assert short.width == pytest.approx(2 + 51 * drawing.ADVANCE)
    assert short.height == pytest.approx(1 + 2 * drawing.LEADING)
    root = ET.fromstring(drawing.svg(short))
    lines = root.findall(f".//{SVG}text")
    assert [line.text for line in lines] == ["a <b>", "  c     d"]
    assert {(line.get("font-family"), line.get("{http://www.w3.org/XML/1998/namespace}space")) for line in lines} == {
        ("monospace", "preserve")
    }
    assert float(lines[1].get("y")) - float(lines[0].get("y")) == pytest.approx(drawing.LEADING)
    (line,) = ET.fromstring(drawing.svg(long)).findall(f".//{SVG}text")
    assert line.text == "x" * 50 + "\ufffd"  # no control characters in XML
    assert "a &lt;b&gt;" in drawing.svg(short)
    page = drawing.replay("texts", [Frame(short, "one"), Frame(long, "two")])
    assert "<b>" not in page
    (least,) = drawing.of_texts([""])
    assert least.width == pytest.approx(2 + drawing.LEAST_COLUMNS * drawing.ADVANCE)
