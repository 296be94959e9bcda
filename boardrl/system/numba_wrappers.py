"""Functions that only compiled code calls, compiled without a wrapper for Python.

The wrapper takes Python's arguments apart; with arrays among them it is larger than many a function of a kernel, and a
third of the time to compile a small one. Numba's option `no_cpython_wrapper` leaves it out, but then a call from Python
jumps to address 0. `install` makes such a call an error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core.cpu import CPUContext
from numba.core.dispatcher import Dispatcher

_get_executable = CPUContext.get_executable
_add_overload = Dispatcher.add_overload


def install() -> None:
    """Changes Numba for all functions of this process."""
    CPUContext.get_executable = _get_executable_or_refusal  # type: ignore[method-assign]
    Dispatcher.add_overload = _add_overload_or_refusal  # type: ignore[method-assign, assignment]


def _get_executable_or_refusal(context: Any, library: Any, fndesc: Any, env: Any) -> Any:
    """`CPUContext.get_executable`; a Python function that raises an error where there is no wrapper."""
    if library.get_pointer_to_function(fndesc.llvm_cpython_wrapper_name):
        return _get_executable(context, library, fndesc, env)
    library.codegen.set_env(context.get_env_name(fndesc), env)
    return _refusal(fndesc.qualname)


def _refusal(name: str) -> Callable[..., None]:
    def refuse(*arguments: Any, **options: Any) -> None:
        raise TypeError(f"{name} has no wrapper for Python: only compiled functions can call it")

    return refuse


def _add_overload_or_refusal(dispatcher: Any, compiled: Any) -> None:
    """`Dispatcher.add_overload`; what Numba calls by address is added only if it has one."""
    if compiled.entry_point.__class__ is type(_refusal):
        dispatcher.overloads[tuple(compiled.signature.args)] = compiled
    else:
        _add_overload(dispatcher, compiled)
