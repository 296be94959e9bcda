"""Index sums: bounds, quotients and remainders are those of every value that the counters can take."""

from __future__ import annotations

import itertools

import pytest

from boardrl.lowering.index import Counter, Index, counter, flatten, unflatten

ROW, COLUMN = Counter("i", 0, 3), Counter("j", 2, 5)


def values(index: Index) -> list[int]:
    """What an index can be, for every i, then every j."""
    found = []
    for i, j in itertools.product(range(ROW.low, ROW.high + 1), range(COLUMN.low, COLUMN.high + 1)):
        found.append(index.constant + sum(factor * {ROW: i, COLUMN: j}[c] for c, factor in index.terms))
    return found


@pytest.mark.parametrize(
    "terms", [((ROW, 1),), ((ROW, 4), (COLUMN, 1)), ((ROW, 4), (COLUMN, -1)), ((ROW, -3),), ((COLUMN, 8), (ROW, 2)), ()]
)
@pytest.mark.parametrize("constant", [-7, -2, 0, 3, 9])
def test_bounds_and_divisions(terms: tuple[tuple[Counter, int], ...], constant: int) -> None:
    index = Index(constant, terms)
    all_values = values(index)
    assert (index.low, index.high) == (min(all_values), max(all_values))
    for size in (1, 2, 4, 8):
        parts = index.divide(size)
        if parts is not None:
            quotients, rests = (values(part) for part in parts)
            assert list(zip(quotients, rests, strict=True)) == [divmod(value, size) for value in all_values]
    assert index.divide(1) is not None


def test_divisions_that_must_be_seen() -> None:
    """Rows of four with a counter from 2 to 5 less 2: its column, without a division when the game is played."""
    place = Index(-2, ((ROW, 4), (COLUMN, 1)))
    quotient, rest = place.divide(4) or pytest.fail("it can be divided")
    assert (str(quotient), str(rest)) == ("i", "j - 2")
    assert Index(0, ((COLUMN, 1),)).divide(4) is None  # 2 to 5 lie in two rows


def test_sums_and_products() -> None:
    i = counter("i", 0, 3)
    assert values(i * 3 - 2) == [3 * v - 2 for v in values(i)]
    assert (i - i).terms == ()
    assert (i * 0) == Index(0)
    assert counter("k", 4, 4) == Index(4)
    assert str(i * -1 + 2) == "-i + 2"


def test_positions_in_row_major_order() -> None:
    for flat in range(24):
        dims = unflatten(flat, (2, 3, 4))
        assert flatten(tuple(Index(d) for d in dims), (2, 3, 4)) == Index(flat)
        assert dims == (flat // 12, flat // 4 % 3, flat % 4)
