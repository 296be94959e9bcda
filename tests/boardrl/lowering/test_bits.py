"""Booleans in words: random programs against JAX, errors planted in masks and tails, and rows of bits."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from boolean_programs import differences

from boardrl.game import either, some
from boardrl.host import masks
from boardrl.lowering import Layout, bits, lower

PROGRAMS = int(os.environ.get("BOARDRL_PROGRAMS", "200"))  # more in a long run, see docs/testing.md
TOGETHER = 4  # programs in one compiled function


@pytest.fixture(autouse=True)
def _mixed_types() -> Any:
    with jax.numpy_dtype_promotion("standard"):
        yield


@pytest.mark.parametrize("first", range(0, PROGRAMS, 20))
def test_random_programs_equal_jax(first: int) -> None:
    seeds = range(first, min(first + 20, PROGRAMS))
    for start in range(0, len(seeds), TOGETHER):
        assert differences(seeds[start : start + TOGETHER]) == []


def test_empty_arrays_are_rearranged() -> None:
    """Two programs of the long run: arrays without elements are padded and joined."""
    assert differences([307, 436]) == []


@pytest.mark.parametrize("axes", [(), (0,), (0, 1)])
def test_sums_along_any_number_of_axes(axes: tuple[int, ...]) -> None:
    """As in two programs of the long run: a sum of two axes along none of them."""
    x = np.random.default_rng(0).integers(-9, 9, (13, 15)).astype(np.int8)
    function = lower(lambda x: jnp.sum(x, axes, dtype=jnp.int8), x, name=f"sums_along_{len(axes)}")
    np.testing.assert_array_equal(function(x), x.sum(axes, dtype=np.int8))


@pytest.mark.parametrize("padding", [False, True])
def test_slices_of_padding_are_reduced(padding: bool) -> None:
    """As in a program of the long run, among those from 940 on."""

    def program(x: Any) -> Any:
        return jnp.pad(x, ((8, 8), (0, 0)), constant_values=padding)[:8].all(0)

    x = np.random.default_rng(0).random((8, 9)) < 0.5
    np.testing.assert_array_equal(lower(program, x, name=f"padding_{padding}")(x), program(x))


def wrong_mask(word: str, valid: int, delta: int, bit: np.ndarray) -> str:
    """Shifts without their masks."""
    if delta == 0:
        return word
    return f"({word} {'>>' if delta > 0 else '<<'} u64({abs(delta)}))"


def wrong_tail(size: int) -> list[int]:
    """All bits of the last word."""
    return [2**64 - 1] * bits.num_words(size)


@pytest.mark.parametrize(
    ("name", "planted", "seeds"), [("_shifted", wrong_mask, (2, 3)), ("full", wrong_tail, (34, 42))]
)
def test_planted_errors_are_found(
    name: str, planted: Callable[..., Any], seeds: tuple[int, ...], tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each by one of the first programs of `test_random_programs_equal_jax` that can tell."""
    monkeypatch.setenv("BOARDRL_CACHE", str(tmp_path))  # what is emitted here must not be found by others
    for module in [m for key, m in sys.modules.items() if key.startswith("boardrl.lowering") and hasattr(m, name)]:
        monkeypatch.setattr(module, name, planted)
    assert differences(seeds, 3, f"planted{name}")


@pytest.mark.parametrize("size", [1, 2, 9, 63, 64, 65, 200])
def test_booleans_lie_in_rows_as_bits(size: int) -> None:
    rng = np.random.default_rng(size)
    tree = {"flags": rng.random((3, size)) < 0.5, "number": rng.integers(0, 9, 3).astype(np.int32)}
    layout = Layout(jax.tree.map(lambda leaf: leaf[0], tree))
    rows = layout.pack(tree)
    jax.tree.map(np.testing.assert_array_equal, layout.unpack(rows), tree)
    leaf = next(leaf for leaf in layout.leaves if leaf.name == "flags")
    assert leaf.num_bytes == (1 if size == 1 else 8 * -(-size // 64))
    if size > 1:
        words = rows[:, leaf.offset // 8 : (leaf.offset + leaf.num_bytes) // 8]
        for row, flags in zip(words, tree["flags"], strict=True):
            value = sum(int(word) << (64 * k) for k, word in enumerate(row))
            assert value == sum(1 << k for k in np.flatnonzero(flags).tolist())  # and nothing past the last


def test_a_large_array_of_booleans_falls_back_to_elements() -> None:
    """More than fits into words: 10,000 elements in and out."""
    flags = np.random.default_rng(0).random(10_000) < 0.5
    function = lower(lambda x: (~x, x.sum(), x[::-1] & x), flags, name="many_booleans")
    inverted, count, both = function(flags)
    np.testing.assert_array_equal(inverted, ~flags)
    assert count == flags.sum()
    np.testing.assert_array_equal(both, flags[::-1] & flags)


def test_a_set_of_actions_is_counted_and_walked() -> None:
    rng = np.random.default_rng(0)
    for size in (1, 5, 64, 65, 130):
        flags = rng.random(size) < 0.3
        mask, words = masks.pack(flags), masks.num_words(size)
        chosen = np.flatnonzero(flags).tolist()
        np.testing.assert_array_equal(masks.unpack(mask, size), flags)
        assert masks.num_set(mask, words) == len(chosen)
        assert [masks.nth_set(mask, words, n) for n in range(len(chosen) + 1)] == [*chosen, -1]
        walked, action = [], masks.next_set(mask, words, 0)
        while action >= 0:
            walked.append(action)
            action = masks.next_set(mask, words, action + 1)
        assert walked == chosen
        assert [masks.is_set(mask, k) for k in range(size)] == flags.tolist()


def test_a_product_of_conditions_reads_a_bit_where_words_are_not_needed() -> None:
    """One element of a costly array of booleans, at an index that is traced."""
    function = lower(lambda x, k: (x & jnp.roll(x, 1))[k], np.ones(70, bool), np.int32(0), name="one_bit_of_many")
    flags = np.random.default_rng(1).random(70) < 0.7
    want = flags & np.roll(flags, 1)
    assert [bool(function(flags, np.int32(k))) for k in range(70)] == want.tolist()


def test_some_and_either_are_word_logic() -> None:
    """The forms that XLA is fast at become the same words as `any` and `|`."""

    def forms(x: Any, y: Any) -> tuple[Any, ...]:
        return some(x), x.astype(jnp.int32).min(), either(x, y), jnp.where(x, y, False), jnp.where(x, False, y)

    rng = np.random.default_rng(2)
    sizes = (5, 5, 64, 64, 130, 130)
    function = lower(lambda *planes: [forms(*planes[k : k + 2]) for k in (0, 2, 4)], *(np.ones(n, bool) for n in sizes))
    for density in (0.0, 0.01, 0.5, 1.0):
        planes = [rng.random(n) < density for n in sizes]
        for got, x, y in zip(function(*planes), planes[::2], planes[1::2], strict=True):
            any_set, least, union, both, second_only = got
            assert bool(any_set) == x.any()
            assert least == x.all()
            for result, want in ((union, x | y), (both, x & y), (second_only, y & ~x)):
                np.testing.assert_array_equal(result, want)
    source = inspect.getsource(function.function.py_func)
    assert "| (~" not in source
    assert "reduce_max u8[]" in source
