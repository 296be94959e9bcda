"""Elementwise primitives: arithmetic, comparison, bits, selection and conversion."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from boardrl.lowering.emit import Emitter
from boardrl.lowering.index import Index
from boardrl.lowering.ir import Equation
from boardrl.lowering.passes import fuse
from boardrl.lowering.values import SHORT, Point, Table, Value, bare, first, literal, typed
from boardrl.lowering.writer import RULES, Writer, rule

# An operation gets the equation and its operands' expressions and gives the result's.
Operation = Callable[..., str]
EXPENSIVE = 12  # about what a call of the mathematics library costs, in simple operations
SLOW = 4  # divisions and roots
AT_ONCE = 8  # float32s that are one vector
IN_LINE = ("exp", "tanh")  # of float32, as vector code (`vectors.py`)


def narrow(text: str, dtype: np.dtype) -> str:
    """Wraps an integer result around, as Numba computes narrower integers in 64 bits."""
    if dtype.kind in "iu" and dtype.itemsize < 8:
        return f"{SHORT[str(dtype)]}({bare(text)})"
    return text


def elementwise(name: str, operation: Operation, cost: float = 1) -> None:
    """Enters an operation into the table of primitives."""

    def write(writer: Writer, eqn: Equation, *operands: Value) -> list[Value]:
        return [spread(eqn, operands, operation, cost)]

    fuse.SAME_PLACE.add(name)
    rule(name)(write)


def aligned(emit: Emitter, x: Value, point: Point) -> Point:
    """Where an operand is read for one element of the result; axes of length 1 are broadcast."""
    if x.shape == point.shape:
        return point
    if x.size == 1:
        return first(x.shape)
    dims = point.dims(emit)[len(point.shape) - len(x.shape) :]
    return Point(x.shape, dims=tuple(d if n > 1 else Index() for d, n in zip(dims, x.shape, strict=True)))


def spread(eqn: Equation, operands: tuple[Value, ...], operation: Operation, cost: float) -> Value:
    """The value whose every element is the operation on the operands' elements."""
    shape = eqn.outs[0].shape

    def read(emit: Emitter, point: Point) -> str:
        return operation(eqn, *(x.at(emit, aligned(emit, x, point)) for x in operands))

    splits: dict[int, tuple[int, ...]] = {}
    for x in operands:
        for axis, cuts in x.splits.items() if x.shape == shape else ():
            splits[axis] = tuple(sorted({*splits.get(axis, ()), *cuts}))
    return Value(
        shape,
        eqn.outs[0].dtype,
        read,
        cost=cost + sum(x.cost for x in operands),
        plain=all(x.size == 1 or (x.plain and x.shape == shape) for x in operands),
        splits=splits,
        branchy=any(x.branchy for x in operands),
    )


def _infix(sign: str) -> Operation:
    def operation(eqn: Equation, a: str, b: str) -> str:
        return narrow(f"({a} {sign} {b})", eqn.outs[0].dtype)

    return operation


def _compare(sign: str) -> Operation:
    def operation(eqn: Equation, a: str, b: str) -> str:
        if eqn.ins[0].dtype == np.bool_ and sign not in ("==", "!="):
            a, b = f"u8({a})", f"u8({b})"
        return f"({a} {sign} {b})"

    return operation


def _compare_bits(sign: str) -> Operation:
    """Comparison in a total order: -0.0 is below 0.0, NaN above or below all by its sign."""

    def operation(eqn: Equation, a: str, b: str) -> str:
        if eqn.ins[0].dtype.kind == "f":
            a, b = f"ordered({bare(a)})", f"ordered({bare(b)})"
        return _compare(sign)(eqn, a, b)

    return operation


def _function(name: str) -> Operation:
    """A call of an intrinsic on operands of the operands' own type."""

    def operation(eqn: Equation, *args: str) -> str:
        return f"{name}({', '.join(typed(bare(a), x.dtype) for a, x in zip(args, eqn.ins, strict=True))})"

    return operation


def _math(name: str) -> Operation:
    """A function of the mathematics library, for floats."""

    def operation(eqn: Equation, *args: str) -> str:
        if name in IN_LINE and eqn.outs[0].dtype == np.float32:
            return f"{name}32({bare(args[0])})"
        return f"{SHORT[str(eqn.outs[0].dtype)]}(math.{name}({', '.join(args)}))"

    return operation


