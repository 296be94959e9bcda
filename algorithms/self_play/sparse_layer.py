"""The first layer of an MLP on sparse inputs, and its gradient, in compiled code.

Of some 700 inputs about 20 are not 0: JAX's fastest gradient is a product with the whole matrix of inputs, and takes
ten times as long as adding up the rows that count.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from boardrl.lowering import intrinsics, vectors
from boardrl.lowering.intrinsics import f32, i32
from boardrl.values import nets

# As compiled code calls them, without the context that Numba adds.
pointer: Any = intrinsics.pointer
sum_rows: Any = vectors.sum_rows
add_to_rows: Any = vectors.add_to_rows

FIRST = "layers_0"  # the first layer among an MLP's parameters


WIDE, NARROW = 64, 16  # columns that are summed in registers at a time, as long as there are so many


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def forward(places, weights, kernel, bias, out):
    """Writes [N, H] b + Σ_k w_k W[place_k] of [N, K] places and weights."""
    table, units, count = pointer(kernel, 0, f32), len(bias), places.shape[1]
    for row in range(len(places)):
        listed, factors = pointer(places[row], 0, i32), pointer(weights[row], 0, f32)
        start, sums = 0, out[row]
        while start + WIDE <= units:
            sum_rows(pointer(sums, 0, f32), table, listed, factors, count, start, units, WIDE)
            start += WIDE
        while start + NARROW <= units:
            sum_rows(pointer(sums, 0, f32), table, listed, factors, count, start, units, NARROW)
            start += NARROW
        while start < units:
            sum_rows(pointer(sums, 0, f32), table, listed, factors, count, start, units, 1)
            start += 1
        for unit in range(units):
            sums[unit] += bias[unit]


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def backward(places, weights, slope, kernel, bias):
    """Adds the gradients of W [I, H] and b [H], given that of the layer's outputs [N, H]."""
    table, units, count = pointer(kernel, 0, f32), len(bias), places.shape[1]
    for row in range(len(places)):
        listed, factors, slopes = pointer(places[row], 0, i32), pointer(weights[row], 0, f32), slope[row]
        learns = False
        for unit in range(units):
            bias[unit] += slopes[unit]
            learns |= slopes[unit] != 0
        if not learns:
            continue
        start = 0
        while start + WIDE <= units:
            add_to_rows(pointer(slopes, 0, f32), table, listed, factors, count, start, units, WIDE)
            start += WIDE
        while start + NARROW <= units:
            add_to_rows(pointer(slopes, 0, f32), table, listed, factors, count, start, units, NARROW)
            start += NARROW
        while start < units:
            add_to_rows(pointer(slopes, 0, f32), table, listed, factors, count, start, units, 1)
            start += 1


def outputs(params: Any, inputs: nets.Sparse) -> nets.FirstOutputs:
    """[...] outputs of the first layer of an MLP with these parameters, of [...] inputs in NumPy."""
    layer = params["params"][FIRST]
    kernel, bias = np.asarray(layer["kernel"]), np.asarray(layer["bias"])
    places, weights = _rows(inputs)
    out: Any = np.empty((len(places), len(bias)), np.float32)
    forward(places, weights, kernel, bias, out)
    return nets.FirstOutputs(out.reshape(*inputs.places.shape[:-1], len(bias)))


def others(params: Any) -> Any:
    """The parameters of all layers but the first."""
    return {"params": {name: layer for name, layer in params["params"].items() if name != FIRST}}


def with_gradient(params: Any, gradient: Any, inputs: nets.Sparse, slope: nets.FirstOutputs) -> Any:
    """The gradient of an MLP with that of its first layer filled in, given that of the layer's outputs."""
    layer = params["params"][FIRST]
    kernel, bias = (np.zeros(layer[name].shape, np.float32) for name in ("kernel", "bias"))
    places, weights = _rows(inputs)
    backward(places, weights, np.asarray(slope.values).reshape(-1, len(bias)), kernel, bias)
    return {"params": {**gradient["params"], FIRST: {"kernel": kernel, "bias": bias}}}


def _rows(inputs: nets.Sparse) -> Any:
    return tuple(leaf.reshape(-1, leaf.shape[-1]) for leaf in inputs)
