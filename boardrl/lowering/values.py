"""What the lines of emitted code compute: values, their elements at a point, and how literals are written."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from boardrl.lowering import index
from boardrl.lowering.index import Index

if TYPE_CHECKING:
    from boardrl.lowering.emit import Emitter

PLAIN = re.compile(r"-?[\w.]+|\(?\w+\[[^\[\]]*\]( != 0\))?")  # a name, a number, an element: needs no name of its own
WIDE = 90  # an expression longer than this gets a name
LARGE_TABLE = 1 << 16  # bytes of a table that is worth a narrower type
SHORT = {
    "bool": "bool",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
    "float32": "f32",
    "float64": "f64",
}


def kind(value: Any) -> str:
    """A type and shape like i8[3,3]."""
    return f"{SHORT[str(value.dtype)]}[{','.join(map(str, value.shape))}]"


class Point:
    """One position in an array, by axis or in row-major order; each form is derived from the other on demand."""

    def __init__(self, shape: tuple[int, ...], *, dims: tuple[Index, ...] | None = None, flat: Index | None = None):
        self.shape = shape
        self._dims = dims
        self._flat = flat

    def flat(self) -> Index:
        if self._flat is None:
            assert self._dims is not None
            self._flat = index.flatten(self._dims, self.shape)
        return self._flat

    def dims(self, emit: Emitter) -> tuple[Index, ...]:
        if self._dims is not None:
            return self._dims
        # Not kept: a division at run time gets a name that is known in the block that asks, and not beyond.
        assert self._flat is not None
        rest, out = self._flat, []
        for size in self.shape[:0:-1]:
            rest, digit = emit.divide(rest, size)
            out.append(digit)
        return (rest, *reversed(out)) if self.shape else ()

    def reshaped(self, shape: tuple[int, ...]) -> Point:
        return Point(shape, flat=self.flat())


ORIGIN = Point((), dims=())


def first(shape: tuple[int, ...]) -> Point:
    """The only position of an array with one element."""
    return Point(shape, dims=(Index(),) * len(shape))


@dataclasses.dataclass(eq=False)
class Value:
    """An array that has no memory of its own: `read` writes the expression for one element.

    Attributes:
      cost: about how many machine operations one element takes.
      plain: element k depends on its operands' elements k only, in row-major order, so that one loop is enough.
      splits: for some axes, where the expression changes its form; loops are cut there.
      shared: elements are read more than once, so each gets a name within a loop.
    """

    shape: tuple[int, ...]
    dtype: np.dtype
    read: Callable[[Emitter, Point], str]
    cost: float = 1
    plain: bool = False
    splits: Mapping[int, tuple[int, ...]] = dataclasses.field(default_factory=dict)
    shared: bool = False
    note: str = ""  # for the comment
    hint: str = ""  # for the name
    branchy: bool = False  # an element may take loops or branches, so that a loop over it is no vector code
    packed: Value | None = None  # the same booleans in words (`bits.Bits`), where that has been worked out
    uniform: Value | None = None  # the value of one element that all elements have
    origins: tuple[Value, np.ndarray] | None = (
        None  # the array that this is a rearrangement of, and [size] places in it
    )

    @property
    def size(self) -> int:
        return index.size_of(self.shape)

    def at(self, emit: Emitter, point: Point) -> str:
        """The expression of one element; a shared one is computed once in its loop."""
        if not self.shared:
            text = self.read(emit, point)
            return text if len(text) <= WIDE else emit.bind(text, self.hint, self.note)
        key = (self, point.flat())
        for scope in reversed(emit.scopes):
            if key in scope:
                return scope[key]
        text = self.read(emit, point)
        if not PLAIN.fullmatch(text):
            text = emit.bind(text, self.hint, self.note)
        emit.scopes[-1][key] = text
        return text


def scalar(text: str, shape: tuple[int, ...], dtype: np.dtype) -> Value:
    """A value of one element that is a local variable or a literal."""
    return Value(shape, dtype, lambda emit, point: text, cost=0, plain=True)


class Buffer(Value):
    """An array in memory, row-major, behind a typed pointer."""

    def __init__(self, pointer: str, shape: tuple[int, ...], dtype: np.dtype) -> None:
        super().__init__(shape, dtype, self._load, cost=1, plain=True)
        self.pointer = pointer

    def _load(self, emit: Emitter, point: Point) -> str:
        text = f"{self.pointer}[{point.flat()}]"
        # Numba's pointers know no booleans: they are bytes in memory.
        return f"({text} != 0)" if self.dtype == np.bool_ else text

    def store(self, emit: Emitter, point: Point, text: str, note: str = "") -> None:
        emit.line(f"{self.pointer}[{point.flat()}] = {bare(text)}", note)


class Table(Value):
    """Constants: one number for all elements, a line a + Σ b·i over the indices, or a table in the module."""

    def __init__(self, array: np.ndarray, hint: str = "table") -> None:
        super().__init__(array.shape, array.dtype, self._load, cost=1, plain=True)
        self.array = array
        self.table_hint = hint
        self.line = _as_line(array)
        if self.line is not None:
            self.cost = 0 if not any(self.line[1:]) else 1
            self.plain = not any(self.line[1:]) or array.ndim == 1

    def _load(self, emit: Emitter, point: Point) -> str:
        place = self.place(emit, point)
        if place is None:
            text = f"{emit.table(self.stored, self.table_hint)}[{point.flat()}]"
            if self.stored.dtype != self.dtype:
                return f"{SHORT[str(self.dtype)]}({text})"
            return f"({text} != 0)" if self.dtype == np.bool_ else text
        if not place.terms and self.dtype.kind not in "iu":
            assert self.line is not None or point.flat().terms == ()
            flat = point.flat()
            element = self.array.reshape(-1)[0 if flat.terms else flat.constant]
            return literal(element, self.dtype)
        if not place.terms:
            return literal(place.constant, self.dtype)
        return f"{SHORT[str(self.dtype)]}({place})"

    @functools.cached_property
    def stored(self) -> np.ndarray:
        """The numbers as they are kept in the module: large tables in the narrowest type of integers that holds them.

        Numba does not cache functions that read an array of more than a million bytes on disk.
        """
        if self.array.dtype.kind not in "iu" or self.array.nbytes < LARGE_TABLE:
            return self.array
        least, most = int(self.array.min()), int(self.array.max())
        narrow = np.min_scalar_type(most if least >= 0 else min(least, -most - 1))
        return self.array.astype(narrow) if narrow.itemsize < self.array.itemsize else self.array

    def place(self, emit: Emitter, point: Point) -> Index | None:
        """The element as an index, where it is known without a table."""
        flat = point.flat()
        if not flat.terms:
            element = self.array.reshape(-1)[flat.constant]
            return Index(int(element)) if self.dtype.kind in "iu" else Index()
        if self.line is None:
            return None
        value = Index(self.line[0])
        if any(self.line[1:]):
            for factor, position in zip(self.line[1:], point.dims(emit), strict=True):
                value = value + position * factor
        return value

    def bounds(self) -> tuple[int, int]:
        return int(self.array.min()), int(self.array.max())


def _as_line(array: np.ndarray) -> tuple[int, ...] | None:
    """(a, b, …) with array[i, …] = a + b·i + …, if such numbers exist; all b are 0 for types other than integers."""
    if array.size == 0:
        return (0,) * (1 + array.ndim)
    start = array.reshape(-1)[0]
    if bool((array == start).all()) and (array.dtype.kind != "f" or _same_bits(array)):
        return (int(start) if array.dtype.kind in "iu" else 0,) + (0,) * array.ndim
    if array.dtype.kind not in "iu":
        return None
    factors = []
    for axis in range(array.ndim):
        unit = tuple(1 if k == axis else 0 for k in range(array.ndim))
        factors.append(int(array[unit]) - int(start) if array.shape[axis] > 1 else 0)
    steps = [f * np.arange(n).reshape([-1 if k == d else 1 for k in range(array.ndim)])
             for d, (f, n) in enumerate(zip(factors, array.shape, strict=True))]  # fmt: skip
    if max(map(abs, [int(start), *factors])) * array.size > 2**62:
        return None
    line = int(start) + sum(steps)
    return (int(start), *factors) if np.array_equal(line, array) else None


def _same_bits(array: np.ndarray) -> bool:
    flat = array.reshape(-1)
    return flat.tobytes() == flat[:1].tobytes() * flat.size


def literal(value: Any, dtype: np.dtype) -> str:
    """The source text of a number that keeps its type in Numba."""
    if dtype == np.bool_:
        return str(bool(value))
    if dtype.kind == "f":
        number = float(value)
        text = "nan" if number != number else repr(number)
        return f"{SHORT[str(dtype)]}({text})"
    return f"u64({int(value)})" if dtype == np.uint64 else str(int(value))


def typed(text: str, dtype: np.dtype) -> str:
    """The expression with its type spelled out if it is a plain number."""
    return f"{SHORT[str(dtype)]}({text})" if re.fullmatch(r"-?\d+", text) else text


def bare(text: str) -> str:
    """An expression without redundant outer brackets."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for place, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0 and place < len(text) - 1:
            return text
    return text[1:-1]
