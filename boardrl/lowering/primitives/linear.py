"""Products of matrices and convolutions: loops whose innermost one runs over adjacent outputs, as vector code can."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from boardrl.lowering.emit import Emitter
from boardrl.lowering.index import Index, counter, size_of
from boardrl.lowering.ir import Equation
from boardrl.lowering.primitives.elementwise import convert, narrow
from boardrl.lowering.primitives.reduce import FOLDS
from boardrl.lowering.sparse import SKIPS_ZEROS
from boardrl.lowering.values import Buffer, Point, Value, bare, literal, typed
from boardrl.lowering.vectors import COLUMNS
from boardrl.lowering.writer import Writer, rule

BLOCK = 4  # rows of the second factor taken in one pass over the outputs, so that these are read and written less
Dims = tuple[Index, ...]


def nest(emit: Emitter, shape: Sequence[int]) -> Iterator[Dims]:
    """One loop for each axis; the caller writes the body of the innermost."""
    if not shape:
        yield ()
        return
    with emit.loop(0, shape[0]) as i:
        for rest in nest(emit, shape[1:]):
            yield (i, *rest)


def blocks(emit: Emitter, shape: Sequence[int]) -> Iterator[list[Dims]]:
    """Like `nest`, with several places of the last axis at a time."""
    for outer in nest(emit, shape[:-1]):
        size = shape[-1]
        if size >= 2 * BLOCK:
            with emit.loop(0, size // BLOCK) as i:
                yield [(*outer, i * BLOCK + k) for k in range(BLOCK)]
            rest = range(size - size % BLOCK, size)
        else:
            rest = range(size)
        if rest:
            yield [(*outer, Index(k)) for k in rest]


class Product:
    """Shared by dot products and convolutions: a result in memory to which products of two factors are added."""

    def __init__(self, writer: Writer, eqn: Equation, x: Value, y: Value) -> None:
        if np.bool_ in (x.dtype, y.dtype):
            raise writer.refuse(eqn, "of booleans")
        self.emit, self.out, self.x, self.y = writer.emit, eqn.outs[0], x, y
        self.memory = writer.memory(eqn)
        self.note = f"{eqn.name}, {eqn.source}"
        self.zero = typed(literal(0, self.out.dtype), self.out.dtype)

    def factor(self, value: Value, dims: Sequence[Index]) -> str:
        text = value.at(self.emit, Point(value.shape, dims=tuple(dims)))
        return typed(convert(text, value.dtype, self.out.dtype), self.out.dtype)

    def plus(self, total: str, left: str, right: str) -> str:
        dtype = self.out.dtype
        return FOLDS["sum"].join(total, narrow(f"({left} * {right})", dtype), dtype)


@rule("dot_general")
def _dot(writer: Writer, eqn: Equation, x: Value, y: Value) -> list[Value]:
    """out[batch, free axes of x, free axes of y] = Σ x · y over the contracted axes."""
    (x_sum, y_sum), (x_batch, y_batch) = eqn.params["dimension_numbers"]
    x_free = [a for a in range(len(x.shape)) if a not in (*x_sum, *x_batch)]
    y_free = [a for a in range(len(y.shape)) if a not in (*y_sum, *y_batch)]
    product = Product(writer, eqn, x, y)
    emit, out, memory = writer.emit, eqn.outs[0], product.memory
    depths = tuple(x.shape[a] for a in x_sum)
    split = len(x_batch) + len(x_free)

    def left(head: Dims, summed: Dims) -> str:
        places = dict(zip([*x_batch, *x_free, *x_sum], [*head, *summed], strict=True))
        return product.factor(x, [places[a] for a in range(len(x.shape))])

    def right(dims: Dims, summed: Dims) -> str:
        places = dict(zip([*y_batch, *y_free, *y_sum], [*dims[: len(x_batch)], *dims[split:], *summed], strict=True))
        return product.factor(y, [places[a] for a in range(len(y.shape))])

    if _vector_by_matrix(product, depths) and x_sum == (0,) == y_sum:
        assert isinstance(x, Buffer)
        assert isinstance(y, Buffer)
        for start, width in column_blocks(emit, out.shape[0]):
            sizes = f"{depths[0]}, i64({start}), {out.shape[0]}, {width}"
            call = "dot_nonzero_rows" if eqn.params.get(SKIPS_ZEROS) else "dot_rows"
            emit.line(f"{call}({memory.pointer}, {y.pointer}, {x.pointer}, {sizes})", product.note)
        return [memory]
    for head in nest(emit, out.shape[:split]):
        if size_of(out.shape[split:]) == 1:  # nothing to run over but the sum itself
            dims = (*head, *[Index()] * (len(out.shape) - split))
            total = emit.bind(product.zero, "total", product.note)
            for summed in nest(emit, depths):
                emit.line(f"{total} = {bare(product.plus(total, left(head, summed), right(dims, summed)))}")
            memory.store(emit, Point(out.shape, dims=dims), total)
            continue
        for tail in nest(emit, out.shape[split:]):
            memory.store(emit, Point(out.shape, dims=(*head, *tail)), product.zero)
        for places in blocks(emit, depths) if depths else [[()]]:
            factors = [emit.bind(left(head, summed), "x") for summed in places]
            for tail in nest(emit, out.shape[split:]):
                point = Point(out.shape, dims=(*head, *tail))
                text = memory.at(emit, point)
                for factor, summed in zip(factors, places, strict=True):
                    text = product.plus(text, factor, right((*head, *tail), summed))
                memory.store(emit, point, text, product.note)
    return [memory]


def _vector_by_matrix(product: Product, depths: Sequence[int]) -> bool:
    """Whether a product is a sum of rows of a matrix of floats, both factors in memory."""
    x, y, dtype = product.x, product.y, product.out.dtype
    in_memory = isinstance(x, Buffer) and isinstance(y, Buffer)
    alike = dtype.kind == "f" and x.dtype == y.dtype == dtype
    return in_memory and alike and len(x.shape) == 1 and len(y.shape) == 2 and len(depths) == 1


def column_blocks(emit: Emitter, columns: int) -> Iterator[tuple[Index, int]]:
    """Where blocks of columns of a matrix begin, and how wide they are; many are a loop."""
    if columns >= COLUMNS:
        with emit.loop(0, columns // COLUMNS) as i:
            yield i * COLUMNS, COLUMNS
    if columns % COLUMNS:
        yield Index(columns - columns % COLUMNS), columns % COLUMNS


@rule("conv_general_dilated")
def _convolution(writer: Writer, eqn: Equation, x: Value, kernel: Value) -> list[Value]:
    """A convolution of any layout, with strides, padding, dilation and feature groups."""
    params, out = eqn.params, eqn.outs[0]
    if params["batch_group_count"] != 1:
        raise writer.refuse(eqn, "with batch groups")
    numbers, groups = params["dimension_numbers"], params["feature_group_count"]
    (x_batch, x_feature, *x_space), (k_out, k_in, *k_space) = numbers.lhs_spec, numbers.rhs_spec
    o_batch, o_feature, *o_space = numbers.out_spec
    product = Product(writer, eqn, x, kernel)
    emit, memory = writer.emit, product.memory
    per_group = out.shape[o_feature] // groups

    def at(batch: Index, space: Dims, feature: Index) -> Point:
        places = dict(zip([o_batch, *o_space, o_feature], [batch, *space, feature], strict=True))
        return Point(out.shape, dims=tuple(places[a] for a in range(len(out.shape))))

    for batch, *space in nest(emit, [out.shape[a] for a in (o_batch, *o_space)]):
        for (feature,) in nest(emit, [out.shape[o_feature]]):
            memory.store(emit, at(batch, tuple(space), feature), product.zero, product.note)
        for taps in nest(emit, [kernel.shape[a] for a in k_space]):
            tests, positions = [], []
            for axis, place, tap in zip(range(len(space)), space, taps, strict=True):
                low, _ = params["padding"][axis]
                raw = place * params["window_strides"][axis] + tap * params["rhs_dilation"][axis] - low
                step, size = params["lhs_dilation"][axis], x.shape[x_space[axis]]
                end = (size - 1) * step
                if raw.low < 0 or raw.high > end:
                    raw = emit.index(str(raw), raw.low, raw.high, "place")
                    tests.append(f"0 <= {raw} <= {end}")
                    raw = _between(raw, 0, end)
                if step > 1:
                    raw, rest = emit.divide(raw, step)
                    tests.append(f"{rest} == 0")
                positions.append(raw)
            with emit.block(f"if {' and '.join(tests) or 'True'}:"):
                for group, channel in nest(emit, [groups, kernel.shape[k_in]]):
                    feature_in = group * kernel.shape[k_in] + channel
                    places = dict(zip([x_batch, *x_space, x_feature], [batch, *positions, feature_in], strict=True))
                    factor = emit.bind(product.factor(x, [places[a] for a in range(len(x.shape))]), "x")
                    for (k,) in nest(emit, [per_group]):
                        feature = group * per_group + k
                        where = dict(zip([*k_space, k_in, k_out], [*taps, channel, feature], strict=True))
                        weight = product.factor(kernel, [where[a] for a in range(len(kernel.shape))])
                        point = at(batch, tuple(space), feature)
                        memory.store(emit, point, product.plus(memory.at(emit, point), factor, weight))
    return [memory]


def _between(place: Index, low: int, high: int) -> Index:
    """A variable that a test has shown to lie between two numbers."""
    ((variable, _),) = place.terms
    return counter(variable.name, max(low, variable.low), min(high, variable.high))


@rule("reduce_window_max", "reduce_window_min", "reduce_window_sum")
def _window(writer: Writer, eqn: Equation, x: Value) -> list[Value]:
    """Pooling: each output is a reduction over a window of x."""
    params, out = eqn.params, eqn.outs[0]
    fold = FOLDS[eqn.name.rpartition("_")[2]]
    if any(d != 1 for d in params["base_dilation"]):
        raise writer.refuse(eqn, "with base dilation")
    window = params["window_dimensions"]

    def read(emit: Emitter, point: Point) -> str:
        total = emit.bind(typed(fold.empty(out.dtype), out.dtype), value.hint, value.note)
        dims = point.dims(emit)
        for taps in nest(emit, window):
            tests, positions = [], []
            for axis, tap in enumerate(taps):
                raw = dims[axis] * params["window_strides"][axis] + tap * params["window_dilation"][axis]
                raw = raw - params["padding"][axis][0]
                if raw.low < 0 or raw.high >= x.shape[axis]:
                    raw = emit.index(str(raw), raw.low, raw.high, "place")
                    tests.append(f"0 <= {raw} < {x.shape[axis]}")
                    raw = _between(raw, 0, x.shape[axis] - 1)
                positions.append(raw)
            with emit.block(f"if {' and '.join(tests) or 'True'}:"):
                element = x.at(emit, Point(x.shape, dims=tuple(positions)))
                emit.line(f"{total} = {bare(fold.join(total, element, out.dtype))}")
        return total

    value = Value(out.shape, out.dtype, read, cost=size_of(tuple(window)) * (x.cost + 2), branchy=True)
    return [value]
