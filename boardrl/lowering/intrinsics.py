"""Machine operations that emitted code calls, each with the exact meaning that JAX gives it on a CPU.

They are Numba intrinsics: written into the caller as a few LLVM instructions, so that no call is left and a
constant operand folds the special cases away. Operands of one operation have the same type.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

i8, i16, i32, i64 = np.int8, np.int16, np.int32, np.int64
u8, u16, u32, u64 = np.uint8, np.uint16, np.uint32, np.uint64
f32, f64 = np.float32, np.float64
inf, nan = float("inf"), float("nan")


@intrinsic
def pointer(typing, array, offset, dtype):
    """A typed pointer to a place, in bytes, in an array's memory: no bounds are checked behind it."""
    signature = types.CPointer(dtype.dtype)(array, offset, dtype)

    def generate(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        place = builder.gep(builder.bitcast(data, cgutils.voidptr_t), [args[1]])
        return builder.bitcast(place, context.get_value_type(signature.return_type))

    return signature, generate


@intrinsic
def apart(typing):
    """Tells LLVM that no two arguments of the function that calls this share memory, so that loops become vector code.

    Numba has no option for it. Nothing is done at run time.
    """

    def generate(context, builder, signature, args):
        for argument in builder.function.args:
            if isinstance(argument.type, ir.PointerType) and "noalias" not in argument.attributes:
                argument.add_attribute("noalias")
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def where(typing, condition, yes, no):
    """One of two values, both already computed: a select, not a branch."""
    _check_same(yes, no)

    def generate(context, builder, signature, args):
        return builder.select(*args)

    return types.unliteral(yes)(types.boolean, types.unliteral(yes), types.unliteral(no)), generate


def _check_same(a: Any, b: Any) -> None:
    if types.unliteral(a) != types.unliteral(b):
        raise TypeError(f"emitted code mixes {a} and {b}")


def _binary(build: Callable[[Any, Any, Any, Any, Any], Any], doc: str) -> Any:
    """An operation on two values of one type; `build` gets context, builder, type and both values."""

    def operation(typing, a, b):
        _check_same(a, b)
        kind = types.unliteral(a)

        def generate(context, builder, signature, args):
            return build(context, builder, kind, *args)

        return kind(kind, kind), generate

    operation.__doc__ = doc
    return operation


def _unary(build: Callable[[Any, Any, Any, Any], Any], doc: str) -> Any:
    def operation(typing, a):
        kind = types.unliteral(a)

        def generate(context, builder, signature, args):
            return build(context, builder, kind, *args)

        return kind(kind), generate

    operation.__doc__ = doc
    return operation


def _signed(kind: Any) -> bool:
    return isinstance(kind, types.Integer) and kind in types.signed_domain


def _width(value: Any) -> int:
    return value.type.width


def _guarded_divisor(builder: Any, kind: Any, a: Any, b: Any) -> tuple[Any, Any, Any]:
    """(divisor is 0, the quotient overflows, a divisor that is safe)."""
    zero = builder.icmp_unsigned("==", b, ir.Constant(b.type, 0))
    overflow = ir.Constant(ir.IntType(1), 0)
    if _signed(kind):
        least = ir.Constant(a.type, -(2 ** (_width(a) - 1)))
        overflow = builder.and_(
            builder.icmp_signed("==", a, least), builder.icmp_signed("==", b, ir.Constant(b.type, -1))
        )
    return zero, overflow, builder.select(builder.or_(zero, overflow), ir.Constant(b.type, 1), b)


def _div(context: Any, builder: Any, kind: Any, a: Any, b: Any) -> Any:
    zero, _, safe = _guarded_divisor(builder, kind, a, b)
    quotient = (builder.sdiv if _signed(kind) else builder.udiv)(a, safe)
    return builder.select(zero, ir.Constant(a.type, -1), quotient)  # least // -1 stays least, as a // 1


def _rem(context: Any, builder: Any, kind: Any, a: Any, b: Any) -> Any:
    if isinstance(kind, types.Float):
        return builder.frem(a, b)
    zero, overflow, safe = _guarded_divisor(builder, kind, a, b)
    rest = (builder.srem if _signed(kind) else builder.urem)(a, safe)
    return builder.select(zero, a, builder.select(overflow, ir.Constant(a.type, 0), rest))


def _shift(kind_of_shift: str) -> Callable[[Any, Any, Any, Any, Any], Any]:
    def build(context: Any, builder: Any, kind: Any, a: Any, b: Any) -> Any:
        width = ir.Constant(b.type, _width(a))
        fits = builder.icmp_unsigned("<", b, width)  # a negative amount is a huge one
        amount = builder.select(fits, b, ir.Constant(b.type, 0))
        shifted = {"left": builder.shl, "right": builder.lshr, "signed": builder.ashr}[kind_of_shift](a, amount)
        beyond = ir.Constant(a.type, 0)
        if kind_of_shift == "signed":
            beyond = builder.ashr(a, ir.Constant(a.type, _width(a) - 1))
        return builder.select(fits, shifted, beyond)

    return build


def _extreme_of_floats(builder: Any, sign: str, a: Any, b: Any) -> Any:
    """llvm.maximum or llvm.minimum, which x86 does not have: LLVM's way around takes three times as long as this.

    The machine's operation gives the second operand where both are 0 or either is NaN, so it is asked both ways. Where
    one operand is a constant LLVM knows better.
    """
    if any(map(_is_constant, (a, b))):
        name, kind = "llvm.maximum" if sign == ">" else "llvm.minimum", ir.FunctionType(a.type, [a.type, a.type])
        return builder.call(builder.module.declare_intrinsic(name, [a.type], kind), [a, b])
    bits = ir.IntType({"float": 32, "double": 64}[str(a.type)])
    both = [builder.select(builder.fcmp_ordered(sign, x, y), x, y) for x, y in ((a, b), (b, a))]
    joined = (builder.and_ if sign == ">" else builder.or_)(*(builder.bitcast(x, bits) for x in both))
    nan = builder.fcmp_unordered("uno", a, b)
    return builder.select(nan, builder.fadd(a, b), builder.bitcast(joined, a.type))


def _is_constant(value: Any) -> bool:
    """Whether a number is written in the source, perhaps negated and converted to its type."""
    if isinstance(value, ir.Constant):
        return True
    is_made = isinstance(value, ir.instructions.CastInstr) or getattr(value, "opname", "") == "fneg"
    return is_made and _is_constant(value.operands[0])


def _extreme(sign: str) -> Callable[[Any, Any, Any, Any, Any], Any]:
    """The larger (">") or the smaller ("<"); NaN if either is NaN, and -0.0 is less than 0.0."""

    def build(context: Any, builder: Any, kind: Any, a: Any, b: Any) -> Any:
        if isinstance(kind, types.Float):
            return _extreme_of_floats(builder, sign, a, b)
        compare = builder.icmp_signed if _signed(kind) else builder.icmp_unsigned
        return builder.select(compare(sign + "=", a, b), a, b)

    return build


def _call(name: str, *flags: int) -> Callable[[Any, Any, Any, Any], Any]:
    """An LLVM intrinsic of one operand; integer ones may take constant flags."""

    def build(context: Any, builder: Any, kind: Any, a: Any) -> Any:
        constants = [ir.Constant(ir.IntType(1), flag) for flag in flags]
        types_in = [a.type, *(c.type for c in constants)]
        function = builder.module.declare_intrinsic(f"llvm.{name}", [a.type], ir.FunctionType(a.type, types_in))
        return builder.call(function, [a, *constants])

    return build


def _absolute(context: Any, builder: Any, kind: Any, a: Any) -> Any:
    if isinstance(kind, types.Float):
        return _call("fabs")(context, builder, kind, a)
    if not _signed(kind):
        return a
    negative = builder.icmp_signed("<", a, ir.Constant(a.type, 0))
    return builder.select(negative, builder.sub(ir.Constant(a.type, 0), a), a)


div = intrinsic(_binary(_div, "a / b towards 0; all bits 1 where b is 0."))
rem = intrinsic(_binary(_rem, "What `div` leaves, with the sign of a; a itself where b is 0."))
shift_left = intrinsic(_binary(_shift("left"), "a << b; 0 where b is not below the width."))
shift_right_logical = intrinsic(_binary(_shift("right"), "a >> b with zeros; 0 where b is not below the width."))
shift_right_arithmetic = intrinsic(_binary(_shift("signed"), "a >> b with copies of the sign, however large b."))
maximum = intrinsic(_binary(_extreme(">"), "The larger; NaN if either is."))
minimum = intrinsic(_binary(_extreme("<"), "The smaller; NaN if either is."))
absolute = intrinsic(_unary(_absolute, "|a|; the least integer stays as it is."))
floor = intrinsic(_unary(_call("floor"), "Down to a whole number, as a float."))
ceil = intrinsic(_unary(_call("ceil"), "Up to a whole number, as a float."))
round_away = intrinsic(_unary(_call("round"), "To the nearest, halves away from 0."))
round_even = intrinsic(_unary(_call("rint"), "To the nearest, halves to even."))
sqrt = intrinsic(_unary(_call("sqrt"), "Correctly rounded; NaN below 0."))
popcount = intrinsic(_unary(_call("ctpop"), "How many bits are 1."))
cttz = intrinsic(_unary(_call("cttz", 0), "How many zeros follow the last 1."))
clz = intrinsic(_unary(_call("ctlz", 0), "How many zeros stand before the first 1."))
negate = intrinsic(
    _unary(
        lambda context, builder, kind, a: (
            builder.fneg(a) if isinstance(kind, types.Float) else builder.sub(ir.Constant(a.type, 0), a)
        ),
        "-a; of a float only the sign bit changes.",
    )
)


@intrinsic
def to_int(typing, value, dtype):
    """Converts a float to an integer, towards 0; values out of range saturate, and NaN becomes 0."""
    kind = dtype.dtype

    def generate(context, builder, signature, args):
        source, target = args[0].type, ir.IntType(kind.bitwidth)
        suffix = {"float": "f32", "double": "f64"}[str(source)]
        name = f"llvm.fpto{'s' if kind.signed else 'u'}i.sat.i{kind.bitwidth}.{suffix}"
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(target, [source]), name)
        return builder.call(function, [args[0]])

    return kind(types.unliteral(value), dtype), generate


