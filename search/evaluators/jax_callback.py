"""A value net in JAX that compiled code calls with batches of positions."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from boardrl.host import Facet
from boardrl.play.policy import Value

LEAST_BATCH = 8  # batches are padded to powers of two, so that few sizes are compiled

Function = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)


@functools.partial(jax.jit, static_argnames="value")
def values_of(value: Value, params: Any, states: Any, seat: Array) -> Array:
    """[B] float32: the value of each state to a seat, as the seat sees it."""
    return jax.vmap(lambda state: value(params, state, seat)[seat])(states)


class BatchedNet:
    """The net, and a C function that values rows: (address of rows, their number, seat, address of the values)."""

    def __init__(self, facet: Facet, value: Value, params: Any) -> None:
        self.facet, self.value = facet, value
        self.load(params)
        self.error: BaseException | None = None
        self._function = Function(self._call)
        self.address = ctypes.cast(self._function, ctypes.c_void_p).value

    def __call__(self, rows: np.ndarray, seat: int) -> np.ndarray:
        """[B] float32: the value of each of [B, WORDS] rows to a seat."""
        count = len(rows)
        padded = rows[np.arange(_padded(count)) % count]
        values = values_of(self.value, self.params, self.facet.state(padded), jnp.int32(seat))
        return np.asarray(values)[:count]

    def load(self, params: Any) -> None:
        """Sets new parameters."""
        self.params = jax.device_put(params)

    def warm_up(self, most: int) -> None:
        """Compiles the net for all sizes of batches up to that many positions."""
        row = self.facet.rows(1)
        self.facet.init(row[0])
        for size in sorted({_padded(count) for count in range(1, most + 1)}):
            self(np.repeat(row, size, 0), 0)

    def _call(self, rows: int, count: int, seat: int, out: int) -> None:
        # An exception cannot pass through compiled code: it is kept, and the caller of the search raises it.
        try:
            words = self.facet.module.WORDS
            table = np.ctypeslib.as_array((ctypes.c_uint64 * words * count).from_address(rows))
            values = np.ctypeslib.as_array((ctypes.c_float * count).from_address(out))
            values[:] = self(table, seat)
        except BaseException as error:  # Ctrl-C too
            self.error = self.error or error

    def check(self) -> None:
        """Raises an exception that occurred since the last check."""
        error, self.error = self.error, None
        if error is not None:
            raise error


def _padded(count: int) -> int:
    return max(1 << (count - 1).bit_length(), LEAST_BATCH)
