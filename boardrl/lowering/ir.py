"""Intermediate representation of a JAX function: nested calls inlined, repeated and unused equations removed."""

from __future__ import annotations

import dataclasses
import hashlib
import linecache
import pathlib
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jax._src import source_info_util  # the only place that says which line of the game made an equation
from jax.extend import core

from boardrl.errors import UserError


class LoweringError(UserError):
    """A function that cannot be compiled to host code: one sentence with the reason, the function and the line."""


class Source(NamedTuple):
    """The line of the game's code that an equation comes from."""

    path: str
    line: int

    def __str__(self) -> str:
        return f"{pathlib.Path(self.path).name}:{self.line}"

    @property
    def text(self) -> str:
        return linecache.getline(self.path, self.line).strip()

    @property
    def assigned(self) -> str:
        """The name that the line assigns to, or nothing."""
        found = re.match(r"([A-Za-z_]\w*)\s*(?:[-+*|&^]|<<|>>)?=(?!=)", self.text)
        return found[1] if found else ""


@dataclasses.dataclass(eq=False)
class Var:
    """A variable: the result of an equation, or an input."""

    shape: tuple[int, ...]
    dtype: np.dtype


@dataclasses.dataclass(eq=False)
class Const:
    """A constant."""

    value: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    @property
    def dtype(self) -> np.dtype:
        return self.value.dtype


Atom = Var | Const


@dataclasses.dataclass(eq=False)
class Equation:
    """One primitive: its parameters, its operands and, for control flow, its nested programs."""

    name: str
    params: dict[str, Any]
    ins: list[Atom]
    outs: list[Var]
    source: Source | None
    blocks: tuple[Block, ...]
    bind: Callable[..., Any]  # evaluates it in JAX, for constants


@dataclasses.dataclass(eq=False)
class Block:
    """A program: inputs, equations in order, outputs."""

    ins: list[Var]
    equations: list[Equation]
    outs: list[Atom]

    def text(self) -> str:
        """A canonical text of the program, the same in every process; variables are numbered."""
        return "\n".join(_lines(self, {}))


# Primitives that only call another program, and the parameter that holds it.
CALLS = {
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "closed_call": "call_jaxpr",
    "core_call": "call_jaxpr",
    "checkpoint": "jaxpr",
    "remat2": "jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "custom_vjp_call_jaxpr": "fun_jaxpr",
    "custom_vmap_call": "call",
}
# Primitives that hand their operands on.
IDENTITIES = frozenset({"copy", "copy_p", "stop_gradient", "optimization_barrier", "sharding_constraint"})
# Primitives that may turn out to change neither type nor shape.
RESHAPES = frozenset(
    {"convert_element_type", "reshape", "broadcast_in_dim", "squeeze", "transpose", "reduce_precision"}
)
# Parameters that say nothing about the result.
SILENT = frozenset(
    {"sharding", "out_sharding", "accuracy", "name", "ctx_mesh", "weak_type", "indices_are_sorted", "unroll"}
    | {"unique_indices", "jaxpr", "cond_jaxpr", "body_jaxpr", "branches", "update_jaxpr", "update_consts"}
    | {"_split_transpose", "linear", "precision", "debug_info"}
)
BLOCKS: dict[str, Callable[[dict[str, Any]], Sequence[Any]]] = {
    "while": lambda params: (params["cond_jaxpr"], params["body_jaxpr"]),
    "scan": lambda params: (params["jaxpr"],),
    "cond": lambda params: params["branches"],
}


def trace(function: Callable[..., Any], examples: Sequence[Any], *, name: str) -> tuple[Block, Any]:
    """The program of a function of pytrees, over their flattened leaves, and the shapes of its result."""
    closed, shapes = jax.make_jaxpr(function, return_shape=True)(*examples)
    block = _read(closed, None, name)
    unify(block)
    prune(block)
    return block, shapes


def known_dtype(dtype: Any, name: str, source: Source | None = None) -> np.dtype:
    """The NumPy type of an array, refused if host code has no such type."""
    if not isinstance(dtype, np.dtype) or dtype.kind not in "biuf" or dtype.itemsize > 8 or str(dtype) == "float16":
        raise LoweringError(f"{name} uses the type {dtype}{at_line(source)}, for which there is no host code")
    return dtype


