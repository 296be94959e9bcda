"""Lowers JAX functions to a compiled module."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np
from numba.core import event

from boardrl.lowering import cache, ir
from boardrl.lowering.functions import (
    Argument,
    Function,
    Successors,
    emit_function,
    emit_successors,
    is_number,
    trace_successors,
)
from boardrl.lowering.layout import WORD, Layout

HEADER = '''"""{title}

Written by boardrl.lowering from the rules in JAX; each comment names the equation and the line it comes from.
Arrays are contiguous, and nothing checks their sizes. No output may share memory with an input.
"""

import math

import numpy as np
from boardrl.lowering.intrinsics import *
from boardrl.lowering.vectors import dot_nonzero_rows, dot_rows, exp32, exp_each, sum_rows, tanh32, tanh_each
from numba import njit

OPTIONS = {{"cache": True, "nogil": True, "no_cfunc_wrapper": True, "error_model": "numpy", "boundscheck": False}}
'''

LOWERING = "boardrl:lowering"  # the kind of Numba's events (numba.core.event) that tell when a module is made


class Lowered:
    """A compiled function, and the conversion from pytrees to flat arrays and back.

    `function` is the compiled one: it takes the arguments in order, then the array for the result unless the result
    is one number, then the workspace.
    """

    def __init__(self, function: Any, arguments: Sequence[Layout], result: Layout, work_words: int) -> None:
        self.function = function
        self.arguments = arguments
        self.result = result
        self.work_words = work_words

    def __call__(self, *args: Any) -> Any:
        """Calls the function on pytrees and returns a pytree of NumPy arrays: convenient, not fast."""
        flat = [_pass(layout, arg) for layout, arg in zip(self.arguments, args, strict=True)]
        work = np.zeros(self.work_words, np.uint64)
        if is_number(self.result):
            value = self.function(*flat, work)
            return self.result.treedef.unflatten([np.asarray(value, self.result.leaves[0].dtype)])
        row = self.result.rows()
        self.function(*flat, row, work)
        return self.result.unpack(row)


def _pass(layout: Layout, arg: Any) -> Any:
    row = layout.pack(arg)
    return layout.view(row, layout.leaves[0])[0] if is_number(layout) else row


def lower(function: Callable[..., Any], *examples: Any, name: str = "function") -> Lowered:
    """Compiles a pure JAX function of fixed shapes for the host."""
    arguments = [Argument(f"arg{i}", example) for i, example in enumerate(examples)]
    module, layouts = lower_module(name, {name: Function(function, arguments, title=name)})
    *ins, out = layouts[name]
    return Lowered(getattr(module, name), ins, out, module.WORK_WORDS)


Spare = Callable[[str, Function, Sequence[Layout], str], str]


def lower_module(
    name: str,
    functions: Mapping[str, Function],
    *,
    extra: str = "",
    spare: Spare | None = None,
    successors: Successors | None = None,
) -> tuple[types.ModuleType, dict[str, list[Layout]]]:
    """One module with several functions, from the cache if possible, and the layouts of arguments and results.

    Args:
      extra: more source, in front of the functions.
      spare: makes the source that replaces a function which cannot be lowered, from its name, itself, its layouts and
        the reason; without it such a function is an error. The module's `REFUSED` has the reasons.
      successors: adds a function of that name; left out where it cannot be lowered, or would hardly be faster than
        calls of `act`.
    """
    with event.trigger_event(LOWERING, data=name):
        return _lower_module(name, functions, extra, spare, successors)


def _lower_module(
    name: str, functions: Mapping[str, Function], extra: str, spare: Spare | None, successors: Successors | None
) -> tuple[types.ModuleType, dict[str, list[Layout]]]:
    blocks: dict[str, ir.Block | ir.LoweringError] = {}
    layouts = {}
    texts = [name, extra, repr(spare is not None)]
    for label, function in functions.items():
        examples = [argument.example for argument in function.arguments]
        try:
            blocks[label], shapes = ir.trace(function.call, examples, name=function.title or label)
            texts.append(blocks[label].text())  # type: ignore[union-attr]
        except ir.LoweringError as error:
            if spare is None:
                raise
            blocks[label], shapes = error, jax.eval_shape(function.call, *examples)
            texts.append(str(error))
        layouts[label] = [Layout(a.example, a.name) for a in function.arguments] + [Layout(shapes, function.result)]
        leaves = [[leaf[:] for leaf in layout.leaves] for layout in layouts[label]]
        texts += [
            label,
            repr(
                (
                    function.title,
                    [(a.name, a.in_memory) for a in function.arguments],
                    function.result,
                    leaves,
                    function.interleaved,
                )
            ),
        ]
    walk = None
    if successors is not None and not any(isinstance(block, ir.LoweringError) for block in blocks.values()):
        walk = trace_successors(successors)
        texts += [walk.text(), successors.title]
    key = cache.module_name(name, *texts)
    module = cache.find(key)
    if module is None:
        module = cache.write(key, emit_module(name, functions, blocks, layouts, extra, spare, successors, walk))
    return module, layouts


def emit_module(
    name: str,
    functions: Mapping[str, Function],
    blocks: Mapping[str, ir.Block | ir.LoweringError],
    layouts: Mapping[str, list[Layout]],
    extra: str,
    spare: Spare | None,
    successors: Successors | None = None,
    walk: ir.Block | None = None,
) -> str:
    """The module's source."""
    tables: dict[str, np.ndarray] = {}
    parts, refused, work_words = [], {}, 1
    for label, function in functions.items():
        try:
            block = blocks[label]
            if isinstance(block, ir.LoweringError):
                raise block
            text, work_bytes = emit_function(label, function, block, layouts[label], tables, set(functions))
            work_words = max(work_words, -(-work_bytes // WORD))
        except ir.LoweringError as error:
            if spare is None:
                raise
            refused[label] = str(error)
            text = spare(label, function, layouts[label], str(error))
        parts.append(text)
    if successors is not None and walk is not None and not refused:
        text, work_bytes = emit_successors(successors, walk, tables, {*functions, "successors"})
        work_words = max(work_words, -(-work_bytes // WORD))
        parts.append(text)
    head = HEADER.format(title=f"Host code of {name}.")
    head += f"WORK_WORDS = {work_words}  # 64-bit words that every workspace must have\n"
    head += f"REFUSED: dict[str, str] = {refused!r}\n"
    for table, values in tables.items():
        head += f"{table} = {_array_source(values)}\n"
    return head + extra + "".join(f"\n\n{part}" for part in parts)


def _array_source(values: np.ndarray) -> str:
    if values.size <= 4096 and values.dtype.kind in "iub":
        return f"np.array({values.tolist()}, np.{values.dtype})"
    return f'np.frombuffer(bytes.fromhex("{values.tobytes().hex()}"), np.{values.dtype})'
