"""Grids of settings: `decay=0.5,0.7,0.9;seed=0..4` is fifteen combinations."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from typing import Any

from boardrl import options
from boardrl.errors import UserError, did_you_mean
from boardrl.options import Option

RANGE = re.compile(r"(-?\d{1,10})\.\.(-?\d{1,10})")
MOST_CELLS = 10_000
EXAMPLE = "'decay=0.5,0.7,0.9;seed=0..4'"

Cell = Mapping[str, Any]  # a value for each setting of the grid


def parse(text: str, known: Mapping[str, Option]) -> dict[str, list[Any]]:
    """The values of each setting; raises UserError for a text that makes no grid.

    Args:
      known: the settings that may vary, by name.
    """
    values: dict[str, list[Any]] = {}
    for part in text.split(";"):
        name, equals, rest = (piece.strip() for piece in part.partition("="))
        if not equals or not name or not rest:
            raise UserError(f"--over={text} has the part {part.strip()!r}: expected name=value,value like {EXAMPLE}")
        if name not in known:
            hint = did_you_mean(name, known)
            raise UserError(f"--over={text} varies {name!r}{hint}; expected one of {', '.join(known)}")
        if name in values:
            raise UserError(f"--over={text} names {name!r} twice; give all its values together")
        values[name] = [value for one in options.split(rest) for value in _values(text, one, known[name])]
        if len({repr(value) for value in values[name]}) < len(values[name]):
            raise UserError(f"--over={text} has a value of {name!r} twice; give each once")
    count = 1
    for several in values.values():
        count *= len(several)
    if count > MOST_CELLS:
        raise UserError(f"--over={text} makes {count:,} combinations; expected at most {MOST_CELLS:,}")
    return values


def _values(text: str, one: str, option: Option) -> list[Any]:
    if found := RANGE.fullmatch(one):
        first, last = map(int, found.groups())
        if last < first:
            raise UserError(f"--over={text} has the range {one}, which is empty; expected the smaller number first")
        if last - first >= MOST_CELLS:
            raise UserError(f"--over={text} has the range {one}; expected at most {MOST_CELLS:,} values")
        return [value for number in range(first, last + 1) for value in _values(text, str(number), option)]
    try:
        return [options.convert(one, option.type)]
    except (ValueError, TypeError):
        raise UserError(
            f"--over={text} has {one!r} for {option.name!r}: expected {options.type_name(option.type)}"
        ) from None


def cells(values: Mapping[str, list[Any]]) -> list[Cell]:
    """All combinations, the last setting changing fastest."""
    return [dict(zip(values, chosen, strict=True)) for chosen in itertools.product(*values.values())]


def name(cell: Cell) -> str:
    """A combination as text, `decay=0.5,seed=0`; also the name of its folder."""
    return options.format_options(cell).replace("/", "_") or "all"