@intrinsic
def bitcast(typing, value, dtype):
    """The same bits as another type of the same width."""
    signature = dtype.dtype(types.unliteral(value), dtype)

    def generate(context, builder, signature, args):
        return builder.bitcast(args[0], context.get_value_type(signature.return_type))

    return signature, generate


@intrinsic
def one_bit(typing, place):
    """A word with only the bit at that place set; 0 if the place is out of range."""

    def generate(context, builder, signature, args):
        word = ir.IntType(64)
        fits = builder.icmp_unsigned("<", args[0], ir.Constant(word, 64))
        shifted = builder.shl(ir.Constant(word, 1), builder.and_(args[0], ir.Constant(word, 63)))
        return builder.select(fits, shifted, ir.Constant(word, 0))

    return types.uint64(types.int64), generate


def _compare_bits(symbol: str) -> Any:
    """A word whose bit k is the comparison of element start + k with a number, for `count` elements behind a pointer.

    Vectors of elements are compared at once, and the results are taken as bits.
    """

    def operation(typing, memory, start, count, value):
        kind = memory.dtype
        # The literals stay in the signature, or one function would serve for all of them.
        first, number = start.literal_value, count.literal_value

        def generate(context, builder, signature, args):
            word, element = ir.IntType(64), context.get_value_type(kind)
            result = ir.Constant(word, 0)
            compare = builder.icmp_signed if kind.signed else builder.icmp_unsigned
            done = 0
            while done < number:
                width = min(1 << (number - done).bit_length() - 1, 512 // kind.bitwidth)
                place = builder.gep(args[0], [ir.Constant(word, first + done)])
                vector = ir.VectorType(element, width)
                loaded = builder.load(builder.bitcast(place, vector.as_pointer()))
                loaded.align = kind.bitwidth // 8
                nothing, zero = ir.Constant(vector, ir.Undefined), ir.IntType(32)
                spread = builder.insert_element(nothing, args[3], ir.Constant(zero, 0))
                spread = builder.shuffle_vector(spread, nothing, ir.Constant(ir.VectorType(zero, width), [0] * width))
                flags = builder.bitcast(compare(symbol, loaded, spread), ir.IntType(width))
                flags = builder.zext(flags, word) if width < 64 else flags
                result = builder.or_(result, builder.shl(flags, ir.Constant(word, done)))
                done += width
            return result

        return types.uint64(memory, start, count, kind), generate

    operation.__doc__ = _compare_bits.__doc__
    return intrinsic(prefer_literal=True)(operation)


eq_bits, ne_bits = _compare_bits("=="), _compare_bits("!=")
lt_bits, le_bits = _compare_bits("<"), _compare_bits("<=")
gt_bits, ge_bits = _compare_bits(">"), _compare_bits(">=")


@njit(inline="always")
def without_negative_zeros(word, low_zero, high_zero):
    """A word of a row in which -0.0 has become 0.0.

    `low_zero` and `high_zero` are the bits of -0.0 in either half, or 0 where no float lies; a low one of 1 says
    that the whole word is one float.
    """
    if low_zero == u64(1):
        return u64(0) if word == high_zero else word
    if low_zero != u64(0) and word & u64(0xFFFFFFFF) == low_zero:
        word ^= low_zero
    if high_zero != u64(0) and word & u64(0xFFFFFFFF00000000) == high_zero:
        word ^= high_zero
    return word


def _sign(context: Any, builder: Any, kind: Any, a: Any) -> Any:
    """±1 with the sign of a; 0 and NaN stay as they are."""
    one = ir.Constant(a.type, 1.0)
    copied = builder.module.declare_intrinsic("llvm.copysign", [a.type], ir.FunctionType(a.type, [a.type, a.type]))
    moves = builder.fcmp_ordered("!=", a, ir.Constant(a.type, 0.0))
    return builder.select(moves, builder.call(copied, [one, a]), a)


sign = intrinsic(_unary(_sign, "1.0 with the sign of a; 0 and NaN stay as they are."))


@intrinsic
def ordered(typing, value):
    """An integer that orders floats as their bits do: -0.0 below 0.0, NaN by its sign above or below all."""
    kind, width = (types.int32, 32) if types.unliteral(value) == types.float32 else (types.int64, 64)

    def generate(context, builder, signature, args):
        bits = builder.bitcast(args[0], ir.IntType(width))
        negative = builder.icmp_signed("<", bits, ir.Constant(bits.type, 0))
        flipped = builder.xor(bits, ir.Constant(bits.type, 2 ** (width - 1) - 1))
        return builder.select(negative, flipped, bits)

    return kind(types.unliteral(value)), generate
