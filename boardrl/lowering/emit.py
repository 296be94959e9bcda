"""Emitted code: lines, loops and names of one function."""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from boardrl.lowering import index
from boardrl.lowering.index import Index
from boardrl.lowering.values import (
    SHORT,
    Buffer,
    Point,
    Value,
    bare,
    typed,
)

FEW, UNROLL, UNROLL_FEW = 4, 12, 32
LOOPS = tuple("ijklmn")  # names of loop variables, by axis
PAGE = 120  # columns


def unrolled(count: int, cost: float) -> bool:
    """Whether a loop is unrolled: it is short, and its body is cheap."""
    return count * max(cost, 1) <= (UNROLL_FEW if count <= FEW else UNROLL)


class Gap:
    """A place between lines where further lines may be inserted later."""

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self.lines: list[str | Gap] = []


def flattened(lines: list[str | Gap]) -> list[str]:
    """The lines in order, those in gaps included."""
    result: list[str] = []
    for line in lines:
        result += flattened(line.lines) if isinstance(line, Gap) else [line]
    return result


class Emitter:
    """Writes one function."""

    def __init__(self, tables: dict[str, np.ndarray], reserved: set[str]) -> None:
        self.tables = tables  # of the module, shared by its functions
        self.head: list[str] = []  # pointers into the arguments and the workspace
        self.lines: list[str | Gap] = []
        self.scopes: list[dict[Any, str]] = [{}]
        self.depth = 1
        self.work_bytes = 0
        self.names = set(reserved)

    # Names

    def name(self, hint: str = "") -> str:
        """A name that is not taken yet."""
        base = re.sub(r"\W", "_", hint) or "t"
        name, count = base, 1
        while name in self.names or name in self.tables:
            count += 1
            name = f"{base}_{count}"
        self.names.add(name)
        return name

    def table(self, array: np.ndarray, hint: str) -> str:
        """The name of a constant of the module."""
        flat = array.reshape(-1)
        flat = flat.view(np.uint8) if flat.dtype == np.bool_ else flat
        for name, known in self.tables.items():
            if known.dtype == flat.dtype and known.tobytes() == flat.tobytes():
                return name
        base = re.sub(r"\W", "_", hint).upper() or "TABLE"
        name, count = base, 1
        while name in self.names or name in self.tables:
            count += 1
            name = f"{base}_{count}"
        self.tables[name] = flat
        return name

    def slot(self, shape: tuple[int, ...], dtype: np.dtype, hint: str = "") -> Buffer:
        """Memory in the workspace for one array."""
        pointer = self.name(hint or "array")
        self.point(pointer, "work", self.work_bytes, shape, dtype)
        self.work_bytes += -(-max(1, index.size_of(shape)) * dtype.itemsize // 64) * 64
        return Buffer(pointer, shape, dtype)

    def point(
        self, pointer: str, array: str, offset: int, shape: tuple[int, ...], dtype: np.dtype, *, words: bool = False
    ) -> None:
        """Makes a typed pointer to a place in an argument; `words`: to booleans that are bits."""
        memory = np.dtype(np.uint64 if words else np.uint8) if dtype == np.bool_ else dtype
        size = ",".join(map(str, shape))
        self.head.append(
            f"    {pointer} = pointer({array}, {offset}, {SHORT[str(memory)]})  # {SHORT[str(dtype)]}[{size}]"
        )

    # Lines

    def line(self, text: str, note: str = "") -> None:
        indent = "    " * self.depth
        if note and len(indent) + len(text) + len(note) + 4 > PAGE:
            self.lines.append(f"{indent}# {note}")
            note = ""
        self.lines.append(indent + text + (f"  # {note}" if note else ""))

    def gap(self) -> Gap:
        """Leaves a place where lines may be inserted later."""
        gap = Gap(self.depth)
        self.lines.append(gap)
        return gap

    @contextlib.contextmanager
    def filling(self, gap: Gap) -> Iterator[None]:
        """Writes lines into a gap, with only the names that are known there."""
        saved = self.lines, self.depth, self.scopes
        self.lines, self.depth, self.scopes = gap.lines, gap.depth, [{}]
        yield
        self.lines, self.depth, self.scopes = saved

    def bind(self, text: str, hint: str = "", note: str = "") -> str:
        """A new local variable for an expression."""
        name = self.name(f"{hint}_value" if hint in LOOPS else hint)
        self.line(f"{name} = {bare(text)}", note)
        return name

    @contextlib.contextmanager
    def block(self, header: str, note: str = "") -> Iterator[None]:
        """An indented block, with names of its own for shared elements."""
        self.line(header, note)
        self.depth += 1
        self.scopes.append({})
        before = len(self.lines)
        yield
        if not flattened(self.lines[before:]):
            self.line("pass")
        self.scopes.pop()
        self.depth -= 1

    @contextlib.contextmanager
    def loop(self, low: int, high: int, hint: str = "i") -> Iterator[Index]:
        """A loop over low ≤ i < high."""
        if high == low + 1:
            yield Index(low)
            return
        name = self.name(hint)
        with self.block(f"for {name} in range({low}, {high}):" if low else f"for {name} in range({high}):"):
            yield index.counter(name, low, high - 1)
        self.names.discard(name)  # free for the next loop

    def index(self, text: str, low: int, high: int, hint: str = "k") -> Index:
        """A local integer variable as an index."""
        return index.counter(self.bind(text, hint), low, high) if low < high else Index(low)

    def divide(self, flat: Index, size: int) -> tuple[Index, Index]:
        """Quotient and remainder, computed at run time where they are not known before."""
        parts = flat.divide(size)
        if parts is not None:
            return parts
        key = (flat, size)
        for scope in reversed(self.scopes):
            if key in scope:
                return scope[key]
        quotient = self.index(f"({flat}) // {size}", flat.low // size, flat.high // size)
        rest = self.index(f"{flat - quotient * size}", 0, size - 1)
        self.scopes[-1][key] = (quotient, rest)  # type: ignore[assignment]
        return quotient, rest

    def either(self, condition: str, yes: Callable[[], str], no: Callable[[], str], value: Any, hint: str = "") -> str:
        """yes() where the condition holds, else no(): only that side is computed."""
        if condition in ("True", "False"):
            return yes() if condition == "True" else no()
        sides = []
        for side in (yes, no):
            lines, self.lines = self.lines, []
            self.scopes.append({})
            self.depth += 1
            text = typed(side(), value.dtype)
            self.depth -= 1
            self.scopes.pop()
            written, self.lines = self.lines, lines
            sides.append((text, written))
        (text_yes, lines_yes), (text_no, lines_no) = sides
        if not flattened(lines_yes) and not flattened(lines_no):
            return f"({text_yes} if {bare(condition)} else {text_no})"
        name = self.name(hint)
        for header, text, written in ((f"if {bare(condition)}:", text_yes, lines_yes), ("else:", text_no, lines_no)):
            self.line(header)
            self.lines += written
            self.depth += 1
            self.line(f"{name} = {bare(text)}")
            self.depth -= 1
        return name

    # Whole arrays

    def each(self, value: Value, body: Callable[[Point], None], axes: tuple[int, ...] | None = None,
             fixed: tuple[Index, ...] = ()) -> None:  # fmt: skip
        """Loops over all elements: nested loops, one loop in row-major order, or unrolled where there are few.

        With `axes`, loops over these only; the others stay at `fixed`.
        """
        shape = value.shape
        over = tuple(range(len(shape))) if axes is None else axes
        count = index.size_of(tuple(shape[a] for a in over))
        if count == 0:
            return
        if unrolled(count, value.cost) or count == 1:
            for k in range(count):
                digits = iter(index.unflatten(k, tuple(shape[a] for a in over)))
                rest = iter(fixed)
                body(
                    Point(
                        shape, dims=tuple(Index(next(digits)) if a in over else next(rest) for a in range(len(shape)))
                    )
                )
            return
        if axes is None and value.plain and not value.splits and len(shape) > 1:
            with self.loop(0, count) as flat:
                body(Point(shape, flat=flat))
            return
        dims: list[Index] = []

        def descend(axis: int) -> None:
            if axis == len(shape):
                body(Point(shape, dims=tuple(dims)))
                return
            if axis not in over:
                dims.append(fixed[sum(1 for a in range(axis) if a not in over)])
                descend(axis + 1)
                dims.pop()
                return
            cuts = sorted({0, shape[axis], *value.splits.get(axis, ())})
            for low, high in itertools.pairwise(cuts):
                with self.loop(low, high, LOOPS[min(axis, 5)]) as i:
                    dims.append(i)
                    descend(axis + 1)
                    dims.pop()

        descend(0)

    def over(self, shape: tuple[int, ...], body: Callable[[Point], None], cost: float) -> None:
        """Loops over the places of a shape, in nested loops."""
        self.each(Value(shape, np.dtype(np.bool_), lambda emit, point: "", cost=cost), body)

    def fill(self, buffer: Buffer, value: Value) -> None:
        """Writes a value into memory."""
        self.each(value, lambda point: buffer.store(self, point, value.at(self, point), value.note))
