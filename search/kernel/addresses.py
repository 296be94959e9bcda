"""The arrays of a search, accessed through its control block.

A search calls itself at every node. Ten arrays as arguments are some eighty words to pass and ten reference counts to
keep; the address of the control block is one word, and it holds the addresses of all arrays. The caller of the search
owns the arrays (`search.kernel.memory`); arrays made of an address here have no reference count.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic

from boardrl.host.compile_options import compiled
from boardrl.lowering.intrinsics import pointer
from search.kernel.control_block import ARRAYS

# Each array has three words of the control block: its address and its shape, padded with 1.
ROWS, SCORES, TABLE, KILLERS, HISTORY, PV, WEIGHTS, SCRATCH, WORK = (ARRAYS + 3 * n for n in range(9))


def _at(typing: Any, address: Any, dtype: Any) -> Any:
    """A typed pointer to an address."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

    return types.CPointer(dtype.dtype)(types.int64, dtype), generate


at_address: Any = intrinsic(_at)


@compiled
def block(control):
    """A pointer to the control block."""
    return pointer(control, 0, np.int64)  # type: ignore[call-arg]


@compiled
def vector(control, name, dtype):
    """An array of one dimension."""
    return numba.carray(at_address(control[name], dtype), (control[name + 1],))


@compiled
def matrix(control, name, columns, dtype):
    """An array of two dimensions; a constant number of columns makes it faster."""
    return numba.carray(at_address(control[name], dtype), (control[name + 1], columns))
