"""The transposition table: what an entry holds, and which of two gives way."""

from __future__ import annotations

import numpy as np
import pytest

from search.kernel import transposition_table
from search.kernel.transposition_table import EXACT, LOWER, UPPER


def test_all_parts_of_an_entry_come_back() -> None:
    entries = np.zeros((8, 2), np.uint64)
    parts = [(-0.75, 65535, 255, True, LOWER, 31), (0.5, 1, 0, False, UPPER, 0), (1e-7, 513, 7, True, EXACT, 5)]
    for slot, (value, move, depth, complete, bound, age) in enumerate(parts):
        key = np.uint64(2 * slot)
        transposition_table.store(entries, key, value, move, depth, complete, bound, age)
        entry = transposition_table.find(entries, key)
        assert transposition_table.value_of(entry) == np.float32(value)
        assert (
            transposition_table.move_of(entry),
            transposition_table.depth_of(entry),
            transposition_table.bound_of(entry),
        ) == (move, depth, bound)
        assert bool(transposition_table.is_complete(entry)) == complete
    assert transposition_table.find(entries, np.uint64(1)) == 0


@pytest.mark.parametrize(
    ("first", "second", "gone"),
    [
        ((9, 1), (3, 1), 1),  # of two of this search the shallower gives way
        ((3, 1), (9, 1), 0),
        ((9, 0), (3, 1), 0),  # of an old one and a new one the old, however deep it is
        ((3, 1), (9, 0), 1),
    ],
)
def test_the_older_then_the_shallower_entry_gives_way(
    first: tuple[int, int], second: tuple[int, int], gone: int
) -> None:
    """Three keys of one pair of slots; each entry is (depth, age)."""
    for own_slot in (0, 1):
        entries = np.zeros((4, 2), np.uint64)
        keys = [np.uint64(own_slot), np.uint64(4 + own_slot), np.uint64(8 + own_slot)]
        for key, (depth, age) in zip(keys, (first, second, (5, 1)), strict=True):
            transposition_table.store(entries, key, 0.25, 7, depth, False, EXACT, age)
        assert [bool(transposition_table.find(entries, key)) for key in keys] == [gone != 0, gone != 1, True]


def test_a_position_has_one_entry() -> None:
    entries = np.zeros((4, 2), np.uint64)
    for depth in (3, 2, 8):
        transposition_table.store(entries, np.uint64(4), 0.25, 7, depth, False, EXACT, 1)
        assert transposition_table.depth_of(transposition_table.find(entries, np.uint64(4))) == depth
    assert np.count_nonzero(entries[:, 1]) == 1


@pytest.mark.parametrize(
    ("stored", "complete", "asked", "answers"),
    [(3, False, 3, True), (3, False, 2, False), (3, False, 4, False), (3, True, 4, True), (3, True, 2, False)],
)
def test_an_entry_answers_for_its_depth_or_for_all_when_every_line_has_ended(
    stored: int, complete: bool, asked: int, answers: bool
) -> None:
    entries = np.zeros((4, 2), np.uint64)
    transposition_table.store(entries, np.uint64(1), 0.0, 1, stored, complete, EXACT, 0)
    assert bool(transposition_table.answers(transposition_table.find(entries, np.uint64(1)), asked)) == answers
    assert not transposition_table.answers(np.uint64(0), asked)