@rule("div")
def _divide(writer: Writer, eqn: Equation, x: Value, y: Value) -> list[Value]:
    if eqn.outs[0].dtype.kind != "f":
        return [spread(eqn, (x, y), _function("div"), SLOW)]
    if isinstance(y, Table):  # XLA multiplies by the reciprocal of a constant, and so do we, to the last bit
        with np.errstate(all="ignore"):
            return [spread(eqn, (x, Table(np.ones((), y.dtype) / y.array)), _infix("*"), 1)]
    return [spread(eqn, (x, y), lambda eqn, a, b: f"({a} / {b})", SLOW)]


def _extreme(name: str, sign: str) -> Operation:
    def operation(eqn: Equation, a: str, b: str) -> str:
        return f"({a} {sign} {b})" if eqn.outs[0].dtype == np.bool_ else _function(name)(eqn, a, b)

    return operation


def _clamp(eqn: Equation, low: str, x: str, high: str) -> str:
    low, x, high = (typed(text, eqn.outs[0].dtype) for text in (low, x, high))
    return f"minimum(maximum({low}, {x}), {high})"


def _sign(eqn: Equation, a: str) -> str:
    dtype = eqn.outs[0].dtype
    short = SHORT[str(dtype)]
    return (
        f"sign({a})"
        if dtype.kind == "f"
        else f"{short}({short}({a} > {literal(0, dtype)}) - {short}({a} < {literal(0, dtype)}))"
    )


def _invert(eqn: Equation, a: str) -> str:
    dtype = eqn.outs[0].dtype
    if dtype == np.bool_:
        return f"(not {a})"
    return f"{SHORT[str(dtype)]}(~{typed(a, dtype)})"


def _round(eqn: Equation, a: str) -> str:
    return f"{'round_even' if int(eqn.params['rounding_method']) == 1 else 'round_away'}({a})"


def _integer_pow(eqn: Equation, a: str) -> str:
    """x^n by squaring, in the order of XLA; a negative power is the reciprocal of the positive one."""
    dtype, power = eqn.outs[0].dtype, int(eqn.params["y"])
    if power == 0:
        return typed(literal(1, dtype), dtype)
    text, square, rest = "", a, abs(power)
    while rest:
        if rest & 1:
            text = narrow(f"({text} * {square})", dtype) if text else square
        rest >>= 1
        if rest:
            square = narrow(f"({square} * {square})", dtype)
    return f"({literal(1, dtype)} / {text})" if power < 0 else text


def _write_integer_pow(writer: Writer, eqn: Equation, x: Value) -> list[Value]:
    # The operand appears many times in the product: give it a name.
    return [spread(eqn, (writer.named(x),), _integer_pow, 3)]


rule("integer_pow")(_write_integer_pow)


@rule("square")
def _square(writer: Writer, eqn: Equation, x: Value) -> list[Value]:
    return [spread(eqn, (writer.named(x),), lambda eqn, a: narrow(f"({a} * {a})", eqn.outs[0].dtype), 1)]


@rule("sign")
def _write_sign(writer: Writer, eqn: Equation, x: Value) -> list[Value]:
    return [spread(eqn, (writer.named(x),), _sign, 3)]


@rule("logistic")
def _logistic(writer: Writer, eqn: Equation, x: Value) -> list[Value]:
    def operation(eqn: Equation, a: str) -> str:
        short = SHORT[str(eqn.outs[0].dtype)]
        power = _math("exp")(eqn, f"(-{a})")
        return f"({short}(1.0) / ({short}(1.0) + {power}))"

    return [spread(eqn, (x,), operation, EXPENSIVE + SLOW)]


@rule("pow")
def _pow(writer: Writer, eqn: Equation, x: Value, y: Value) -> list[Value]:
    dtype = eqn.outs[0].dtype
    if dtype.kind == "f":
        return [spread(eqn, (x, y), lambda eqn, a, b: _math("pow")(eqn, a, f"{SHORT[str(dtype)]}({b})"), 2 * EXPENSIVE)]
    raise writer.refuse(eqn, "integers to a power that is not fixed")


def convert(text: str, before: np.dtype, after: np.dtype) -> str:
    """The element as another type."""
    short = SHORT[str(after)]
    if after == before:
        return text
    if after == np.bool_:
        return f"({text} != {literal(0, before)})"
    if re.fullmatch(r"-?\d+", text) and after.kind in "iu":
        return literal(np.array(int(text)).astype(after), after)
    if before.kind == "f" and after.kind in "iu":
        return f"to_int({text}, {short})"
    return f"{short}({bare(text)})"


elementwise("convert_element_type", lambda eqn, a: convert(a, eqn.ins[0].dtype, eqn.outs[0].dtype))


