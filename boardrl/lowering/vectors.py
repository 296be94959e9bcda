"""Machine operations on vectors of floats that emitted code calls: sums of rows of a matrix, and exponentials.

Like those of `intrinsics.py` they are written into the caller. LLVM turns a loop into vector code only where it can
show that what is written is not read again, which it cannot for rows at places known only at run time: so the vectors
are spelled out here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

WIDE = 512  # bits of a vector; where the machine has shorter ones, LLVM takes several
CHAINS = 8  # vectors that are summed at the same time: one has to wait for the sum before, others need not
COLUMNS = 128  # float32 columns of a matrix that are summed at the same time
WORD = ir.IntType(64)
LANE = ir.IntType(32)
Body = Callable[[Any, list[Any]], list[Any]]  # (k, sums so far) -> sums


def widths(lanes: int, count: int) -> list[int]:
    """Lengths of the vectors that `count` elements are taken in, each a power of two."""
    result = [lanes] * (count // lanes)
    rest = count % lanes
    while rest:
        result.append(1 << rest.bit_length() - 1)
        rest -= result[-1]
    return result


def _fused(builder: Any, a: Any, b: Any, c: Any) -> Any:
    """a · b + c on vectors of floats, rounded once where the machine can."""
    bits = 32 if isinstance(a.type.element, ir.FloatType) else 64
    kind = ir.FunctionType(a.type, [a.type] * 3)
    name = f"llvm.fmuladd.v{a.type.count}f{bits}"
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [a, b, c])


def _spread(builder: Any, number: Any, width: int) -> Any:
    """A vector of one number."""
    vector = ir.VectorType(number.type, width)
    nothing = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(nothing, number, ir.Constant(LANE, 0))
    return builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(LANE, width), [0] * width))


def _load(builder: Any, pointer: Any, width: int) -> Any:
    vector = ir.VectorType(pointer.type.pointee, width)
    loaded = builder.load(builder.bitcast(pointer, vector.as_pointer()))
    loaded.align = 4
    return loaded


def _loop(builder: Any, begin: Any, end: Any, step: int, sums: list[Any], body: Body) -> list[Any]:
    """Running sums after `for k in range(begin, end, step): sums = body(k, sums)`, held in registers."""
    before = builder.block
    head, inside, after = (builder.append_basic_block(f"rows.{name}") for name in ("head", "body", "after"))
    builder.branch(head)
    builder.position_at_end(head)
    k = builder.phi(WORD)
    k.add_incoming(begin, before)
    carried = [builder.phi(total.type) for total in sums]
    for phi, total in zip(carried, sums, strict=True):
        phi.add_incoming(total, before)
    builder.cbranch(builder.icmp_signed("<", k, end), inside, after)
    builder.position_at_end(inside)
    new = body(k, carried)
    k.add_incoming(builder.add(k, ir.Constant(WORD, step)), builder.block)
    for phi, total in zip(carried, new, strict=True):
        phi.add_incoming(total, builder.block)
    builder.branch(head)
    builder.position_at_end(after)
    return carried


def _joined(builder: Any, sums: list[Any], number: int) -> list[Any]:
    """`number` sums of what several chains have summed, pair by pair; chains are a power of two."""
    while len(sums) > number:
        half = len(sums) // 2
        sums = [builder.fadd(a, b) for a, b in zip(sums[:half], sums[half:], strict=True)]
    return sums


def _store(builder: Any, vector: Any, place: Any) -> None:
    stored = builder.store(vector, builder.bitcast(place, vector.type.as_pointer()))
    stored.align = 4


def _chains(vectors: int) -> int:
    """How many rows are added at a time: a power of two."""
    return 1 << max(1, CHAINS // vectors).bit_length() - 1


def _add_rows(
    builder: Any, out: Any, table: Any, places: Any, factors: Any, number: Any, start: Any, columns: Any, count: int
) -> None:
    """Writes the sum over rows places[k], or k without places, for `count` columns from `start` on."""
    element = table.type.pointee
    parts = widths(WIDE // (32 if isinstance(element, ir.FloatType) else 64), count)
    offsets = [ir.Constant(WORD, sum(parts[:k])) for k in range(len(parts))]
    chains = _chains(len(parts))

    def add(k: Any, sums: list[Any]) -> list[Any]:
        factor = builder.load(builder.gep(factors, [k]))
        place = builder.sext(builder.load(builder.gep(places, [k])), WORD) if places is not None else k
        row = builder.gep(table, [builder.add(builder.mul(place, columns), start)])
        return [
            _fused(builder, _load(builder, builder.gep(row, [offset]), width), _spread(builder, factor, width), total)
            for total, offset, width in zip(sums, offsets, parts, strict=True)
        ]

    def add_several(k: Any, sums: list[Any]) -> list[Any]:
        size = len(parts)
        return [
            total
            for chain in range(chains)
            for total in add(builder.add(k, ir.Constant(WORD, chain)), sums[chain * size : (chain + 1) * size])
        ]

    sums = [ir.Constant(ir.VectorType(element, width), None) for width in parts] * chains
    whole = builder.and_(number, ir.Constant(WORD, -chains))
    sums = _loop(builder, ir.Constant(WORD, 0), whole, chains, sums, add_several)
    sums = _joined(builder, sums, len(parts))
    sums = _loop(builder, whole, number, 1, sums, add) if chains > 1 else sums
    for total, offset in zip(sums, offsets, strict=True):
        _store(builder, total, builder.gep(out, [builder.add(start, offset)]))


def _add_narrow(builder: Any, out: Any, table: Any, factors: Any, depth: int, columns: int) -> None:
    """Writes the sum over all rows of a matrix so narrow that a vector holds several rows."""
    element = table.type.pointee
    lanes = WIDE // (32 if isinstance(element, ir.FloatType) else 64)
    group = lanes // columns
    vector = ir.VectorType(element, lanes)
    chains = _chains(1)
    while depth % (group * chains):
        chains //= 2
    repeat = ir.Constant(ir.VectorType(LANE, lanes), [k // columns for k in range(lanes)])

    def add(k: Any, sums: list[Any]) -> list[Any]:
        result = []
        for chain, total in enumerate(sums):
            row = builder.add(k, ir.Constant(WORD, chain * group))
            few = _load(builder, builder.gep(factors, [row]), group)
            factor = builder.shuffle_vector(few, ir.Constant(few.type, ir.Undefined), repeat)
            values = _load(builder, builder.gep(table, [builder.mul(row, ir.Constant(WORD, columns))]), lanes)
            result.append(_fused(builder, values, factor, total))
        return result

    begin, end = ir.Constant(WORD, 0), ir.Constant(WORD, depth)
    sums = _loop(builder, begin, end, group * chains, [ir.Constant(vector, None)] * chains, add)
    (total,) = _joined(builder, sums, 1)
    width = lanes
    while width > columns:  # rows of one vector are added to each other
        width //= 2
        nothing = ir.Constant(total.type, ir.Undefined)
        low, high = (
            builder.shuffle_vector(
                total, nothing, ir.Constant(ir.VectorType(LANE, width), list(range(first, first + width)))
            )
            for first in (0, width)
        )
        total = builder.fadd(low, high)
    _store(builder, total, out)


@intrinsic(prefer_literal=True)
def sum_rows(typing, out, table, places, factors, number, start, columns, count):
    """out[i] = Σ_k factors[k] · table[places[k], i], k < number, for `count` columns i from `start` on."""

    def generate(context, builder, signature, args):
        out, table, places, factors, number, start, width, _ = args
        stride = _number(columns, width)
        _add_rows(builder, out, table, places, factors, number, start, stride, count.literal_value)
        return context.get_dummy_value()

    return types.void(out, table, places, factors, types.int64, types.int64, columns, count), generate


@intrinsic(prefer_literal=True)
def add_to_rows(typing, vector, table, places, factors, number, start, columns, count):
    """table[places[k], i] += factors[k] · vector[i], k < number, for `count` columns i from `start` on."""
    parts = widths(WIDE // table.dtype.bitwidth, count.literal_value)

    def generate(context, builder, signature, args):
        vector, table, places, factors, number, start, width, _ = args
        stride = _number(columns, width)
        offsets = [builder.add(start, ir.Constant(WORD, sum(parts[:k]))) for k in range(len(parts))]
        kept = [
            _load(builder, builder.gep(vector, [offset]), size) for offset, size in zip(offsets, parts, strict=True)
        ]

        def add(k: Any, _: list[Any]) -> list[Any]:
            factor = builder.load(builder.gep(factors, [k]))
            place = builder.mul(builder.sext(builder.load(builder.gep(places, [k])), WORD), stride)
            for part, offset in zip(kept, offsets, strict=True):
                row = builder.gep(table, [builder.add(place, offset)])
                size = part.type.count
                _store(builder, _fused(builder, part, _spread(builder, factor, size), _load(builder, row, size)), row)
            return []

        _loop(builder, ir.Constant(WORD, 0), number, 1, [], add)
        return context.get_dummy_value()

    return types.void(vector, table, places, factors, types.int64, types.int64, columns, count), generate


def _number(kind: Any, value: Any) -> Any:
    """A number that may be known at compile time."""
    return ir.Constant(WORD, kind.literal_value) if isinstance(kind, types.IntegerLiteral) else value


@intrinsic(prefer_literal=True)
def dot_rows(typing, out, table, factors, depth, start, columns, count):
    """out[i] = Σ_k factors[k] · table[k, i], k < depth, for `count` columns i from `start` on."""
    rows, width, chosen = depth.literal_value, columns.literal_value, count.literal_value
    lanes = WIDE // out.dtype.bitwidth

    def generate(context, builder, signature, args):
        out, table, factors, _, start, _, _ = args
        if width == chosen < lanes and lanes % width == 0 and rows % (lanes // width) == 0:
            _add_narrow(builder, out, table, factors, rows, width)
        else:
            stride = ir.Constant(WORD, width)
            _add_rows(builder, out, table, None, factors, ir.Constant(WORD, rows), start, stride, chosen)
        return context.get_dummy_value()

    return types.void(out, table, factors, depth, types.int64, columns, count), generate


def _add_nonzero(
    builder: Any, out: Any, table: Any, factors: Any, depth: int, start: Any, columns: int, count: int
) -> None:
    """Writes the sum over the rows whose factor is not 0, two at a time, for `count` columns from `start` on.

    Comparisons of many factors at once make a word of bits: one branch for every two rows, none for those left out.
    """
    element = table.type.pointee
    parts = widths(WIDE // (32 if isinstance(element, ir.FloatType) else 64), count)
    offsets = [ir.Constant(WORD, sum(parts[:k])) for k in range(len(parts))]
    one, nothing = ir.Constant(WORD, 1), ir.Constant(WORD, 0)
    cttz = builder.module.declare_intrinsic("llvm.cttz", [WORD], ir.FunctionType(WORD, [WORD, ir.IntType(1)]))

    def add(k: Any, factor: Any, sums: list[Any]) -> list[Any]:
        row = builder.gep(table, [builder.add(builder.mul(k, ir.Constant(WORD, columns)), start)])
        return [
            _fused(builder, _load(builder, builder.gep(row, [offset]), width), _spread(builder, factor, width), total)
            for total, offset, width in zip(sums, offsets, parts, strict=True)
        ]

    sums = [ir.Constant(ir.VectorType(element, width), None) for width in parts] * 2
    first = 0
    for many in widths(WORD.width, depth):
        place = ir.Constant(WORD, first)
        few = _load(builder, builder.gep(factors, [place]), many)
        bits = builder.bitcast(builder.fcmp_unordered("!=", few, ir.Constant(few.type, None)), ir.IntType(many))
        word = bits if many == WORD.width else builder.zext(bits, WORD)

        def add_two(left: Any, sums: list[Any], place: Any = place) -> tuple[Any, list[Any]]:
            rest = builder.and_(left, builder.sub(left, one))
            is_last = builder.icmp_unsigned("==", rest, nothing)
            result = []
            for number, word in enumerate((left, builder.select(is_last, left, rest))):
                k = builder.add(builder.call(cttz, [word, ir.Constant(ir.IntType(1), 1)]), place)
                factor = builder.load(builder.gep(factors, [k]))
                if number:
                    factor = builder.select(is_last, ir.Constant(element, 0.0), factor)
                result += add(k, factor, sums[number * len(parts) : (number + 1) * len(parts)])
            return builder.and_(rest, builder.sub(rest, one)), result

        sums = _loop_over_bits(builder, word, sums, add_two)
        first += many
    for total, offset in zip(_joined(builder, sums, len(parts)), offsets, strict=True):
        _store(builder, total, builder.gep(out, [builder.add(start, offset)]))


def _loop_over_bits(builder: Any, word: Any, sums: list[Any], body: Any) -> list[Any]:
    """Running sums after `while word: word, sums = body(word, sums)`, held in registers."""
    before = builder.block
    head, inside, after = (builder.append_basic_block(f"bits.{name}") for name in ("head", "body", "after"))
    builder.branch(head)
    builder.position_at_end(head)
    left, *carried = [builder.phi(value.type) for value in (word, *sums)]
    for phi, value in zip((left, *carried), (word, *sums), strict=True):
        phi.add_incoming(value, before)
    builder.cbranch(builder.icmp_unsigned("!=", left, ir.Constant(WORD, 0)), inside, after)
    builder.position_at_end(inside)
    rest, new = body(left, carried)
    for phi, value in zip((left, *carried), (rest, *new), strict=True):
        phi.add_incoming(value, builder.block)
    builder.branch(head)
    builder.position_at_end(after)
    return carried


@intrinsic(prefer_literal=True)
def dot_nonzero_rows(typing, out, table, factors, depth, start, columns, count):
    """`dot_rows` where about half of the factors are 0, whose rows are left out."""
    rows, width, chosen = depth.literal_value, columns.literal_value, count.literal_value

    def generate(context, builder, signature, args):
        out, table, factors, _, start, _, _ = args
        _add_nonzero(builder, out, table, factors, rows, start, width, chosen)
        return context.get_dummy_value()

    return types.void(out, table, factors, depth, types.int64, columns, count), generate


# Exponentials of float32: no call and no branch, so that loops over them become vector code.

FLOAT = ir.FloatType()
LN2_HIGH = round(math.log(2) * 512) / 512  # few bits, so that multiples of it are exact
LN2_LOW = math.log(2) - LN2_HIGH
ROUNDER = 1.5 * 2**23  # added to a small number it leaves the nearest integer in the lowest bits
LEAST, MOST = -104.0, 89.0  # beyond these the result is 0 or infinite
SERIES = [1 / math.factorial(k) for k in range(7, -1, -1)]  # of exp; the next term is below 6e-9 for |r| ≤ ln 2 / 2
SMALL = 0.25  # up to here tanh is its series: the next term is below 1e-8
TANH_SERIES = [62 / 2835, -17 / 315, 2 / 15, -1 / 3, 1.0]


class Floats:
    """Arithmetic on a float32 or on a vector of them."""

    def __init__(self, builder: Any, kind: Any) -> None:
        self.builder, self.kind = builder, kind
        self.count = kind.count if isinstance(kind, ir.VectorType) else 0
        self.ints = ir.VectorType(LANE, self.count) if self.count else LANE

    def number(self, value: float) -> Any:
        constant = float(np.float32(value))
        return ir.Constant(self.kind, [constant] * self.count if self.count else constant)

    def whole(self, value: int) -> Any:
        return ir.Constant(self.ints, [value] * self.count if self.count else value)

    def call(self, name: str, *args: Any) -> Any:
        """An LLVM intrinsic on operands of the one type."""
        suffix = f"v{self.count}f32" if self.count else "f32"
        function = ir.FunctionType(self.kind, [self.kind] * len(args))
        declared = cgutils.get_or_insert_function(self.builder.module, function, f"{name}.{suffix}")
        return self.builder.call(declared, args)

    def fused(self, a: Any, b: Any, c: Any) -> Any:
        return self.call("llvm.fmuladd", a, b, c)

    def polynomial(self, x: Any, coefficients: list[float]) -> Any:
        """By Horner's rule, the highest power first."""
        result = self.number(coefficients[0])
        for coefficient in coefficients[1:]:
            result = self.fused(result, x, self.number(coefficient))
        return result

    def exp(self, x: Any) -> Any:
        """exp(x) = 2^n · exp(r) with x = n ln 2 + r, |r| ≤ ln 2 / 2."""
        builder, least, most = self.builder, self.number(LEAST), self.number(MOST)
        inside = builder.select(builder.fcmp_ordered("<", x, least), least, x)
        inside = builder.select(builder.fcmp_ordered(">", inside, most), most, inside)
        shifted = self.fused(inside, self.number(1 / math.log(2)), self.number(ROUNDER))
        whole = builder.fsub(shifted, self.number(ROUNDER))
        rest = self.fused(whole, self.number(-LN2_HIGH), inside)
        rest = self.fused(whole, self.number(-LN2_LOW), rest)
        result = self.polynomial(rest, SERIES)
        power = builder.sub(builder.bitcast(shifted, self.ints), self.whole(int(np.float32(ROUNDER).view(np.int32))))
        half = builder.ashr(power, self.whole(1))
        for part in (half, builder.sub(power, half)):  # 2^n itself may be beyond what a float holds
            bits = builder.shl(builder.add(part, self.whole(127)), self.whole(23))
            result = builder.fmul(result, builder.bitcast(bits, self.kind))
        return builder.select(builder.fcmp_unordered("uno", x, x), x, result)

    def tanh(self, x: Any) -> Any:
        """tanh(x) = (1 - e) / (1 + e) with e = exp(-2x) for x > 0; its series near 0."""
        builder, one = self.builder, self.number(1.0)
        size = self.call("llvm.fabs", x)
        power = self.exp(builder.fmul(size, self.number(-2.0)))
        far = self.call("llvm.copysign", builder.fdiv(builder.fsub(one, power), builder.fadd(one, power)), x)
        near = builder.fmul(x, self.polynomial(builder.fmul(x, x), TANH_SERIES))
        return builder.select(builder.fcmp_ordered("<", size, self.number(SMALL)), near, far)


