"""Symbolic indices: positions as sums of loop variables, so that reshapes and slices cost nothing at run time."""

from __future__ import annotations

import dataclasses
import math


@dataclasses.dataclass(frozen=True)
class Counter:
    """A local integer variable of the emitted code, known to lie in [low, high]."""

    name: str
    low: int
    high: int


@dataclasses.dataclass(frozen=True)
class Index:
    """constant + Σ factor · counter."""

    constant: int = 0
    terms: tuple[tuple[Counter, int], ...] = ()

    @property
    def low(self) -> int:
        return self.constant + sum(f * (c.low if f > 0 else c.high) for c, f in self.terms)

    @property
    def high(self) -> int:
        return self.constant + sum(f * (c.high if f > 0 else c.low) for c, f in self.terms)

    def __add__(self, other: Index | int) -> Index:
        if not isinstance(other, Index):
            return Index(self.constant + int(other), self.terms)
        factors = dict(self.terms)
        for counter, factor in other.terms:
            factors[counter] = factors.get(counter, 0) + factor
        terms = tuple(sorted(((c, f) for c, f in factors.items() if f), key=lambda term: term[0].name))
        return Index(self.constant + other.constant, terms)

    def __mul__(self, factor: int) -> Index:
        factor = int(factor)
        return Index(self.constant * factor, tuple((c, f * factor) for c, f in self.terms if factor))

    def __sub__(self, other: Index | int) -> Index:
        return self + other * -1

    def __str__(self) -> str:
        parts = []
        for counter, factor in self.terms:
            size = "" if abs(factor) == 1 else f"{abs(factor)} * "
            sign = "-" if factor < 0 else "+"
            parts.append(f"{sign} {size}{counter.name}")
        if self.constant or not parts:
            parts.append(f"{'-' if self.constant < 0 else '+'} {abs(self.constant)}")
        text = " ".join(parts)
        return text[2:] if text.startswith("+ ") else "-" + text[2:]

    def divide(self, size: int) -> tuple[Index, Index] | None:
        """Quotient and remainder by `size`, if they are known without a division at run time."""
        whole = tuple((c, f // size) for c, f in self.terms if f % size == 0)
        rest = Index(0, tuple((c, f) for c, f in self.terms if f % size))
        quotient = (self.constant + rest.low) // size
        rest = rest + (self.constant - quotient * size)
        if rest.low >= 0 and rest.high < size:
            return Index(quotient, whole), rest
        return None


def counter(name: str, low: int, high: int) -> Index:
    """The index that is one variable; a variable with one possible value is that value."""
    return Index(low) if low == high else Index(0, ((Counter(name, low, high), 1),))


def flatten(dims: tuple[Index, ...], shape: tuple[int, ...]) -> Index:
    """The position in row-major order."""
    flat = Index()
    for index, size in zip(dims, shape, strict=True):
        flat = flat * size + index
    return flat


def unflatten(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The inverse of `flatten` on numbers."""
    out = []
    for size in reversed(shape):
        out.append(flat % size)
        flat //= size
    return tuple(reversed(out))


def size_of(shape: tuple[int, ...]) -> int:
    return math.prod(shape)
