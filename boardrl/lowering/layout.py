"""A state as one row: every leaf of the pytree at a fixed place in a vector of 64-bit words.

An array of booleans is bits: element k is bit k % 64 of word k // 64, and bits past the last element are 0.
"""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

import jax
import numpy as np

WORD = 8  # bytes
LINE = 64  # bytes that the processor reads at once: a vector across two lines takes twice as long


class Leaf(NamedTuple):
    """One array of a pytree and where it lies in the row."""

    name: str  # as in the source where it can be told, unique in its layout
    shape: tuple[int, ...]
    dtype: np.dtype
    offset: int  # in bytes, a multiple of the type's size

    @property
    def is_bits(self) -> bool:
        """Whether the leaf is words of bits: booleans, more than one."""
        return is_bits(self.shape, self.dtype)

    @property
    def num_bytes(self) -> int:
        return _num_bytes(self.shape, self.dtype)


def is_bits(shape: tuple[int, ...], dtype: np.dtype) -> bool:
    """Whether an array is stored in a row as bits."""
    return dtype == np.bool_ and math.prod(shape) != 1


def _num_bytes(shape: tuple[int, ...], dtype: np.dtype) -> int:
    size = math.prod(shape)
    return WORD * -(-size // (8 * WORD)) if is_bits(shape, dtype) else size * dtype.itemsize


class Layout:
    """How pytrees of one structure are stored in rows; unused bytes are 0, so that equal states are equal rows."""

    def __init__(self, example: Any, name: str = "value") -> None:
        """Takes a pytree of arrays, or of anything with a shape and a dtype."""
        paths, treedef = jax.tree_util.tree_flatten_with_path(example)
        self.treedef: Any = treedef
        taken: set[str] = set()
        shapes = [_shape_and_dtype(leaf) for _, leaf in paths]
        names = [_leaf_name(path, name, taken) for path, _ in paths]
        order = sorted(range(len(paths)), key=lambda i: _place_in_row(*shapes[i]))
        offsets, end = [0] * len(paths), 0
        for i in order:
            offsets[i] = end
            end += _num_bytes(*shapes[i])
        self.leaves = [Leaf(n, *s, o) for n, s, o in zip(names, shapes, offsets, strict=True)]
        self.num_bytes = end
        self.num_words = max(1, -(-end // WORD))

    def rows(self, *batch: int) -> np.ndarray:
        """[*batch, words] zeroed rows, the first of which begins on a line of memory."""
        return zeroed_words(*batch, self.num_words)

    def pack(self, tree: Any, out: np.ndarray | None = None) -> np.ndarray:
        """[*batch, words] rows of a pytree with leading batch axes or without, written to zeroed `out` if given."""
        leaves = [np.asarray(leaf) for leaf in self.treedef.flatten_up_to(tree)]
        batch: tuple[int, ...] = ()
        if leaves:
            batch = leaves[0].shape[: leaves[0].ndim - len(self.leaves[0].shape)]
        rows = self.rows(*batch) if out is None else out
        for leaf, value in zip(self.leaves, leaves, strict=True):
            flat = value.astype(leaf.dtype, copy=False).reshape(*batch, math.prod(leaf.shape))
            if leaf.is_bits:
                packed = np.packbits(flat, axis=-1, bitorder="little")
                self.view(rows, leaf)[..., : packed.shape[-1]] = packed
            else:
                self.view(rows, leaf)[...] = flat
        return rows

    def unpack(self, rows: np.ndarray) -> Any:
        """The pytree of NumPy arrays (copies) of one row or of a batch of rows."""
        values = []
        for leaf in self.leaves:
            flat = self.view(rows, leaf)
            if leaf.is_bits:
                size = math.prod(leaf.shape)
                flat = np.unpackbits(flat, axis=-1, count=size, bitorder="little").astype(np.bool_)
            values.append(flat.reshape((*rows.shape[:-1], *leaf.shape)).copy())
        return self.treedef.unflatten(values)

    def view(self, rows: np.ndarray, leaf: Leaf) -> np.ndarray:
        """[*batch, size] a view of one leaf inside contiguous rows; of bits, their bytes."""
        found = rows.view(np.uint8)[..., leaf.offset : leaf.offset + leaf.num_bytes]
        return found if leaf.is_bits else found.view(leaf.dtype)

    def gaps(self) -> list[tuple[int, int]]:
        """(offset, size) in bytes of the padding after the last leaf, which every writer of rows must keep at 0."""
        gaps, place = [], self.num_bytes
        while place < self.num_words * WORD:
            size = next(size for size in (WORD, 4, 2, 1) if place % size == 0)
            gaps.append((place, size))
            place += size
        return gaps


def zeroed_words(*shape: int) -> np.ndarray:
    """Zeroed words of 64 bits, the first of which begins on a line of memory."""
    count = math.prod(shape)
    memory = np.zeros(count + LINE // WORD, np.uint64)
    start = -memory.ctypes.data % LINE // WORD
    return memory[start : start + count].reshape(shape)


def _place_in_row(shape: tuple[int, ...], dtype: np.dtype) -> tuple[int, bool]:
    """Big types first: no gaps between leaves. Of one type those first that fill lines of memory, such as matrices."""
    return -WORD if is_bits(shape, dtype) else -dtype.itemsize, _num_bytes(shape, dtype) % LINE != 0


def _shape_and_dtype(leaf: Any) -> tuple[tuple[int, ...], np.dtype]:
    if not hasattr(leaf, "shape"):
        leaf = jax.numpy.asarray(leaf)
    return tuple(leaf.shape), np.dtype(leaf.dtype)


def _leaf_name(path: tuple[Any, ...], default: str, taken: set[str]) -> str:
    """A name like `board`, `x_board` or `params_0`: the path to the leaf, joined."""
    parts = [str(getattr(key, "name", getattr(key, "key", getattr(key, "idx", "")))) for key in path]
    name = re.sub(r"\W+", "_", "_".join(parts)).strip("_")
    if not name or not name[0].isalpha():
        name = f"{default}_{name}" if name else default
    base, count = name, 1
    while name in taken:
        count += 1
        name = f"{base}_{count}"
    taken.add(name)
    return name