def at_line(source: Source | None) -> str:
    """A source line as part of a sentence."""
    return f" in {source.path}, line {source.line}" if source else ""


def unknown(name: str, primitive: str, source: Source | None, detail: str = "") -> LoweringError:
    """The error for a primitive that has no host code, or not for such operands."""
    what = f"{primitive!r} ({detail})" if detail else repr(primitive)
    return LoweringError(f"{name} uses the primitive {what}{at_line(source)}, for which there is no host code")


def _read(closed: Any, outer: Source | None, name: str) -> Block:
    jaxpr = closed.jaxpr
    env: dict[Any, Atom] = {}
    for var, value in zip(jaxpr.constvars, closed.consts, strict=True):
        env[var] = _constant(value, name)
    ins = [Var(tuple(v.aval.shape), known_dtype(v.aval.dtype, name)) for v in jaxpr.invars]
    env.update(zip(jaxpr.invars, ins, strict=True))
    equations: list[Equation] = []
    _inline(jaxpr, env, equations, outer, name)
    return Block(ins, equations, [_atom(v, env, name) for v in jaxpr.outvars])


def _inline(jaxpr: Any, env: dict[Any, Atom], equations: list[Equation], outer: Source | None, name: str) -> None:
    for eqn in jaxpr.eqns:
        primitive = eqn.primitive.name
        source = _source(eqn) or outer
        ins = [_atom(v, env, name) for v in eqn.invars]
        if primitive in CALLS:
            inner = eqn.params[CALLS[primitive]]
            if not hasattr(inner, "consts"):
                inner = core.ClosedJaxpr(inner, ())
            constants = [_constant(c, name) for c in inner.consts]
            scope = dict(zip([*inner.jaxpr.constvars, *inner.jaxpr.invars], [*constants, *ins], strict=True))
            _inline(inner.jaxpr, scope, equations, source, name)
            for var, result in zip(eqn.outvars, inner.jaxpr.outvars, strict=True):
                env[var] = _atom(result, scope, name)
            continue
        if primitive in IDENTITIES or _changes_nothing(eqn):
            env.update(zip(eqn.outvars, ins, strict=True))
            continue
        for var in eqn.outvars:
            dtype = getattr(var.aval, "dtype", None)
            if not isinstance(dtype, np.dtype):
                raise unknown(name, primitive, source)
            known_dtype(dtype, name, source)
        outs = [Var(tuple(v.aval.shape), v.aval.dtype) for v in eqn.outvars]
        env.update(zip(eqn.outvars, outs, strict=True))
        nested = BLOCKS[primitive](eqn.params) if primitive in BLOCKS else ()
        blocks = tuple(_read(inner, source, name) for inner in nested)
        equations.append(Equation(primitive, eqn.params, ins, outs, source, blocks, _binder(eqn)))


def _changes_nothing(eqn: Any) -> bool:
    """Whether an equation is a conversion to the same type or a reshape to the same shape."""
    if eqn.primitive.name not in RESHAPES:
        return False
    before, after = eqn.invars[0].aval, eqn.outvars[0].aval
    if before.shape != after.shape or before.dtype != after.dtype:
        return False
    order = eqn.params.get("permutation" if eqn.primitive.name == "transpose" else "dimensions")
    if eqn.primitive.name in ("transpose", "reshape") and order is not None:
        return tuple(order) == tuple(range(len(after.shape)))
    if eqn.primitive.name == "reduce_precision":
        info = np.finfo(after.dtype)
        return eqn.params["exponent_bits"] >= info.nexp and eqn.params["mantissa_bits"] >= info.nmant
    return True


def _binder(eqn: Any) -> Callable[..., Any]:
    def bind(*values: Any) -> Any:
        result = eqn.primitive.bind(*values, **eqn.params)
        return result if eqn.primitive.multiple_results else [result]

    return bind


def _source(eqn: Any) -> Source | None:
    frame = source_info_util.user_frame(eqn.source_info.traceback)
    return Source(frame.file_name, frame.start_line) if frame else None


def _constant(value: Any, name: str) -> Const:
    known_dtype(getattr(value, "dtype", np.asarray(value).dtype), name)
    return Const(np.asarray(value))


def _atom(var: Any, env: dict[Any, Atom], name: str) -> Atom:
    if isinstance(var, core.Literal):
        return Const(np.asarray(var.val, known_dtype(getattr(var.aval, "dtype", None), name)))
    return env[var]


