"""Functions that only compiled code calls: neither a wrapper for Python nor machine code of their own.

The wrapper takes Python's arguments apart; with arrays among them it is larger than many a function of a kernel, and a
third of the time to compile a small one. Numba's option `no_cpython_wrapper` leaves it out, but then a call from Python
jumps to address 0. `install` makes such a call an error.

Numba also optimizes every function by itself and makes machine code of it, although each caller has a copy of it, with
which it is optimized again. A function without wrappers (`boardrl.host.compile_options.inner`) is called by nobody
else. Its library holds LLVM's code as it was generated, in memory and in the cache; so whatever links it is optimized
as one program. A function that another one of a recursion calls by address has machine code as others do.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen, RuntimeLinker
from numba.core.cpu import CPUContext
from numba.core.dispatcher import Dispatcher
from numba.core.environment import lookup_environment
from numba.core.typed_passes import NativeLowering

KIND = "inner"  # of a library, in Numba's cache files
ENVIRONMENT = "_ZN08NumbaEnv"  # prefix of the global variables by which functions reach their constants in Python

_run_pass = NativeLowering.run_pass
_finalize = JITCodeLibrary.finalize
_serialize = JITCodeLibrary.serialize_using_object_code
_unserialize = JITCodeLibrary._unserialize
_set_environment = JITCPUCodegen.set_env
_get_executable = CPUContext.get_executable
_add_overload = Dispatcher.add_overload


def install() -> None:
    """Changes Numba for all functions of this process."""
    NativeLowering.run_pass = _run_pass_of_any  # type: ignore[method-assign]
    JITCodeLibrary.finalize = _finalize_any  # type: ignore[method-assign]
    JITCodeLibrary.serialize_using_object_code = _serialize_any  # type: ignore[method-assign]
    JITCodeLibrary._unserialize = classmethod(_unserialize_any)  # type: ignore[method-assign, assignment]
    JITCPUCodegen.set_env = _set_environment_if_defined  # type: ignore[method-assign]
    CPUContext.get_executable = _get_executable_or_refusal  # type: ignore[method-assign]
    Dispatcher.add_overload = _add_overload_or_refusal  # type: ignore[method-assign, assignment]


def is_inner(library: Any) -> bool:
    """Whether a library has no machine code."""
    library._ensure_finalized()  # which may find a recursion
    return getattr(library, "is_inner", False)


def _run_pass_of_any(lowering: Any, state: Any) -> Any:
    """`NativeLowering.run_pass`; a function without wrappers is lowered to a library without machine code."""
    if state.library is None:
        state.library = state.targetctx.codegen().create_library(state.func_id.func_qualname)
        state.library.enable_object_caching()
        # A function that is compiled for other types further out may be called by address there.
        is_recursive = state.typingctx.callstack.findfirst(state.func_id.func) is not None
        no_wrappers = state.flags.no_cpython_wrapper and state.flags.no_cfunc_wrapper
        state.library.is_inner = no_wrappers and not is_recursive
    return _run_pass(lowering, state)


def _finalize_any(library: Any) -> None:
    """`CodeLibrary.finalize`, which links, optimizes and compiles; an inner library is linked only."""
    if not getattr(library, "is_inner", False):
        _finalize(library)
        return
    module = library._final_module
    for other in dict.fromkeys(library._linking_libraries):
        library._reload_init.update(other._reload_init)
        module.link_in(other._get_module_for_linking(), preserve=True)
    if any(variable.name.startswith(RuntimeLinker.PREFIX) for variable in module.global_variables):
        library.is_inner, library._linking_libraries = False, []
        _finalize(library)
        return
    library._finalize_dynamic_globals()
    library._verify_declare_only_symbols()
    library._finalized = True


def _serialize_any(library: Any) -> Any:
    if not is_inner(library):
        return _serialize(library)
    return library.name, KIND, library._get_module_for_linking().as_bitcode()


def _unserialize_any(kind_of_library: Any, codegen: Any, stored: tuple[str, str, Any]) -> Any:
    name, kind, data = stored
    if kind != KIND:
        return _unserialize.__func__(kind_of_library, codegen, stored)  # type: ignore[attr-defined]
    library = codegen.create_library(name)
    library.is_inner = True
    library._final_module = llvm.parse_bitcode(data)
    library._finalize_dynamic_globals()
    library._finalized = True
    return library


def _set_environment_if_defined(codegen: Any, name: str, environment: Any) -> None:
    """`set_env`; the environment of a function without machine code is set in that of its callers."""
    if codegen._engine.is_symbol_defined(name):
        _set_environment(codegen, name, environment)


def _get_executable_or_refusal(context: Any, library: Any, fndesc: Any, env: Any) -> Any:
    """`CPUContext.get_executable`; a Python function that raises an error where there is no wrapper.

    The environments of the functions linked into the library are set too.
    """
    if not is_inner(library):
        for variable in library._final_module.global_variables:
            if variable.name.startswith(ENVIRONMENT) and (linked := lookup_environment(variable.name)) is not None:
                library.codegen.set_env(variable.name, linked)
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
    if isinstance(compiled.entry_point, types.FunctionType):
        dispatcher.overloads[tuple(compiled.signature.args)] = compiled
    else:
        _add_overload(dispatcher, compiled)
