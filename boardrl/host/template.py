"""Kernels compiled for one game: copies of a module's source in which imports from slots are replaced.

A kernel is a module of Numba functions that works for every game: a search, a random player, a sweep over a table. What
differs from game to game it imports from modules of *slots*, whose names end in `slots` (`boardrl.host.slots`: the
rules; `search.evaluators.slots`: the evaluation). The functions there only raise an error; their docstrings say what a
filled slot does and who fills it. `specialise(kernel, facet)` copies the kernel's source, replaces these imports by
imports from the modules that fill the slots, and loads the copy. A kernel may import compiled functions from another
kernel, which is then specialised with it.

Why source: Numba can inline the rules into the search, and finds the result again in its cache on disk. The other ways
are worse: functions that are closed over by others are never found in the cache again, and a call through a function
pointer cannot be inlined (pig's `actor` on a row of a stack: 43 ns instead of 3).
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib
import inspect
import re
import types
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from numba.core.dispatcher import Dispatcher

from boardrl.lowering import cache

if TYPE_CHECKING:
    from boardrl.host.facet import Facet

RULES = "boardrl.host.slots"
VALUE = "boardrl.host.value_slots"


class TemplateError(Exception):
    """A kernel and what is to fill its slots do not fit: a mistake in code, not of a user."""


def specialise(
    kernel: types.ModuleType,
    facet: Facet,
    *,
    evaluator: types.ModuleType | None = None,
    slots: Mapping[str, types.ModuleType] | None = None,
    **constants: Any,
) -> types.ModuleType:
    """A copy of a kernel's module that is compiled for one game.

    The copy is kept in the cache of emitted modules, and so is what Numba makes of it.

    Args:
      evaluator: fills `boardrl.host.value_slots`.
      slots: what fills other modules of slots, by their names.
      constants: new values of constants that the kernel defines at module level.

    Raises:
      TemplateError: a module of slots that the kernel does not import or that nothing fills, a name that its filling
        lacks, or a constant that the kernel does not define.
    """
    fillings = {RULES: facet.module, **({} if evaluator is None else {VALUE: evaluator}), **(slots or {})}
    imported = slots_of(kernel)
    for name in fillings:
        if name not in imported and name != RULES:
            raise TemplateError(f"{kernel.__name__} imports nothing from {name}; its slots are {_list(imported)}")
    for name in sorted(imported):
        if name not in fillings:
            raise TemplateError(f"nothing fills the slots of {name}, which {kernel.__name__} imports")
    return _specialise(kernel, facet.game.spec.name, fillings, constants)


def slots_of(kernel: types.ModuleType) -> set[str]:
    """The modules of slots that a kernel imports from, itself or by way of kernels whose functions it uses."""
    found = set()
    for module in _imports(kernel):
        if _is_slots(module):
            found.add(module)
        elif (shared := _shared_kernel(kernel, module)) is not None:
            found |= slots_of(shared)
    return found


def _specialise(
    kernel: types.ModuleType, game: str, fillings: Mapping[str, types.ModuleType], constants: Mapping[str, Any]
) -> types.ModuleType:
    replaced: dict[str, types.ModuleType] = {}
    for module, aliases in _imports(kernel).items():
        shared = None if _is_slots(module) else _shared_kernel(kernel, module)
        if _is_slots(module):
            replaced[module] = fillings[module]
            for name in (alias.name for alias in aliases):
                if not hasattr(fillings[module], name):
                    filling = fillings[module].__name__
                    raise TemplateError(f"{filling} has no {name!r}, which {kernel.__name__} imports from {module}")
        elif shared is not None and slots_of(shared):
            replaced[module] = _specialise(shared, game, fillings, {})
    return copy(kernel, f"{kernel.__name__.rpartition('.')[2]}_{game}", constants, replaced)


def copy(
    kernel: types.ModuleType,
    name: str,
    constants: Mapping[str, Any],
    replaced: Mapping[str, types.ModuleType],
    *,
    added: Mapping[str, Any] | None = None,
) -> types.ModuleType:
    """A copy of a module with other values of its constants and other modules to import from.

    Args:
      name: of the copy; a digest is appended.
      constants: must be defined once in the module.
      added: constants that are defined at its end where the module does not define them.
    """
    source = inspect.getsource(kernel)
    for constant, value in {**(added or {}), **constants}.items():
        line = f"{constant} = {value!r}"
        pattern, escaped = rf"^{constant}\b[^=\n]*=.*$", line.replace("\\", r"\\")
        source, count = re.subn(pattern, escaped, source, flags=re.MULTILINE)
        if count != 1 and constant in constants:
            raise TemplateError(f"{kernel.__name__} defines the constant {constant} {count} times; expected once")
        if count != 1:
            source += f"\n{line}\n"
    for before, after in replaced.items():
        source = re.sub(rf"\bfrom {re.escape(before)} import", f"from {after.__name__} import", source)
    # Numba does not look at what a function calls: code that the kernel shares with others is part of the name. Names
    # of emitted modules tell what is in them, others do not.
    shared = [*_digests(kernel, set())]
    for module in replaced.values():
        if not module.__name__.startswith(f"{cache.PACKAGE}."):
            shared += [_digest(module), *_digests(module, set())]
    key = cache.module_name(name, source, *shared)
    return cache.find(key) or cache.write(key, source)


def _is_slots(module: str) -> bool:
    return module.endswith("slots")


def _shared_kernel(kernel: types.ModuleType, module: str) -> types.ModuleType | None:
    """The module, if the kernel imports compiled functions from it."""
    functions = [getattr(kernel, alias.asname or alias.name, None) for alias in _imports(kernel)[module]]
    if any(isinstance(function, Dispatcher) and function.py_func.__module__ == module for function in functions):
        return importlib.import_module(module)
    return None


@functools.cache
def _imports(kernel: types.ModuleType) -> dict[str, list[ast.alias]]:
    """The names that a module imports at its beginning, by the modules that it imports them from."""
    found: dict[str, list[ast.alias]] = {}
    head = re.split(r"^(?:@|def |class )", inspect.getsource(kernel), maxsplit=1, flags=re.MULTILINE)[0]
    for node in ast.parse(head).body:  # to parse the rest would take as long as loading its compiled code
        if isinstance(node, ast.ImportFrom) and node.module:
            found.setdefault(node.module, []).extend(node.names)
    return found


def _digests(module: types.ModuleType, seen: set[str]) -> Iterator[str]:
    """Digests of the modules whose compiled functions a module uses."""
    seen.add(module.__name__)
    for value in vars(module).values():
        other = inspect.getmodule(value.py_func) if isinstance(value, Dispatcher) else None
        if other is not None and other.__name__ not in seen and not other.__name__.startswith("numba"):
            yield _digest(other)
            yield from _digests(other, seen)


def _digest(module: types.ModuleType) -> str:
    return hashlib.sha256(inspect.getsource(module).encode()).hexdigest()


def _list(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "none"
