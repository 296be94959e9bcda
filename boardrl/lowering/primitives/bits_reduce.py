"""Reductions of booleans in words: tests, counts, the first bit."""

from __future__ import annotations

import numpy as np

from boardrl.lowering.bits import (
    BITS,
    BOOL,
    MOST_MOVED,
    MOST_WORDS,
    Bits,
    Words,
    any_over,
    bits_of,
    fits,
    full,
    literal,
    num_words,
    packed,
)
from boardrl.lowering.emit import Emitter
from boardrl.lowering.index import size_of
from boardrl.lowering.ir import Equation
from boardrl.lowering.values import SHORT, Buffer, Point, Value, bare
from boardrl.lowering.word_forms import computed, in_words, readers
from boardrl.lowering.writer import RULES, Writer, word_rule


@word_rule("reduce_or", "reduce_and", "reduce_max", "reduce_min")
def _reduce(writer: Writer, eqn: Equation, x: Value) -> list[Value] | None:
    axes, out, emit = tuple(eqn.params["axes"]), eqn.outs[0], writer.emit
    form: Bits
    if x.dtype == BOOL and in_words(x):
        form = bits_of(emit, x)
    elif (
        x.dtype != BOOL and isinstance(x.packed, Bits) and size_of(out.shape) == 1
    ):  # of booleans that were converted to numbers
        form = x.packed
    else:
        return None
    if x.size > MOST_MOVED:
        return None
    ors = eqn.name in ("reduce_or", "reduce_max")
    if size_of(out.shape) == 1:
        if x.size > MOST_WORDS * BITS:
            return None

        def test(emit: Emitter) -> str:
            masks_of = form.where_it_lies(emit)
            if masks_of is None:
                masks_of = list(zip(form.words(emit), full(form.size), full(form.size), strict=True))
            if ors:
                terms = [word if mask == valid else f"({word} & {literal(mask)})" for word, mask, valid in masks_of]
                return f"({bare(terms[0]) if len(terms) == 1 else '(' + ' | '.join(terms) + ')'} != u64(0))"
            tests = [
                f"({word if mask == valid else f'({word} & {literal(mask)})'} == {literal(mask)})"
                for word, mask, valid in masks_of
            ]
            return f"({' & '.join(tests)})" if len(tests) > 1 else tests[0]

        def read(emit: Emitter, point: Point) -> str:
            return test(emit) if out.dtype == BOOL else f"{SHORT[str(out.dtype)]}{test(emit)}"

        return [Value(out.shape, out.dtype, read, cost=2)]
    if not fits(size_of(out.shape)):
        return None
    if ors:
        return [any_over(emit, form, axes, readers(writer, eqn))]
    inner = any_over(emit, _negated(emit, form), axes, 1)

    def compute() -> Words:
        return [f"({word} ^ {literal(one)})" for word, one in zip(inner.words(emit), full(inner.size), strict=True)]

    return [computed(writer, eqn, compute)]


def _negated(emit: Emitter, x: Bits) -> Bits:
    """Negation; of a simple rearrangement, the rearrangement of the negated source."""
    # A slice that lies in the padding has no parts.
    simple = x.rearranged and x.parts and sum((part.origins >= 0).sum(0) for part in x.parts).max(initial=0) <= 1
    if not simple:
        return Bits(emit, x.shape, lambda: [
            f"({word} ^ {literal(one)})" for word, one in zip(x.words(emit), full(x.size), strict=True)
        ], readers=1)  # fmt: skip
    covered = x.ones.copy()
    parts = []
    for part in x.parts:
        parts.append(part._replace(source=_negated_source(emit, part.source)))
        covered |= (part.origins >= 0).any(0)
    for place, part in enumerate(parts):  # a bit that is 1 and comes from somewhere too is 1
        parts[place] = part._replace(origins=np.where(x.ones[None], -1, part.origins))
    return Bits(emit, x.shape, parts=parts, ones=~covered, readers=1)


def _negated_source(emit: Emitter, source: Bits) -> Bits:
    return Bits(emit, source.shape, lambda: [
        f"({word} ^ {literal(one)})" for word, one in zip(source.words(emit), full(source.size), strict=True)
    ])  # fmt: skip


@word_rule("convert_element_type")
def _convert(writer: Writer, eqn: Equation, x: Value) -> list[Value] | None:
    """Conversion of booleans to numbers; the words are kept for sums, which count bits."""
    if x.dtype != BOOL or eqn.outs[0].dtype == BOOL or x.size < 2 or not in_words(x):
        return None
    (value,) = RULES[eqn.name](writer, eqn, x)
    value.packed = bits_of(writer.emit, x)
    return [value]


@word_rule("reduce_sum")
def _sum(writer: Writer, eqn: Equation, x: Value) -> list[Value] | None:
    """How many bits are set."""
    form, out = x.packed, eqn.outs[0]
    if not isinstance(form, Bits) or out.dtype.kind not in "iuf" or num_words(x.size) > MOST_WORDS:
        return None
    if size_of(out.shape) > 1 and isinstance(x, Buffer):
        return None
    axes = tuple(eqn.params["axes"])
    kept = [a for a in range(len(x.shape)) if a not in axes]
    order = np.arange(x.size).reshape(x.shape).transpose(*kept, *axes).reshape(size_of(out.shape), -1)
    chosen = np.zeros((len(order), x.size), bool)
    np.put_along_axis(chosen, order, True, 1)
    masks = np.array([packed(row) for row in chosen], np.uint64)  # [size of the result, words]
    short = SHORT[str(out.dtype)]

    def read(emit: Emitter, point: Point) -> str:
        flat, terms = point.flat(), []
        lies = form.where_it_lies(emit) if len(masks) == 1 else None
        if lies is not None and form.distinct:
            terms = [f"popcount({bare(w) if mask == valid else f'{w} & {literal(mask)}'})" for w, mask, valid in lies]
            return f"{short}({' + '.join(terms)})"
        words = form.words(emit)
        for w, word in enumerate(words):
            if not flat.terms:
                mask = int(masks[flat.constant, w])
                if mask:
                    whole = mask == full(form.size)[w]
                    terms.append(f"popcount({bare(word)})" if whole else f"popcount({word} & {literal(mask)})")
            else:
                table = emit.table(masks[:, w].copy(), "masks")
                terms.append(f"popcount({word} & {table}[{flat}])")
        return f"{short}({' + '.join(terms) if terms else 'u64(0)'})"

    return [Value(out.shape, out.dtype, read, cost=2 * num_words(x.size) + 1, plain=True)]


@word_rule("argmax", "argmin")
def _arg(writer: Writer, eqn: Equation, x: Value) -> list[Value] | None:
    """The first bit that is set, or not set; 0 if there is none."""
    out = eqn.outs[0]
    if x.dtype != BOOL or not in_words(x) or not fits(x.size) or len(x.shape) != 1:
        return None
    emit, form = writer.emit, bits_of(writer.emit, x)

    def read(emit: Emitter, point: Point) -> str:
        words = form.words(emit)
        if eqn.name == "argmin":
            words = [f"({word} ^ {literal(one)})" for word, one in zip(words, full(form.size), strict=True)]
        place = "i64(0)"
        for k in range(len(words) - 1, -1, -1):
            name = emit.bind(bare(words[k]), "word")
            place = emit.bind(f"where({name} != u64(0), i64(cttz({name})) + {BITS * k}, {place})", "place")
        return f"{SHORT[str(out.dtype)]}({place})"

    del emit
    return [Value(out.shape, out.dtype, read, cost=4)]
