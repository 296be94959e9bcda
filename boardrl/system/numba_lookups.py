"""Faster compilation by Numba: shorter ways to what it looks up many times.

`install` changes five things, for all functions of the process; what is compiled stays the same.

- The variables of an instruction are looked for nine times in every function, by a search through all its attributes
  with a test of each for an abstract class. Here the class of an attribute is tested once.
- Whether an implementation takes a `loc` is read off its signature at every call that is generated.
- Every call of LLVM takes a lock, and tells so to a listener of each function that is being compiled, for statistics.
- The size of a type is asked of LLVM, by a module with a variable of that type, at every variable that is declared.
- The options of a function are read as properties, all of them in each of twenty passes.
"""

from __future__ import annotations

import functools
from typing import Any

from llvmlite.binding import ffi
from numba.core import base, ir, targetconfig
from numba.core.cpu import CPUContext

LOCK_EVENTS = "_initialize_llvm_lock_event"  # Numba's function that registers the callbacks of LLVM's lock
MOST_IMPLEMENTATIONS = 1000  # kept in memory for their signatures

_size_by_llvm = CPUContext.get_abi_sizeof
_sizes: dict[str, int] = {}  # bytes of a type, by its text


def install() -> None:
    """Changes Numba for all functions of this process."""
    ir.Inst._rec_list_vars = _variables  # type: ignore[method-assign]
    base._has_loc = functools.lru_cache(MOST_IMPLEMENTATIONS)(base._has_loc)
    for callbacks in list(ffi.lib._lock._cblist):
        if LOCK_EVENTS in callbacks[0].__qualname__:
            ffi.unregister_lock_callback(*callbacks)
    CPUContext.get_abi_sizeof = _size  # type: ignore[method-assign]
    targetconfig.TargetConfig.values = _options  # type: ignore[method-assign]


@functools.cache
def _holds(kind: type) -> str:
    """What values of a class hold: a variable, an instruction, several values, or none of these."""
    if issubclass(kind, ir.Var):
        return "variable"
    if issubclass(kind, ir.Inst):
        return "instruction"
    if issubclass(kind, list | tuple):
        return "items"
    return "values" if issubclass(kind, dict) else ""


def _variables(instruction: Any, value: Any) -> Any:
    """`Inst._rec_list_vars`: the variables in a value, in order."""
    holds = _holds(value.__class__)
    if not holds:
        return []
    if holds == "variable":
        return [value]
    if holds == "instruction":
        return value.list_vars()
    found = []
    for item in value.values() if holds == "values" else value:
        if item.__class__ is ir.Var:
            found.append(item)
        elif _holds(item.__class__):
            found += _variables(instruction, item)
    return found


def _size(context: Any, kind: Any) -> Any:
    """`BaseContext.get_abi_sizeof`: the bytes of an LLVM type, which its text determines unless it has a name."""
    text = str(kind)
    if "%" in text:
        return _size_by_llvm(context, kind)
    if text not in _sizes:
        _sizes[text] = _size_by_llvm(context, kind)
    return _sizes[text]


def _options(config: Any) -> dict[str, Any]:
    """`TargetConfig.values`: all options and their values."""
    return {name: config._values.get(name, option.default) for name, option in config.options.items()}
