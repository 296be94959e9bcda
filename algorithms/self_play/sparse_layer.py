"""The first layer of an MLP on sparse inputs, and its gradient, in compiled code.

Of some 700 inputs about 20 are not 0: JAX's fastest gradient is a product with the whole matrix of inputs, and takes
ten times as long as adding up the rows that count.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from boardrl.values import nets

FIRST = "layers_0"  # the first layer among an MLP's parameters


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def forward(places, weights, kernel, bias, out):
    """Writes [N, H] b + Σ_k w_k W[place_k] of [N, K] places and weights."""
    for row in range(len(places)):
        for unit in range(len(bias)):
            out[row, unit] = bias[unit]
        for k in range(places.shape[1]):
            weight, place = weights[row, k], places[row, k]
            if weight != 0:
                for unit in range(len(bias)):
                    out[row, unit] += weight * kernel[place, unit]


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def backward(places, weights, slope, kernel, bias):
    """Adds the gradients of W [I, H] and b [H], given that of the layer's outputs [N, H]."""
    for row in range(len(places)):
        learns = False
        for unit in range(len(bias)):
            bias[unit] += slope[row, unit]
            learns |= slope[row, unit] != 0
        if learns:
            for k in range(places.shape[1]):
                weight, place = weights[row, k], places[row, k]
                if weight != 0:
                    for unit in range(len(bias)):
                        kernel[place, unit] += weight * slope[row, unit]


def outputs(params: Any, inputs: nets.Sparse) -> nets.FirstOutputs:
    """[...] outputs of the first layer of an MLP with these parameters, of [...] inputs in NumPy."""
    layer = params["params"][FIRST]
    kernel, bias = np.asarray(layer["kernel"]), np.asarray(layer["bias"])
    places, weights = _rows(inputs)
    out: Any = np.empty((len(places), len(bias)), np.float32)
    forward(places, weights, kernel, bias, out)
    return nets.FirstOutputs(out.reshape(*inputs.places.shape[:-1], len(bias)))


def with_gradient(gradient: Any, inputs: nets.Sparse, slope: nets.FirstOutputs) -> Any:
    """The gradient of an MLP with that of its first layer filled in, given that of the layer's outputs."""
    layer = gradient["params"][FIRST]
    kernel, bias = (np.zeros(layer[name].shape, np.float32) for name in ("kernel", "bias"))
    places, weights = _rows(inputs)
    backward(places, weights, np.asarray(slope.values).reshape(-1, len(bias)), kernel, bias)
    return {"params": {**gradient["params"], FIRST: {"kernel": kernel, "bias": bias}}}


def _rows(inputs: nets.Sparse) -> Any:
    return tuple(leaf.reshape(-1, leaf.shape[-1]) for leaf in inputs)
