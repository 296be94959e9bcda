"""Texts to typed values and back."""

from typing import Literal

import pytest

from boardrl import options
from boardrl.errors import UserError


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("3", int, 3),
        ("1e-3", float, 1e-3),
        ("yes", bool, True),
        ("0", bool, False),
        ("none", int | None, None),
        ("4", int | None, 4),
        ("64+32", tuple[int, ...], (64, 32)),
        ("", tuple[int, ...], ()),
        ("b", Literal["a", "b"], "b"),
    ],
)
def test_convert(text, kind, value):
    assert options.convert(text, kind) == value
    assert options.convert(options.format_options({"x": value})[2:], kind) == value


@pytest.mark.parametrize(("text", "kind"), [("3.5", int), ("maybe", bool), ("c", Literal["a", "b"]), ("x", float)])
def test_convert_refuses(text, kind):
    with pytest.raises(ValueError, match=text):
        options.convert(text, kind)


def test_split_keeps_parentheses_together():
    assert options.split("a(x=1,y=2), b ,c") == ["a(x=1,y=2)", "b", "c"]
    assert options.split("") == []


@pytest.mark.parametrize("text", ["a(,b", "a),b(", "a,,b", "a,"])
def test_split_refuses(text):
    with pytest.raises(UserError, match=r"parentheses|empty part"):
        options.split(text)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ('"runs/a,b",random', ["runs/a,b", "random"]),
        ('"a(b" , c', ["a(b", "c"]),
        ('maxn(depth=1,net="runs/a,b"),random', ['maxn(depth=1,net="runs/a,b")', "random"]),
        ('"say ""hi"", you",b', ['say "hi", you', "b"]),
        ('""""', ['"']),
    ],
)
def test_quotes_keep_commas_together(text, parts):
    assert options.split(text) == parts
    assert options.split(options.join(parts)) == parts


def test_quotes_around_values_are_not_part_of_them():
    takes = [options.Option("net", str, ""), options.Option("depth", int, 1)]
    assert options.parse('net="runs/a,b(c",depth=2', takes, "player") == {"net": "runs/a,b(c", "depth": 2}


def test_a_quote_that_is_not_closed_is_refused():
    with pytest.raises(UserError, match=r"a quote in .* is not closed"):
        options.split('"a,b')


def test_long_texts_are_not_repeated_whole():
    options_ = [options.Option("size", int, 3)]
    for text in ("size=" + "x" * 500, "x" * 500 + "=1", "x" * 500):
        with pytest.raises(UserError, match=r"x{80}'…") as error:
            options.parse(text, options_, "game 'any'")
        assert len(str(error.value)) < 250
