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