@rule("bitcast_convert_type")
def _bitcast(writer: Writer, eqn: Equation, x: Value) -> list[Value]:
    before, after = eqn.ins[0].dtype, eqn.outs[0].dtype
    if before.itemsize != after.itemsize or np.bool_ in (before, after):
        raise writer.refuse(eqn, f"from {before} to {after}")
    return [spread(eqn, (x,), lambda eqn, a: f"bitcast({typed(a, before)}, {SHORT[str(after)]})", 1)]


@rule("select_n")
def _select(writer: Writer, eqn: Equation, which: Value, *cases: Value) -> list[Value]:
    """cases[which]; all are computed where that is cheap, else only the selected one."""
    dtype = eqn.outs[0].dtype
    if which.dtype != np.bool_:
        which = writer.named(which)
    # Reading both sides keeps a loop free of branches, so that it can become vector code.
    eager = max(x.cost for x in cases) <= 6 and not any(x.branchy for x in cases)

    def read(emit: Emitter, point: Point) -> str:
        chosen = which.at(emit, aligned(emit, which, point))

        def case(k: int) -> str:
            return typed(cases[k].at(emit, aligned(emit, cases[k], point)), dtype)

        def pick(k: int) -> str:
            if k == len(cases) - 1:
                return case(k)
            condition = f"(not {chosen})" if which.dtype == np.bool_ else f"({chosen} <= {k})"
            if which.dtype == np.bool_ and eager:
                return f"where({bare(chosen)}, {bare(case(1))}, {bare(case(0))})"
            if which.dtype == np.bool_:
                return emit.either(chosen, lambda: case(1), lambda: case(0), eqn.outs[0])
            return emit.either(condition, lambda: case(k), lambda: pick(k + 1), eqn.outs[0])

        return pick(0)

    value = spread(eqn, (which, *cases), lambda *_: "", 1)
    value.read = read
    value.branchy = value.branchy or not eager or len(cases) > 2
    return [value]


for _name, _sign_text in {"add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|", "xor": "^"}.items():
    elementwise(_name, _infix(_sign_text))
for _name, _sign_text in {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}.items():
    elementwise(_name, _compare(_sign_text))
for _name in ("neg", "abs", "population_count", "clz", "floor", "ceil"):
    elementwise(
        _name, _function({"neg": "negate", "abs": "absolute", "population_count": "popcount"}.get(_name, _name))
    )
for _name, _sign_text in {"eq_to": "==", "lt_to": "<", "le_to": "<="}.items():
    elementwise(_name, _compare_bits(_sign_text))
for _name in ("shift_left", "shift_right_logical", "shift_right_arithmetic"):
    elementwise(_name, _function(_name), 3)
for _name in ("exp", "log", "log1p", "expm1", "tanh", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
              "asinh", "acosh", "atanh", "atan2", "erf", "erfc", "lgamma"):  # fmt: skip
    elementwise(_name, _math(_name), EXPENSIVE)


def _few_at_once(name: str) -> None:
    """A few float32s are taken as one vector: LLVM unrolls so short a loop, and takes them one by one."""
    one_by_one = RULES[name]

    def write(writer: Writer, eqn: Equation, x: Value) -> list[Value]:
        if eqn.outs[0].dtype != np.float32 or not 1 < x.size <= AT_ONCE:
            return one_by_one(writer, eqn, x)
        emit, memory = writer.emit, writer.memory(eqn)
        elements = [typed(x.at(emit, Point(x.shape, flat=Index(k))), x.dtype) for k in range(x.size)]
        note = f"{name}, {eqn.source}" if eqn.source else name
        emit.line(f"{name}_each({memory.pointer}, ({', '.join(map(bare, elements))}))", note)
        return [memory]

    rule(name)(write)


for _name in IN_LINE:
    _few_at_once(_name)
elementwise("exp2", lambda eqn, a: _math("pow")(eqn, literal(2, eqn.outs[0].dtype), a), EXPENSIVE)
elementwise("cbrt", lambda eqn, a: f"{SHORT[str(eqn.outs[0].dtype)]}(np.cbrt({a}))", EXPENSIVE)
elementwise("sqrt", _function("sqrt"), SLOW)
elementwise("rsqrt", lambda eqn, a: f"({literal(1, eqn.outs[0].dtype)} / sqrt({a}))", 2 * SLOW)
elementwise("rem", _function("rem"), SLOW)
elementwise("max", _extreme("maximum", "|"))
elementwise("min", _extreme("minimum", "&"))
elementwise("clamp", _clamp, 2)
elementwise("not", _invert)
elementwise("round", _round)
elementwise("is_finite", lambda eqn, a: f"(absolute({a}) < {SHORT[str(eqn.ins[0].dtype)]}(inf))", 2)
fuse.SAME_PLACE.update(("div", "integer_pow", "square", "sign", "logistic", "pow", "bitcast_convert_type", "select_n"))
