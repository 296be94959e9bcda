"""Sums of rows of a matrix: entries that are not 0 are listed, and their rows are added in vector code."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from boardrl.lowering.bits import BITS, bits_of, full, packed
from boardrl.lowering.bits import literal as word_literal
from boardrl.lowering.emit import Emitter
from boardrl.lowering.index import Index, flatten, unflatten
from boardrl.lowering.ir import Equation
from boardrl.lowering.primitives.elementwise import convert
from boardrl.lowering.primitives.indexing import whole
from boardrl.lowering.primitives.linear import column_blocks
from boardrl.lowering.sparse import NAME, Term
from boardrl.lowering.values import Buffer, Point, Value, bare, first, literal, typed
from boardrl.lowering.writer import Writer, rule

WRITTEN_OUT = 24  # entries that are listed without a loop
FEW = 8  # numbers that are listed whether or not they are 0
MOST_WRITTEN_WORDS = 4  # of booleans whose words are walked one after another; more are walked in a loop


class Listing:
    """The list of entries under way: those that are always there first, so that their places are known."""

    def __init__(self, emit: Emitter, capacity: int, dtype: np.dtype) -> None:
        self.emit = emit
        self.dtype = dtype
        self.places = emit.slot((capacity,), np.dtype(np.int32), "places")
        self.factors = emit.slot((capacity,), dtype, "factors")
        self.fixed = 0
        self.count = ""  # the variable that counts, once an entry may be missing

    @property
    def number(self) -> str:
        return self.count or str(self.fixed)

    def begin_counting(self) -> None:
        if not self.count:
            self.count = self.emit.name("count")
            self.emit.line(f"{self.count} = i64({self.fixed})")

    def put(self, place: str, factor: str, at: Index) -> None:
        """An entry that is always there."""
        self.emit.line(f"{self.places.pointer}[{at}] = {bare(place)}")
        self.emit.line(f"{self.factors.pointer}[{at}] = {bare(factor)}")

    def append(self, place: str, factor: str, test: str = "") -> None:
        """An entry that is there if the test holds: it is written anyhow, and overwritten by the next if not."""
        self.emit.line(f"{self.places.pointer}[{self.count}] = {bare(place)}")
        self.emit.line(f"{self.factors.pointer}[{self.count}] = {bare(factor)}")
        self.emit.line(f"{self.count} += {f'i64({bare(test)})' if test else '1'}")


@rule(NAME)
def _sum_of_rows(writer: Writer, eqn: Equation, matrix: Value, *operands: Value) -> list[Value]:
    emit, out, terms = writer.emit, eqn.outs[0], eqn.params["terms"]
    given, rest = [], list(operands)
    for term in terms:
        number = len(term.operands) + len(term.factors)
        given.append((term, rest[: len(term.operands)], rest[len(term.operands) : number]))
        rest = rest[number:]
    memory = writer.memory(eqn)
    # One place more than there are entries, as the last may be written and not counted.
    listing = Listing(emit, sum(term.entries for term in terms) + 1, out.dtype)
    emit.line(f"# {NAME} {len(terms)} terms, {eqn.source}" if eqn.source else f"# {NAME}")
    for term, values, factors in sorted(given, key=lambda item: _is_counted(item[0])):
        if _is_counted(term):
            listing.begin_counting()
        WRITERS[term.kind](listing, term, values, _factor(emit, term, factors, out.dtype))
    add_rows(emit, memory, matrix, listing)
    return [memory]


def add_rows(emit: Emitter, out: Buffer, matrix: Value, listing: Listing) -> None:
    """Writes out[i] = Σ factor · matrix[place, i] over the list."""
    columns, lists = matrix.shape[1], f"{listing.places.pointer}, {listing.factors.pointer}"
    if isinstance(matrix, Buffer) and matrix.dtype == out.dtype:
        call = f"sum_rows({out.pointer}, {matrix.pointer}, {lists}, i64({listing.number})"
        for start, width in column_blocks(emit, columns):
            emit.line(f"{call}, i64({start}), {columns}, {width})")
        return
    with emit.loop(0, columns) as i:
        out.store(emit, Point(out.shape, flat=i), typed(literal(0, out.dtype), out.dtype))
    with emit.block(f"for entry in range({listing.number}):"):
        place = emit.index(f"i64({listing.places.pointer}[entry])", 0, matrix.shape[0] - 1, "place")
        with emit.loop(0, columns) as i:
            weight = convert(matrix.at(emit, Point(matrix.shape, dims=(place, i))), matrix.dtype, out.dtype)
            text = f"{out.pointer}[{i}] + {listing.factors.pointer}[entry] * {weight}"
            out.store(emit, Point(out.shape, flat=i), text)


def _is_counted(term: Term) -> bool:
    """Whether how many entries it lists is known only at run time."""
    return term.kind == "bits" or (term.kind == "dense" and term.entries > FEW)


def _factor(emit: Emitter, term: Term, factors: list[Value], dtype: np.dtype) -> str:
    """What the entries of a term are multiplied by; empty: nothing."""
    texts = [typed(literal(np.array(term.scale, dtype), dtype), dtype)] if term.scale != 1.0 else []
    texts += [typed(convert(x.at(emit, first(x.shape)), x.dtype, dtype), dtype) for x in factors]
    if len(texts) <= 1:
        return texts[0] if texts else ""
    return emit.bind(" * ".join(texts), "factor")


def _times(text: str, factor: str) -> str:
    return f"({text} * {factor})" if factor else text


def _row(emit: Emitter, rows: np.ndarray, place: Index, hint: str = "rows") -> str:
    """The row of an entry, by a table where it is no constant distance away."""
    flat = rows.reshape(-1)
    if not place.terms:
        return str(flat[place.constant])
    away = flat - np.arange(flat.size)
    if (away == away[0]).all():
        return f"i32({place + int(away[0])})"
    return f"{emit.table(flat.astype(np.int32), hint)}[{place}]"


def _each(listing: Listing, entries: int) -> Iterator[tuple[Index, Index]]:
    """(entry, its place in the list) of a term whose entries are always there."""
    base, listing.fixed = listing.fixed, listing.fixed + entries
    if entries <= WRITTEN_OUT:
        yield from ((Index(k), Index(base + k)) for k in range(entries))
        return
    with listing.emit.loop(0, entries) as k:
        yield k, k + base


def _constant(listing: Listing, term: Term, values: list[Value], factor: str) -> None:
    emit, dtype = listing.emit, listing.dtype
    assert term.values is not None
    numbers = term.values.astype(dtype)
    for entry, at in _each(listing, term.entries):
        if entry.terms:
            row = f"{emit.table(term.rows.astype(np.int32), 'rows')}[{entry}]"
            number = f"{emit.table(numbers, 'entries')}[{entry}]"
        else:
            row, number = str(term.rows[entry.constant]), literal(numbers[entry.constant], dtype)
        listing.put(row, _times(number, factor), at)


def _dense(listing: Listing, term: Term, values: list[Value], factor: str) -> None:
    (x,), emit, dtype = values, listing.emit, listing.dtype

    def element(entry: Index) -> str:
        text = x.at(emit, Point(x.shape, flat=entry))
        return _times(typed(convert(text, x.dtype, dtype), dtype), factor)

    if _is_counted(term):
        with emit.loop(0, term.entries) as k:
            number = emit.bind(element(k), "entry")
            row = emit.bind(_row(emit, term.rows, k), "row")
            test = f"{number} != {literal(0, dtype)}"
            listing.append(row, number, f"({test}) & ({row} >= 0)" if (term.rows < 0).any() else test)
        return
    for entry, at in _each(listing, term.entries):
        place = int(term.rows[entry.constant])
        listing.put(str(max(place, 0)), element(entry) if place >= 0 else literal(0, dtype), at)


def _one_hot(listing: Listing, term: Term, values: list[Value], factor: str) -> None:
    (x,), emit, dtype = values, listing.emit, listing.dtype
    num_values = term.rows.shape[1]
    for entry, at in _each(listing, term.entries):
        text = whole(typed(x.at(emit, Point(x.shape, flat=entry)), x.dtype), x.dtype)
        value = emit.bind(f"{text} - {term.low}" if term.low else text, "value")
        inside = f"(0 <= {value} < {num_values})"
        place = emit.index(f"where({inside}, {value}, i64(0))", 0, num_values - 1)
        row = emit.bind(_row(emit, term.rows, entry * num_values + place), "row")
        one = factor or literal(1, dtype)
        if (term.rows < 0).any():
            inside, row = f"({inside} & ({row} >= 0))", f"maximum({row}, i32(0))"
        listing.put(row, f"where({bare(inside)}, {one}, {literal(0, dtype)})", at)


def _scatter(listing: Listing, term: Term, values: list[Value], factor: str) -> None:
    (places, added), emit, dtype = values, listing.emit, listing.dtype
    shape = term.rows.shape
    for entry, at in _each(listing, term.entries):
        dims = Point(added.shape, flat=entry).dims(emit) if entry.terms else _digits(entry.constant, added.shape)
        position, tests = [], []
        for axis, size in enumerate(shape):
            point = Point(places.shape, dims=(*dims, Index(axis)))
            place = emit.bind(whole(typed(places.at(emit, point), places.dtype), places.dtype), "place")
            tests.append(f"(0 <= {place} < {size})")
            position.append(emit.index(f"minimum(maximum({place}, i64(0)), i64({size - 1}))", 0, size - 1))
        row = emit.bind(_row(emit, term.rows, flatten(tuple(position), shape)), "row")
        if (term.rows < 0).any():
            tests.append(f"({row} >= 0)")
            row = f"maximum({row}, i32(0))"
        number = typed(convert(added.at(emit, Point(added.shape, dims=dims)), added.dtype, dtype), dtype)
        listing.put(row, f"where({bare(' & '.join(tests))}, {bare(_times(number, factor))}, {literal(0, dtype)})", at)


def _digits(flat: int, shape: tuple[int, ...]) -> tuple[Index, ...]:
    return tuple(map(Index, unflatten(flat, shape)))


def _bits(listing: Listing, term: Term, values: list[Value], factor: str) -> None:
    (x,), emit = values, listing.emit
    form, one = bits_of(emit, x), factor or literal(1, listing.dtype)
    wanted, valid = packed(term.rows >= 0), full(x.size)

    def walk(text: str, base: Index) -> None:
        word = emit.bind(text, "word")
        with emit.block(f"while {word} != u64(0):"):
            place = emit.index(f"i64(cttz({word}))", 0, BITS - 1)
            emit.line(f"{word} &= {word} - u64(1)")
            listing.append(_row(emit, term.rows, base + place), one)

    words = [k for k, mask in enumerate(wanted) if mask]  # bits without a row are left out
    if len(words) <= MOST_WRITTEN_WORDS:
        for k in words:
            text = form.words(emit)[k]
            walk(text if wanted[k] == valid[k] else f"{text} & {word_literal(wanted[k])}", Index(BITS * k))
        return
    pointer = form.in_memory(emit)
    with emit.loop(0, len(wanted)) as number:
        text = f"{pointer}[{number}]"
        if wanted != valid:
            text += f" & {emit.table(np.array(wanted, np.uint64), 'masks')}[{number}]"
        walk(text, number * BITS)


WRITERS = {"constant": _constant, "dense": _dense, "one_hot": _one_hot, "scatter": _scatter, "bits": _bits}
