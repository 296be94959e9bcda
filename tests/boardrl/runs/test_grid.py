"""Grids of settings: values of every type, ranges, and one sentence for each mistake."""

from __future__ import annotations

import pytest

from algorithms import td_lambda
from boardrl import options
from boardrl.errors import UserError
from boardrl.runs import grid

KNOWN = {option.name: option for option in options.of_dataclass(td_lambda.Config)}


def test_a_grid_of_several_types():
    values = grid.parse("decay=0.5,0.9 ; lanes=2..4;hidden=8,8+4;anneal_learning_rate=yes,no", KNOWN)
    assert values == {
        "decay": [0.5, 0.9],
        "lanes": [2, 3, 4],
        "hidden": [(8,), (8, 4)],
        "anneal_learning_rate": [True, False],
    }
    cells = grid.cells(values)
    assert len(cells) == 24
    assert grid.name(cells[0]) == "decay=0.5,lanes=2,hidden=8,anneal_learning_rate=true"
    assert grid.name(cells[1]).endswith("anneal_learning_rate=false")
    assert len({grid.name(cell) for cell in cells}) == 24
    assert grid.parse('opponents="random,random",random', KNOWN)["opponents"] == ["random,random", "random"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("decay", r"has the part 'decay': expected name=value,value like"),
        ("decay=", r"has the part 'decay=': expected name=value"),
        ("decay=0.5;", r"has the part '': expected"),
        ("dekay=0.5", r"varies 'dekay' \(did you mean 'decay'\?\); expected one of games, "),
        ("decay=0.5;decay=0.7", r"names 'decay' twice"),
        ("decay=0.5,0.50", r"has a value of 'decay' twice"),
        ("decay=low", r"has 'low' for 'decay': expected a number"),
        ("lanes=1.5", r"has '1.5' for 'lanes': expected an integer"),
        ("lanes=4..1", r"has the range 4..1, which is empty"),
        ("lanes=0..99999", r"has the range 0..99999; expected at most 10,000 values"),
        ("lanes=1..200;window=1..200", r"makes 40,000 combinations; expected at most 10,000"),
        ("decay=0.5,,0.7", r"empty part between commas"),
    ],
)
def test_bad_grids(text, words):
    with pytest.raises(UserError, match=words):
        grid.parse(text, KNOWN)