def unify(block: Block) -> None:
    """Common subexpression elimination, and of a choice between cases that are the same (in place)."""
    same: dict[Atom, Atom] = {}
    seen: dict[Any, Equation] = {}
    kept = []
    for eqn in block.equations:
        eqn.ins = [same.get(a, a) for a in eqn.ins]
        for inner in eqn.blocks:
            unify(inner)
        key = (eqn.name, _params(eqn), tuple(_identity(a) for a in eqn.ins))
        if eqn.name == "select_n" and len(set(map(_identity, eqn.ins[1:]))) == 1:
            same[eqn.outs[0]] = eqn.ins[1]
        elif not eqn.blocks and key in seen:
            same.update(zip(eqn.outs, seen[key].outs, strict=True))
        else:
            seen[key] = eqn
            kept.append(eqn)
    block.equations = kept
    block.outs = [same.get(a, a) for a in block.outs]


def prune(block: Block) -> None:
    """Dead code elimination (in place)."""
    wanted: set[Atom] = set(block.outs)
    kept = []
    for eqn in reversed(block.equations):
        if wanted.isdisjoint(eqn.outs):
            continue
        for inner in eqn.blocks:
            prune(inner)
        wanted.update(eqn.ins)
        kept.append(eqn)
    block.equations = kept[::-1]


def split(block: Block, late: Var, *, first_outs: int) -> tuple[Block, Block]:
    """Splits a program in two: what does not depend on `late`, and the rest.

    Args:
      late: the last input; it becomes the last input of the second program.
      first_outs: the number of results that belong to the first program, which must not depend on `late`. Its further
        results are the inputs of the second one.
    """
    depends: set[Atom] = {late}
    ahead, behind = [], []
    for eqn in block.equations:
        if depends.isdisjoint(eqn.ins):
            ahead.append(eqn)
        else:
            depends.update(eqn.outs)
            behind.append(eqn)
    known = [v for v in (*block.ins, *(out for eqn in ahead for out in eqn.outs)) if v is not late]
    wanted = {a for eqn in behind for a in eqn.ins} | set(block.outs[first_outs:])
    passed = [v for v in known if v in wanted]
    ins = [v for v in block.ins if v is not late]
    return (
        Block(ins, ahead, [*block.outs[:first_outs], *passed]),
        Block([*passed, late], behind, block.outs[first_outs:]),
    )


def interleave(block: Block) -> None:
    """Orders equations by how many stand before them on the longest way to them (in place).

    Several programs written one after the other, such as a net for each player, are then written side by side, and a
    processor works at one while another waits for its last result.
    """
    levels: dict[Atom, int] = {}
    for eqn in block.equations:
        level = 1 + max((levels.get(a, 0) for a in eqn.ins), default=0)
        levels.update(dict.fromkeys(eqn.outs, level))
    block.equations.sort(key=lambda eqn: levels[eqn.outs[0]])


def walk(block: Block) -> Iterator[Equation]:
    """Every equation; nested ones follow the equation that holds them."""
    for eqn in block.equations:
        yield eqn
        for inner in eqn.blocks:
            yield from walk(inner)


def _identity(atom: Atom) -> Any:
    if isinstance(atom, Var):
        return id(atom)
    return (atom.shape, str(atom.dtype), atom.value.tobytes())


def _params(eqn: Equation) -> str:
    return ", ".join(f"{key}={value!r}" for key, value in sorted(eqn.params.items()) if key not in SILENT)


def _lines(block: Block, numbers: dict[Atom, int]) -> Iterator[str]:
    def show(atom: Atom) -> str:
        kind = f"{atom.dtype}{list(atom.shape)}"
        if isinstance(atom, Const):
            return f"{kind}:{hashlib.sha256(atom.value.tobytes()).hexdigest()[:24]}"
        return f"v{numbers.setdefault(atom, len(numbers))}:{kind}"

    yield f"in {' '.join(map(show, block.ins))}"
    for eqn in block.equations:
        yield f"{' '.join(map(show, eqn.outs))} = {eqn.name}[{_params(eqn)}] {' '.join(map(show, eqn.ins))}"
        for inner in eqn.blocks:
            yield "{"
            yield from _lines(inner, numbers)
            yield "}"
    yield f"out {' '.join(map(show, block.outs))}"