def _scalar(name: str, doc: str) -> Any:
    def operation(typing, x):
        def generate(context, builder, signature, args):
            return getattr(Floats(builder, FLOAT), name)(args[0])

        return types.float32(types.float32), generate

    operation.__doc__ = doc
    return intrinsic(operation)


def _of_few(name: str, doc: str) -> Any:
    def operation(typing, out, numbers):
        count = len(numbers)

        def generate(context, builder, signature, args):
            vector = ir.VectorType(FLOAT, count)
            values = ir.Constant(vector, ir.Undefined)
            for k, number in enumerate(cgutils.unpack_tuple(builder, args[1], count)):
                values = builder.insert_element(values, number, ir.Constant(LANE, k))
            _store(builder, getattr(Floats(builder, vector), name)(values), args[0])
            return context.get_dummy_value()

        return types.void(out, types.UniTuple(types.float32, count)), generate

    operation.__doc__ = doc
    return intrinsic(operation)


exp32: Any = _scalar("exp", "exp of a float32, to 1 unit in the last place.")
tanh32: Any = _scalar("tanh", "tanh of a float32, to 3 units in the last place.")
exp_each: Any = _of_few("exp", "Writes exp of each of a few float32s to memory.")
tanh_each: Any = _of_few("tanh", "Writes tanh of each of a few float32s to memory.")
