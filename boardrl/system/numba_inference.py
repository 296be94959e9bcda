"""Faster compilation by Numba: type inference and LLVM's passes do no work whose result is known.

`install` changes three things, for all functions of the process; what is compiled stays the same.

- Inference of types runs all constraints of a function until a round changes nothing, so at least twice. A constraint
  whose type variables are as it left them gives the same again, and is skipped: nearly all of the last round.
- At every call of a function by itself, inference starts over without these calls, to see what the function returns.
  Once a round is enough.
- LLVM's passes over single functions are prepared and run for declarations too, some twenty in each module.
"""

from __future__ import annotations

from typing import Any

from numba.core import codegen, typeinfer, types

_run_all = typeinfer.ConstraintNetwork.propagate
_look_up = typeinfer.TypeVarMap.__getitem__
_infer_return_type = typeinfer.TypeInferer.return_types_from_partial


def install() -> None:
    """Changes Numba for all functions of this process."""
    typeinfer.ConstraintNetwork.propagate = _propagate  # type: ignore[method-assign]
    typeinfer.TypeVarMap.__getitem__ = _noted_look_up  # type: ignore[method-assign]
    typeinfer.TypeInferer.return_types_from_partial = _return_type  # type: ignore[method-assign]
    codegen.CPUCodeLibrary._optimize_functions = _optimize_functions  # type: ignore[method-assign]


def _noted_look_up(variables: Any, name: str) -> Any:
    """`TypeVarMap.__getitem__`, which adds the variable to those that the running constraint has looked at."""
    variable = _look_up(variables, name)
    looked_at = getattr(variables, "looked_at", None)
    if looked_at is not None:
        looked_at.setdefault(name, (variable, variable.type))
    return variable


def _propagate(network: Any, inferer: Any) -> list[Exception]:
    """`ConstraintNetwork.propagate` without constraints that are settled."""
    settled: dict[Any, list[tuple[Any, Any]] | None] = network.__dict__.setdefault("settled", {})
    constraints = network.constraints
    inferer.return_type = None
    errors: list[Exception] = []
    try:
        for constraint in constraints:
            known = settled.get(constraint)
            if known is not None and all(variable.type is kind for variable, kind in known):
                continue
            inferer.typevars.looked_at = {}
            network.constraints = [constraint]
            raised = _run_all(network, inferer)
            errors += raised
            settled[constraint] = None if raised else _settled(constraint, inferer.typevars.looked_at)
    finally:
        network.constraints = constraints
        inferer.typevars.looked_at = None
    return errors


def _return_type(inferer: Any) -> Any:
    """`TypeInferer.return_types_from_partial`, asked once a round; None while the type is unknown."""
    if getattr(inferer, "return_type", None) is None:
        inferer.return_type = _infer_return_type(inferer)
    return inferer.return_type


def _settled(constraint: Any, looked_at: dict[str, tuple[Any, Any]]) -> list[tuple[Any, Any]] | None:
    """The type variables that a constraint depends on, with their types; None if it has to run again in any case.

    Those are functions that call themselves, whose types become known while others are inferred, and constraints
    that have changed more than their result.
    """
    target = getattr(constraint, "target", None) or getattr(constraint, "dst", None)
    target = getattr(target, "name", target)
    for name, (variable, before) in looked_at.items():
        if isinstance(variable.type, types.RecursiveCall) or (name != target and variable.type is not before):
            return None
    return [(variable, variable.type) for variable, _ in looked_at.values()]


def _optimize_functions(library: Any, module: Any) -> None:
    """`CPUCodeLibrary._optimize_functions` for the functions that have a body."""
    module.data_layout = library._codegen._data_layout
    for function in module.functions:
        if not function.is_declaration:
            manager, builder = library._codegen._function_pass_manager()
            with library._recorded_timings.record(f"Function passes on {function.name!r}", builder):
                manager.run(function, builder)
