"""Boolean arrays as bits of machine words: element k is bit k % 64 of word k // 64, and bits past the last are 0."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from boardrl.lowering.emit import Emitter, Gap
from boardrl.lowering.index import Index, size_of
from boardrl.lowering.values import Buffer, Point, Table, Value, bare, first

BITS = 64  # of a word
MOST_WORDS = 64  # of an array that is held in local variables
MOST_MOVED = 1 << 16  # elements of an array that is only a rearrangement of another
FEW_TERMS = 3  # or-ed in one expression
INLINE = 48  # characters: a rearranged word that is read once and is no longer than this needs no name
BOOL = np.dtype(np.bool_)
# Machine operations of the ways to bring bits to their places, for each (word, shift), bit of the source, bit of the
# result.
SHIFT_COST, REPEAT_COST, TEST_COST = 2.0, 4.0, 3.5
# A gather bit by bit: what one bit costs, in machine operations. More than this a bit and words are not worth it.
BIT_COST = 4.0

Words = list[str]


def num_words(size: int) -> int:
    """The number of words that hold so many bits."""
    return -(-size // BITS)


def fits(size: int) -> bool:
    """Whether an array of booleans is held in words: it has several elements and is not too large."""
    return 1 < size <= MOST_WORDS * BITS


def literal(word: int) -> str:
    """The source text of a word in emitted code."""
    return f"u64({word})" if word < 10 else f"u64(0x{word:X})"


def full(size: int) -> list[int]:
    """Words with the bits of an array of that size set."""
    return [(1 << min(BITS, size - BITS * k)) - 1 for k in range(num_words(size))]


def packed(array: np.ndarray) -> list[int]:
    """The words of constant booleans."""
    flat = np.zeros(num_words(array.size) * BITS, np.uint8)
    flat[: array.size] = array.reshape(-1)
    return [int(word) for word in np.packbits(flat, bitorder="little").view("<u8")]


class Part(NamedTuple):
    """Bits that come from one array."""

    source: Bits
    origins: np.ndarray  # [K, size] int32: the bits of the source that are or-ed into each bit; -1: none


class Bits(Value):
    """A boolean array in words.

    Either `compute` gives an expression for each word, or the array is a rearrangement: each bit is the or of some
    bits of other arrays (`parts`), or 1 (`ones`). Rearrangements of rearrangements are one rearrangement, so that a
    pad, a slice and a mask become one shift. Code for a word is emitted when the word is first read, once, at the place
    where the array was defined.
    """

    def __init__(
        self,
        emit: Emitter,
        shape: tuple[int, ...],
        compute: Callable[[], Words] | None = None,
        *,
        parts: Sequence[Part] = (),
        ones: np.ndarray | None = None,
        element: Value | None = None,
        readers: int = 2,
    ) -> None:
        super().__init__(shape, BOOL, self._element, cost=2, plain=True)
        self.compute = compute
        self.parts = list(parts)
        self.ones = np.zeros(self.size, bool) if ones is None else ones.reshape(-1)
        self.element = element  # how to read one element without words, where that is cheap
        self.readers = readers
        self.gap: Gap = emit.gap()
        self.memory = ""  # a pointer to the words, if they have a place in memory
        self._words: Words | None = None
        if element is not None:
            self.cost = min(self.cost, element.cost)

    def read_by(self, element: Value) -> None:
        """Sets how single elements are read, unless the words are already emitted."""
        self.element, self.cost, self.plain = element, element.cost, element.plain
        self.splits, self.branchy = element.splits, element.branchy

    @property
    def rearranged(self) -> bool:
        """Whether this is a rearrangement of other arrays."""
        return self.compute is None

    @property
    def lone(self) -> bool:
        """Whether this is a rearrangement of one array, without constants and with one origin a bit."""
        if not self.rearranged or len(self.parts) != 1 or len(self.parts[0].origins) != 1:
            return False
        return bool((self.parts[0].origins >= 0).all())

    @property
    def distinct(self) -> bool:
        """Whether a rearrangement of one array takes no bit twice."""
        return self.lone and len(np.unique(self.parts[0].origins)) == self.size

    def where_it_lies(self, emit: Emitter) -> list[tuple[str, int, int]] | None:
        """(word, mask, possible bits) of the array that this one is taken from; none if it is already emitted."""
        if self._words is not None or not self.lone:
            return None
        source, origins = self.parts[0]
        wanted = np.zeros(source.size, bool)
        wanted[origins] = True
        triples = zip(source.words(emit), packed(wanted), full(source.size), strict=True)
        return [(word, mask, valid) for word, mask, valid in triples if mask]

    def as_parts(self) -> list[Part]:
        """The array as a rearrangement, if necessary of itself."""
        if self.rearranged:
            return self.parts
        return [Part(self, np.arange(self.size, dtype=np.int32)[None])]

    def words(self, emit: Emitter) -> Words:
        """A name, a number or a short expression for each word."""
        if self._words is None:
            with emit.filling(self.gap):
                texts = self.compute() if self.compute is not None else materialise(emit, self.parts, self.ones)
                self._words = [self._named(emit, text) for text in texts]
        return self._words

    def _named(self, emit: Emitter, text: str) -> str:
        if text.isidentifier() or (text.startswith("u64(") and bare(text[3:]).isalnum()):
            return text
        if self.rearranged and self.readers == 1 and len(text) <= INLINE:
            return text if text.startswith("(") else f"({text})"
        return emit.bind(text, self.hint, self.note)

    def _element(self, emit: Emitter, point: Point) -> str:
        if self._words is None and self.element is not None and self._reads_elements():
            return self.element.at(emit, point)
        flat = point.flat()
        if not flat.terms:
            return self._bit(emit, flat.constant)
        if num_words(self.size) > MOST_WORDS and not self.memory:
            return self._looked_up(emit, flat)
        if num_words(self.size) == 1:
            return f"((({self.words(emit)[0]} >> u64({flat})) & u64(1)) != u64(0))"
        place = emit.bind(str(flat), "k") if len(str(flat)) > 8 else str(flat)
        pointer = self.in_memory(emit)
        return f"((({pointer}[{place} >> 6] >> u64({place} & 63)) & u64(1)) != u64(0))"

    def _reads_elements(self) -> bool:
        """Whether reading an element without words is cheaper."""
        assert self.element is not None
        return self.rearranged or (self.element.cost <= 4 and not self.element.branchy)

    def _bit(self, emit: Emitter, k: int) -> str:
        """One bit at a constant place; read at its origin if this is a rearrangement that is not yet emitted."""
        if self._words is None and self.rearranged:
            if self.ones[k]:
                return "True"
            found = [(part.source, int(origin)) for part in self.parts for origin in part.origins[:, k] if origin >= 0]
            if not found:
                return "False"
            if len(found) <= 2:
                return "(" + " | ".join(source._bit(emit, origin) for source, origin in found) + ")"
        word = self.words(emit)[k // BITS]
        return f"(({word} & {literal(1 << (k % BITS))}) != u64(0))"

    def _looked_up(self, emit: Emitter, flat: Index) -> str:
        """A bit of a rearrangement that is too large for words, through a table of origins."""
        terms = []
        if self.ones.any():
            terms.append(f"({emit.table(self.ones.astype(np.uint8), 'ones')}[{flat}] != 0)")
        for part in self.parts:
            for row in part.origins:
                if (row < 0).all():
                    continue
                name = emit.bind(f"i64({emit.table(row.astype(np.int32), 'origins')}[{flat}])", "k")
                words = part.source.words(emit)
                if len(words) == 1:
                    bit = f"((({words[0]} >> u64({name} & 63)) & u64(1)) != u64(0))"
                else:
                    pointer = part.source.in_memory(emit)
                    bit = f"((({pointer}[{name} >> 6] >> u64({name} & 63)) & u64(1)) != u64(0))"
                terms.append(f"({name} >= 0 and {bit})" if (row < 0).any() else bit)
        return f"({' or '.join(terms)})" if terms else "False"

    def in_memory(self, emit: Emitter) -> str:
        """A pointer to the words."""
        if not self.memory:
            words = self.words(emit)
            self.memory = emit.slot((len(words),), np.dtype(np.uint64), f"{self.hint or 'bits'}_words").pointer
            with emit.filling(self.gap):
                for k, word in enumerate(words):
                    emit.line(f"{self.memory}[{k}] = {bare(word)}")
        return self.memory


def bits_of(emit: Emitter, value: Value) -> Bits:
    """Any boolean value, converted to words."""
    if isinstance(value, Bits):
        return value
    if isinstance(value.packed, Bits):
        return value.packed
    if isinstance(value, Table):
        return Bits(emit, value.shape, parts=[], ones=value.array)
    form = Bits(emit, value.shape, element=value)
    form.compute = lambda: pack(emit, value)
    form.hint, form.note = value.hint, value.note
    return form


def pack(emit: Emitter, value: Value) -> Words:
    """Packs a value that is given element by element into words."""
    if value.size == 1:
        return [f"u64({bare(value.at(emit, first(value.shape)))})"]
    if value.uniform is not None:
        flag = value.uniform.at(emit, first(value.uniform.shape))
        return [f"where({bare(flag)}, {literal(word)}, u64(0))" for word in full(value.size)]
    memory: Buffer
    if isinstance(value, Buffer):
        memory = value
    elif value.size <= 16:
        terms = []
        for k in range(value.size):
            element = bare(value.at(emit, Point(value.shape, flat=Index(k))))
            terms.append(f"(u64({element}) << u64({k}))" if k else f"u64({element})")
        return any_of(emit, terms, value.hint)
    else:
        memory = emit.slot(value.shape, BOOL, value.hint or "flags")
        emit.fill(memory, value)
    return [
        f"ne_bits({memory.pointer}, {BITS * k}, {min(BITS, value.size - BITS * k)}, u8(0))"
        for k in range(num_words(value.size))
    ]


def any_of(emit: Emitter, terms: list[str], hint: str = "") -> Words:
    """One word: the or of all terms."""
    if len(terms) <= FEW_TERMS:
        return [f"({' | '.join(terms)})" if len(terms) > 1 else terms[0]]
    name = emit.bind(terms[0], hint)
    for start in range(1, len(terms), FEW_TERMS):
        emit.line(f"{name} |= {' | '.join(terms[start : start + FEW_TERMS])}")
    return [name]


def moved(emit: Emitter, operands: Sequence[Bits], shape: tuple[int, ...], ids: np.ndarray, readers: int = 2) -> Bits:
    """A rearrangement.

    Args:
      ids: for each element its place in the operands laid end to end; -1: False, -2: True.
    """
    flat = ids.reshape(-1)
    ones = flat == -2
    parts: list[Part] = []
    start = 0
    for operand in operands:
        if operand.size == 0:  # nothing comes from it, as where an empty array is padded
            continue
        inside = (flat >= start) & (flat < start + operand.size)
        places = np.where(inside, flat - start, 0)
        if operand.rearranged:
            ones = ones | (inside & operand.ones[places])
        for part in operand.as_parts():
            origins = np.where(inside[None], part.origins[:, places], -1)
            parts.append(Part(part.source, origins))
        start += operand.size
    return Bits(emit, shape, parts=_merged(parts), ones=ones, readers=readers)


def masked(emit: Emitter, x: Bits, mask: np.ndarray, readers: int = 2) -> Bits:
    """A rearrangement without the bits that a constant excludes."""
    flat = mask.reshape(-1)
    parts = [Part(part.source, np.where(flat[None], part.origins, -1)) for part in x.as_parts()]
    ones = x.ones & flat if x.rearranged else None
    return Bits(emit, x.shape, parts=_merged(parts), ones=ones, readers=readers)


def any_over(emit: Emitter, x: Bits, axes: tuple[int, ...], readers: int = 2) -> Bits:
    """The or over some axes."""
    kept = [a for a in range(len(x.shape)) if a not in axes]
    order = (*axes, *kept)
    shape = tuple(x.shape[a] for a in kept)
    count = size_of(tuple(x.shape[a] for a in axes))
    places = np.arange(x.size).reshape(x.shape).transpose(order).reshape(count, -1)
    parts = []
    for part in x.as_parts():
        parts.append(Part(part.source, part.origins[:, places].reshape(-1, places.shape[1])))
    ones = np.asarray(x.ones[places].any(0)) if x.rearranged else None
    return Bits(emit, shape, parts=_merged(parts), ones=ones, readers=readers)


def _merged(parts: list[Part]) -> list[Part]:
    """Merges parts of the same array, and drops unused origins."""
    by_source: dict[int, list[Part]] = {}
    for part in parts:
        by_source.setdefault(id(part.source), []).append(part)
    result = []
    for same in by_source.values():
        origins = np.concatenate([part.origins for part in same])
        # The k-th origin of each bit in row k: what is absent goes last.
        if len(origins) > 1:
            origins = -np.sort(-origins, axis=0)
            repeated = np.zeros_like(origins, bool)
            repeated[1:] = (origins[1:] == origins[:-1]) & (origins[1:] >= 0)
            if repeated.any():
                origins = -np.sort(-np.where(repeated, -1, origins), axis=0)
        origins = origins[(origins >= 0).any(1)]
        if len(origins):
            result.append(Part(same[0].source, origins))
    return result


def materialise(emit: Emitter, parts: Sequence[Part], ones: np.ndarray) -> Words:
    """The words of a rearrangement, each computed in the cheapest way."""
    constant = packed(ones)
    result: Words = []
    for k, size in ((k, min(BITS, len(ones) - BITS * k)) for k in range(len(constant))):
        terms = [literal(constant[k])] if constant[k] else []
        covered = ones[BITS * k : BITS * k + size]
        for part in parts:
            origins = part.origins[:, BITS * k : BITS * k + size]
            row, bit = np.nonzero((origins >= 0) & ~covered[None])
            if not len(bit):
                continue
            from_bit = origins[row, bit]
            words = part.source.words(emit)
            valid = full(part.source.size)
            for number in np.unique(from_bit // BITS):
                chosen = from_bit // BITS == number
                terms += _terms(words[number], valid[number], bit[chosen], from_bit[chosen] % BITS)
        result += any_of(emit, terms) if terms else ["u64(0)"]
    return result


def way_costs(bit: np.ndarray, origin: np.ndarray) -> tuple[float, float, float]:
    """The costs of moving bits from one word to another: by shifts, by repeating bits, by testing each bit."""
    return (
        SHIFT_COST * len(np.unique(origin - bit)),
        REPEAT_COST * len(np.unique(origin)),
        TEST_COST * len(np.unique(bit)),
    )


def _terms(word: str, valid: int, bit: np.ndarray, origin: np.ndarray) -> list[str]:
    costs = way_costs(bit, origin)
    if costs[0] == min(costs):
        return [_shifted(word, valid, int(d), bit[origin - bit == d]) for d in np.unique(origin - bit)]
    if costs[1] == min(costs):
        terms = []
        for place in np.unique(origin):
            target = _mask(bit[origin == place])
            terms.append(f"where(({word} & {literal(1 << int(place))}) != u64(0), {literal(target)}, u64(0))")
        return terms
    terms = []
    for place in np.unique(bit):
        test = f"u64(({word} & {literal(_mask(origin[bit == place]))}) != u64(0))"
        terms.append(f"({test} << u64({place}))" if place else test)
    return terms


def _mask(bits: np.ndarray) -> int:
    return sum(1 << int(b) for b in np.unique(bits))


def _shifted(word: str, valid: int, delta: int, bit: np.ndarray) -> str:
    """Bits shifted down by `delta`, and masked where the shift would bring others along."""
    shifted = valid >> delta if delta >= 0 else (valid << -delta) & (2**BITS - 1)
    text = word
    if delta:
        text = f"({word} {'>>' if delta > 0 else '<<'} u64({abs(delta)}))"
    wanted = _mask(bit)
    return text if shifted & ~wanted == 0 else f"({text} & {literal(wanted)})"


def move_cost(x: Bits) -> float:
    """About how many machine operations the words of a rearrangement take."""
    if not x.rearranged:
        return 0.0
    total = 0.0
    for part in x.parts:
        row, bit = np.nonzero(part.origins >= 0)
        origin = part.origins[row, bit]
        pair = (bit // BITS) * num_words(part.source.size) + origin // BITS
        for number in np.unique(pair):
            chosen = pair == number
            total += min(way_costs(bit[chosen] % BITS, origin[chosen] % BITS))
    return total
