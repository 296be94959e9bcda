"""A value net that is too large for scalar code: a callback into JAX values positions in batches.

`prepare` values all successors of a node in one batch and stores the values beside their rows, with a stamp of the
position and seat; `evaluate` reads them, and values a position alone where the stamp is another. The weights hold the
address of the function to call (`search.evaluators.jax_callback`), as data, so that compiled code can be cached.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from boardrl.host.compile_options import compiled, inner
from boardrl.host.slots import NUM_PLAYERS, key
from boardrl.lowering.intrinsics import pointer
from search.kernel.transposition_table import bits_float, float_bits

AT_ONCE = 256  # positions in one call at most
OUT = AT_ONCE  # float32s at the start of the scratch memory for what a call returns
SLOT = 2 * NUM_PLAYERS  # 64-bit words beside a row: for each seat a stamp, and the value's bits
BATCHED = True  # whether `prepare` does anything


def _call(typing: Any, address: Any, rows: Any, count: Any, seat: Any, out: Any) -> Any:
    """Calls the function at an address with two pointers and two numbers."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = ir.IntType(64)
        function = builder.inttoptr(args[0], ir.FunctionType(ir.VoidType(), [word] * 4).as_pointer())
        start, end = builder.ptrtoint(args[1], word), builder.ptrtoint(args[4], word)
        builder.call(function, [start, args[2], args[3], end])
        return context.get_dummy_value()

    return types.none(types.int64, rows, types.int64, types.int64, out), generate


call: Any = intrinsic(_call)


@compiled
def stamp(row, seat):
    """64 bits of a position and a seat, never 0."""
    return (np.uint64(key(row)) ^ np.uint64(seat) * np.uint64(0x9E3779B97F4A7C15)) | np.uint64(1)


@inner
def prepare(rows, first, count, seat, weights, scratch, work):
    slots = scratch[OUT:].view(np.uint64)
    address = weights.view(np.int64)[0]
    for start in range(first, first + count, AT_ONCE):
        number = min(first + count - start, AT_ONCE)
        first_row = pointer(rows[start], 0, np.uint64)  # type: ignore
        call(address, first_row, number, np.int64(seat), pointer(scratch, 0, np.float32))
        for place in range(number):
            slot = (start + place) * SLOT + 2 * np.int64(seat)
            slots[slot] = stamp(rows[start + place], seat)
            slots[slot + 1] = float_bits(scratch[place])


@inner
def prepare_all(rows, first, count, weights, scratch, work):
    for player in range(NUM_PLAYERS):
        prepare(rows, first, count, player, weights, scratch, work)


@compiled
def evaluate(rows, at, seat, weights, scratch, work):
    slots = scratch[OUT:].view(np.uint64)
    slot = at * SLOT + 2 * np.int64(seat)
    if slots[slot] != stamp(rows[at], seat):
        prepare(rows, at, 1, seat, weights, scratch, work)
    return np.float64(bits_float(slots[slot + 1]))


@compiled
def evaluate_all(rows, at, out, weights, scratch, work):
    for player in range(NUM_PLAYERS):
        out[player] = evaluate(rows, at, player, weights, scratch, work)


@inner
def sample_all(rows, at, out, stream, weights, scratch, work):
    """Nothing is left to chance."""
    evaluate_all(rows, at, out, weights, scratch, work)
