"""Hypothesis strategies for damaged or malicious input."""

from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

Draw = Callable[[st.SearchStrategy[Any]], Any]

# Placeholders for values that json.dumps cannot write; they are replaced in its output.
DEEP, DIGITS, HUGE = "@deep@", "@digits@", "@huge@"
WRITTEN = {
    DEEP: "[" * 100_000 + "]" * 100_000,
    DIGITS: "9" * 5000,  # more digits than Python accepts in a number
    HUGE: '"' + "x" * 3_000_000 + '"',
}
TEXTS = (
    *("", " ", "\x00", "\n", "\u202e", "é" * 300, "x" * 5000, "%s%n", "{0}", "../../outside/precious.txt"),
    *("/dev/zero", "/dev/null", "/", ".", "..", "~", "-rf", "--help", "nan", "inf", "1e999", "-0", "0x10", "1_000"),
    *("true", "null", "[", "]", "\\", "'", '"', ";", "|", "<script>alert(1)</script>", "${HOME}", "٣", "\uff11\uff12"),
    *("fuzz_payload:Bot", "random", "perfect", "human", "hold(total=3)", "runs/none", "tic_tac_toe", "pig:target=9"),
)
NUMBERS = (0, -1, 1, 2, 3, 7, 255, 2**31 - 1, 2**31, 2**32, 2**63, -(2**63), 10**20, 10**40)
FLOATS = (0.5, -0.0, 1e-320, 1e300, 1e308, float("inf"), float("-inf"), float("nan"))


def values() -> st.SearchStrategy[Any]:
    """Any JSON value, mostly unusual ones."""
    plain = st.one_of(
        st.none(),
        st.booleans(),
        st.sampled_from(NUMBERS),
        st.sampled_from(FLOATS),
        st.sampled_from(TEXTS),
        st.sampled_from(tuple(WRITTEN)),
        st.text(max_size=12),
        st.integers(-1000, 1000),
    )
    return st.recursive(
        plain, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(TEXTS), inner, max_size=3)
    )


def dumps(value: Any) -> bytes:
    """JSON, including values that Python's own writer refuses."""
    text = json.dumps(value)
    for name, written in WRITTEN.items():
        text = text.replace(f'"{name}"', written)
    return text.encode()


def json_value(draw: Draw, value: Any) -> Any:
    """The value with one part changed: another value, a missing or a new entry."""
    if isinstance(value, dict | list) and value and draw(st.integers(0, 3)):
        copy: Any = dict(value) if isinstance(value, dict) else list(value)
        place = draw(st.sampled_from(sorted(copy) if isinstance(copy, dict) else range(len(copy))))
        what = draw(
            st.sampled_from(("inside", "inside", "inside", "drop", "rename" if isinstance(copy, dict) else "twice"))
        )
        if what == "inside":
            copy[place] = json_value(draw, copy[place])
        elif what == "drop":
            del copy[place]
        elif what == "rename":
            copy[draw(st.sampled_from(TEXTS))] = copy.pop(place)
        else:
            copy.append(copy[place])
        return copy
    if isinstance(value, str) and draw(st.booleans()):
        return text(draw, value)
    if isinstance(value, int | float) and not isinstance(value, bool) and draw(st.booleans()):
        return draw(st.sampled_from((value + 1, -value, value * 10**9, str(value), [value], float(value) + 0.5)))
    return draw(values())


def text(draw: Draw, given: str, *, odd: Sequence[str] = TEXTS) -> str:
    """The text with a part removed, repeated, replaced or inserted."""
    start = draw(st.integers(0, len(given)))
    end = draw(st.integers(start, min(len(given), start + 6)))
    part = given[start:end]
    new = draw(
        st.one_of(
            st.just(""),
            st.just(part + part),
            st.just(part.swapcase()),
            st.sampled_from(odd),
            st.text(max_size=3),
            st.sampled_from([str(number) for number in NUMBERS]),
            st.sampled_from(list(",.:=()+-/ ")),
        )
    )
    return given[:start] + new + given[end:]


def content(draw: Draw, given: bytes) -> bytes:
    """The bytes of a file with some removed, changed or inserted."""
    what = draw(st.sampled_from(("cut", "flip", "flip", "insert", "empty", "twice", "garbage")))
    place = draw(st.integers(0, max(len(given) - 1, 0)))
    if what == "cut":
        return given[:place]
    if what == "flip" and given:
        return given[:place] + bytes([given[place] ^ (1 << draw(st.integers(0, 7)))]) + given[place + 1 :]
    if what == "insert":
        odd = st.sampled_from((b"\x00", b"\xff\xfe", b"\n\n", b"}", b'{"a": 1}', b"\xef\xbb\xbf", b"NaN"))
        return given[:place] + draw(odd) + given[place:]
    if what == "twice":
        return given + given
    return draw(st.binary(max_size=40)) if what == "garbage" else b""


def json_file(draw: Draw, path: pathlib.Path) -> None:
    """Changes a file of JSON as a value, or as bytes."""
    given = path.read_bytes()
    try:
        value = json.loads(given)
    except (ValueError, RecursionError):
        value = None
    garbled = draw(st.integers(0, 4)) and value is not None
    path.write_bytes(dumps(json_value(draw, value)) if garbled else content(draw, given))


def json_lines(draw: Draw, path: pathlib.Path) -> None:
    """Changes one line of a file of JSON lines, or its bytes."""
    given = path.read_bytes()
    lines = given.splitlines()
    try:
        rows = [json.loads(line) for line in lines]
    except (ValueError, RecursionError):
        rows = []
    if not rows or not draw(st.integers(0, 4)):
        path.write_bytes(content(draw, given))
        return
    changed: list[Any] = json_value(draw, rows) if draw(st.integers(0, 3)) else [*rows, draw(values())]
    changed = changed if isinstance(changed, list) else [changed]
    path.write_bytes(b"".join(dumps(row) + b"\n" for row in changed))


def entry(draw: Draw, path: pathlib.Path, outside: pathlib.Path) -> str:
    """Replaces a file or folder by something else; returns its description."""
    what = draw(
        st.sampled_from(
            ("missing", "folder", "link", "link", "folder_link", "dangling", "loop", "zero", "null", "pipe")
        )
    )
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.exists():
        path.rename(path.with_name(path.name + "-before"))
    path.parent.mkdir(parents=True, exist_ok=True)
    links = {
        "link": outside / "precious.txt",
        "folder_link": outside / "folder",
        "dangling": outside / "absent",
        "loop": path,
        "zero": pathlib.Path("/dev/zero"),
        "null": pathlib.Path("/dev/null"),
    }
    if what == "folder":
        path.mkdir()
        (path / "within").write_text("")
    elif what == "pipe":
        os.mkfifo(path)
    elif what != "missing":
        path.symlink_to(links[what])
    return what
