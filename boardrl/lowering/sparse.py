"""Products of a vector that is mostly 0 with a matrix: sums of the rows at the entries that are not.

A program that computes x @ W is searched for where the entries of x come from. Rearrangements, sums and scaling are
linear, so that they only move rows of W and multiply by factors. What is left are terms, each of which lists entries:

    bits      booleans; each that is set adds its row
    one_hot   numbers compared with a constant; each adds the row of its value, or none
    scatter   numbers added at places (`.at[places].add(…)`); each adds the row of its place
    dense     any other numbers; each that is not 0 adds its row
    constant  known entries

Where a vector has to be written, but comes from `max(x, 0)`, rows whose factor is 0 are skipped.
`primitives/sparse.py` writes the code. A weight that is infinite or NaN times an entry of 0 counts as 0 here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from boardrl.lowering.index import size_of
from boardrl.lowering.ir import Atom, Block, Const, Equation, Var, prune

NAME = "sum_of_rows"  # of the equation that takes the place of a product
SKIPS_ZEROS = "skips_zeros"  # parameter of a product with the outputs of rectified linear units, about half of them 0
LANES = 16  # elements of a row that are added by one machine operation
WRITE_COST = 3.0  # operations: an element of the whole vector is computed and written
LIST_COST = 4.0  # operations: an entry is written into the list, or passed over
BIT_SHARE, NUMBER_SHARE = 0.4, 0.5  # of booleans that are set, of integers that are not 0, as far as one can guess
FEWEST_COLUMNS = 32  # of a matrix whose rows are skipped where their factor is 0; narrower ones are added faster
MOST_LOOKED_UP = 1 << 16  # entries of a table from values to rows


@dataclasses.dataclass(frozen=True, eq=False)
class Term:
    """Entries of a vector and the rows that they add.

    Attributes:
      kind: one of those named above.
      operands: what holds the entries: booleans; numbers; places and what is added there; numbers; nothing.
      rows: for bits and dense [size], for one_hot [numbers, values], for scatter the shape of what is added to, for
        constant [entries] the row of each; -1: none.
      factors: atoms of one element that entries are multiplied by; booleans count as 0 and 1.
      scale: constant that entries are multiplied by.
      low: of one_hot, the value that column 0 stands for.
      values: of constant, the entries.
    """

    kind: str
    operands: tuple[Atom, ...]
    rows: np.ndarray
    factors: tuple[Atom, ...] = ()
    scale: float = 1.0
    low: int = 0
    values: np.ndarray | None = None

    @property
    def entries(self) -> int:
        """How many it may list."""
        if self.kind == "scatter":
            return size_of(self.operands[1].shape)
        return len(self.rows)

    @property
    def expected(self) -> float:
        """How many rows it adds, about."""
        if self.kind == "bits":
            return BIT_SHARE * int((self.rows >= 0).sum())
        if self.kind == "dense" and self.operands[0].dtype.kind != "f":
            return NUMBER_SHARE * int((self.rows >= 0).sum())
        return self.entries


def rewrite(block: Block) -> None:
    """Replaces products by sums of rows where that is cheaper, in nested programs too (in place)."""
    made = {out: eqn for eqn in block.equations for out in eqn.outs}
    for place, eqn in enumerate(block.equations):
        for inner in eqn.blocks:
            rewrite(inner)
        if eqn.name == "dot_general" and _is_vector_by_matrix(eqn):
            terms = Terms(made).of(eqn.ins[0])
            if _pays(terms, eqn):
                block.equations[place] = _sum_of_rows(eqn, terms)
            elif eqn.ins[1].shape[1] >= FEWEST_COLUMNS and _is_rectified(eqn.ins[0], made):
                block.equations[place] = dataclasses.replace(eqn, params={**eqn.params, SKIPS_ZEROS: True})
    prune(block)


def _is_rectified(x: Atom, made: dict[Var, Equation]) -> bool:
    """Whether a vector is max(…, 0)."""
    eqn = made.get(x) if isinstance(x, Var) else None
    ends = [Terms(made).single(atom) for atom in eqn.ins] if eqn is not None and eqn.name == "max" else []
    return any(isinstance(end, Const) and not end.value.any() for end in ends)


def _is_vector_by_matrix(eqn: Equation) -> bool:
    x, matrix = eqn.ins
    numbers = eqn.params["dimension_numbers"]
    return (
        len(x.shape) == 1
        and len(matrix.shape) == 2
        and tuple(map(tuple, numbers[0])) == ((0,), (0,))
        and not any(map(len, numbers[1]))
        and eqn.outs[0].dtype.kind == "f"
    )


def _pays(terms: list[Term], eqn: Equation) -> bool:
    """Whether listing entries and adding their rows is cheaper than writing the vector and adding all rows."""
    depth, width = eqn.ins[1].shape
    row = max(1.0, width / LANES)
    listed = sum(LIST_COST * t.entries if t.kind == "dense" else LIST_COST * t.expected for t in terms)
    return listed + row * sum(t.expected for t in terms) < (row + WRITE_COST) * depth


def _sum_of_rows(eqn: Equation, terms: list[Term]) -> Equation:
    ins: list[Atom] = [eqn.ins[1], *(a for t in terms for a in (*t.operands, *t.factors))]
    return Equation(NAME, {"terms": terms}, ins, eqn.outs, eqn.source, (), eqn.bind)


Rule = Callable[["Terms", Equation, np.ndarray, "Scaling"], bool]
RULES: dict[str, Rule] = {}  # by primitive; False: not linear in its operands after all


def _rule(*names: str) -> Callable[[Rule], Rule]:
    def enter(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, function))
        return function

    return enter


@dataclasses.dataclass(frozen=True)
class Scaling:
    """What entries are multiplied by, and whether they are still counted in integers."""

    factors: tuple[Atom, ...] = ()
    scale: float = 1.0
    counts: bool = False

    def times(self, number: float) -> Scaling:
        return dataclasses.replace(self, scale=self.scale * number)

    def by(self, atom: Atom) -> Scaling:
        return dataclasses.replace(self, factors=(*self.factors, atom))


class Terms:
    """Follows a vector back to where its entries come from."""

    def __init__(self, made: dict[Var, Equation]) -> None:
        self.made = made  # the equations of the program by what they make
        self.found: list[Term] = []

    def of(self, x: Atom) -> list[Term]:
        """The terms of x."""
        self.take(x, np.arange(size_of(x.shape)).reshape(x.shape), Scaling())
        return [t for t in self.found if t.entries]

    def take(self, atom: Atom, rows: np.ndarray, scaling: Scaling) -> None:
        """Adds the terms of an array whose elements belong to these rows."""
        if isinstance(atom, Const):
            entries = np.broadcast_to(atom.value, rows.shape).reshape(-1).astype(np.float64)
            chosen = (entries != 0) & (rows.reshape(-1) >= 0)
            found = Term("constant", (), rows.reshape(-1)[chosen], scaling.factors, scaling.scale)
            self.found.append(dataclasses.replace(found, values=entries[chosen]))
            return
        eqn = self.made.get(atom)
        before = len(self.found)
        if eqn is not None and eqn.name in RULES and RULES[eqn.name](self, eqn, rows, scaling):
            return
        del self.found[before:]
        kind = "bits" if atom.dtype == np.bool_ and size_of(atom.shape) > 1 else "dense"
        self.found.append(Term(kind, (atom,), rows.reshape(-1), scaling.factors, scaling.scale))

    def single(self, atom: Atom) -> Atom | None:
        """The one element that all elements of an array are, where that is plain to see."""
        if isinstance(atom, Const):
            flat = atom.value.reshape(-1)
            return Const(flat[:1]) if flat.size and bool((flat == flat[0]).all()) else None
        if size_of(atom.shape) == 1:
            return atom
        eqn = self.made.get(atom)
        return self.single(eqn.ins[0]) if eqn is not None and eqn.name == "broadcast_in_dim" else None

    def scaled(self, atom: Atom, scaling: Scaling) -> Scaling | None:
        """The scaling multiplied by an array that is one number throughout."""
        number = self.single(atom)
        if number is None:
            return None
        return scaling.times(float(number.value[0])) if isinstance(number, Const) else scaling.by(number)


# Rearrangements


@_rule("reshape", "squeeze", "expand_dims", "broadcast_in_dim")
def _reshape(terms: Terms, eqn: Equation, rows: np.ndarray, scaling: Scaling) -> bool:
    x = eqn.ins[0]
    if size_of(x.shape) != rows.size or (eqn.params.get("dimensions") is not None and eqn.name == "reshape"):
        return False
    terms.take(x, rows.reshape(x.shape), scaling)
    return True


@_rule("transpose")
def _transpose(terms: Terms, eqn: Equation, rows: np.ndarray, scaling: Scaling) -> bool:
    terms.take(eqn.ins[0], rows.transpose(np.argsort(eqn.params["permutation"])), scaling)
    return True


@_rule("rev")
def _rev(terms: Terms, eqn: Equation, rows: np.ndarray, scaling: Scaling) -> bool:
    terms.take(eqn.ins[0], np.flip(rows, eqn.params["dimensions"]), scaling)
    return True


@_rule("slice")
def _slice(terms: Terms, eqn: Equation, rows: np.ndarray, scaling: Scaling) -> bool:
    x, params = eqn.ins[0], eqn.params
    steps = params["strides"] or (1,) * len(x.shape)
    inside = np.full(x.shape, -1)
    inside[tuple(map(slice, params["start_indices"], params["limit_indices"], steps))] = rows
    terms.take(x, inside, scaling)
    return True


@_rule("pad")
def _pad(terms: Terms, eqn: Equation, rows: np.ndarray, scaling: Scaling) -> bool:
    x, filler = eqn.ins
    config = eqn.params["padding_config"]
    if not isinstance(filler, Const) or filler.value.any() or any(low < 0 or high < 0 for low, high, _ in config):
        return False
    inside = [slice(low, size - high, step + 1) for (low, high, step), size in zip(config, rows.shape, strict=True)]
    terms.take(x, rows[tuple(inside)], scaling)
    return True


@_rule("concatenate")
def _concatenate(terms: Terms, eqn: Equation, rows: np.ndarray, scaling: Scaling) -> bool:
    axis = eqn.params["dimension"]
    cuts = np.cumsum([x.shape[axis] for x in eqn.ins])[:-1]
    for x, part in zip(eqn.ins, np.split(rows, cuts, axis), strict=True):
        terms.take(x, part, scaling)
    return True


@_rule("stack")
def _stack(terms: Terms, eqn: Equation, rows: np.ndarray, scaling: Scaling) -> bool:
    for k, x in enumerate(eqn.ins):
        terms.take(x, rows.take(k, eqn.params["axis"]), scaling)
    return True


# Arithmetic


@_rule("convert_element_type")
def _convert(terms: Terms, eqn: Equation, rows: np.ndarray, scaling: Scaling) -> bool:
    x, out = eqn.ins[0], eqn.outs[0]
    if out.dtype.kind == "f" and (x.dtype.kind == "f" or x.dtype == np.bool_):
        terms.take(x, rows, scaling)
    elif out.dtype.kind in "iuf" and x.dtype.kind in "iub" and (not scaling.counts or x.dtype == np.bool_):
        terms.take(x, rows, dataclasses.replace(scaling, counts=True))
    else:
        return False
    return True


@_rule("reduce_sum")
def _reduce_sum(terms: Terms, eqn: Equation, rows: np.ndarray, scaling: Scaling) -> bool:
    x, axes = eqn.ins[0], tuple(eqn.params["axes"])
    most = size_of(tuple(x.shape[a] for a in axes))
    if scaling.counts and (most > np.iinfo(x.dtype).max or not _is_boolean(terms, x)):
        return False  # it might wrap around
    terms.take(x, np.broadcast_to(np.expand_dims(rows, axes), x.shape), scaling)
    return True


def _is_boolean(terms: Terms, x: Atom) -> bool:
    """Whether integers are booleans, so that a sum of few does not wrap around."""
    eqn = terms.made.get(x) if isinstance(x, Var) else None
    return eqn is not None and eqn.name == "convert_element_type" and eqn.ins[0].dtype == np.bool_


@_rule("add", "add_any", "sub")
def _add(terms: Terms, eqn: Equation, rows: np.ndarray, scaling: Scaling) -> bool:
    x, y = eqn.ins
    if scaling.counts or any(isinstance(a, Var) and a.shape != rows.shape for a in (x, y)):
        return False
    terms.take(x, rows, scaling)
    terms.take(y, rows, scaling.times(-1.0) if eqn.name == "sub" else scaling)
    return True


@_rule("neg")
def _neg(terms: Terms, eqn: Equation, rows: np.ndarray, scaling: Scaling) -> bool:
    if scaling.counts:
        return False
    terms.take(eqn.ins[0], rows, scaling.times(-1.0))
    return True


@_rule("mul")
def _mul(terms: Terms, eqn: Equation, rows: np.ndarray, scaling: Scaling) -> bool:
    if scaling.counts or eqn.outs[0].dtype.kind != "f":
        return False
    for x, other in (eqn.ins, eqn.ins[::-1]):
        factor = terms.scaled(other, scaling)
        if factor is not None and x.shape == rows.shape:
            terms.take(x, rows, factor)
            return True
    return False


@_rule("div")
def _div(terms: Terms, eqn: Equation, rows: np.ndarray, scaling: Scaling) -> bool:
    x, number = eqn.ins[0], terms.single(eqn.ins[1])
    if scaling.counts or x.shape != rows.shape or not isinstance(number, Const) or not number.value[0]:
        return False
    if number.dtype.kind != "f":
        return False
    terms.take(x, rows, scaling.times(1.0 / float(number.value[0])))
    return True


@_rule("select_n")
def _select(terms: Terms, eqn: Equation, rows: np.ndarray, scaling: Scaling) -> bool:
    """A number where booleans are set, or an array if one boolean is, and 0 elsewhere."""
    which, *cases = eqn.ins
    if which.dtype != np.bool_ or len(cases) != 2 or eqn.outs[0].dtype.kind != "f":
        return False
    otherwise = terms.single(cases[0])
    if not isinstance(otherwise, Const) or otherwise.value[0] != 0:
        return False
    condition = terms.single(which)
    if condition is not None and cases[1].shape == rows.shape:
        terms.take(cases[1], rows, scaling.by(condition))
        return True
    factor = terms.scaled(cases[1], scaling)
    if factor is None or which.shape != rows.shape:
        return False
    terms.take(which, rows, factor)
    return True


@_rule("scatter-add")
def _scatter_add(terms: Terms, eqn: Equation, rows: np.ndarray, scaling: Scaling) -> bool:
    x, places, added = eqn.ins
    numbers = eqn.params["dimension_numbers"]
    single = (
        not numbers.update_window_dims
        and not numbers.operand_batching_dims
        and tuple(numbers.scatter_dims_to_operand_dims) == tuple(range(len(x.shape)))
    )
    if scaling.counts or not single or eqn.params["mode"].name == "CLIP":
        return False
    terms.take(x, rows, scaling)
    terms.found.append(Term("scatter", (places, added), rows, scaling.factors, scaling.scale))
    return True


# Numbers compared with constants


@_rule("eq")
def _equal(terms: Terms, eqn: Equation, rows: np.ndarray, scaling: Scaling) -> bool:
    """One-hots: of the elements compared with one number at most one is equal to it."""
    for x, other in (eqn.ins, eqn.ins[::-1]):
        if isinstance(x, Var) and isinstance(other, Const) and x.dtype.kind in "iu":
            numbers, origins = _origins(terms, x, rows.shape)
            table = _values_to_rows(numbers, origins, np.broadcast_to(other.value, rows.shape), rows)
            if table is not None:
                low = int(other.value.min())
                found = Term("one_hot", (numbers,), table, scaling.factors, scaling.scale, low)
                terms.found.append(found)
                return True
    return False


def _origins(terms: Terms, x: Var, shape: tuple[int, ...]) -> tuple[Var, np.ndarray]:
    """The array that one is repeated from, and for each element of the result its place there."""
    places = np.arange(size_of(x.shape)).reshape(x.shape)
    places = np.broadcast_to(places, shape)
    while (eqn := terms.made.get(x)) is not None and isinstance(eqn.ins[0], Var):
        before = eqn.ins[0]
        if eqn.name == "broadcast_in_dim":
            axes = [1] * len(x.shape)
            for axis, size in zip(eqn.params["broadcast_dimensions"], before.shape, strict=True):
                axes[axis] = size
            earlier = np.broadcast_to(np.arange(size_of(before.shape)).reshape(axes), x.shape)
        elif eqn.name in ("reshape", "squeeze", "expand_dims") and eqn.params.get("dimensions") in (None, ()):
            earlier = np.arange(size_of(before.shape)).reshape(x.shape)
        else:
            break
        places = earlier.reshape(-1)[places]
        x = before
    return x, places


def _values_to_rows(numbers: Var, origins: np.ndarray, constant: np.ndarray, rows: np.ndarray) -> np.ndarray | None:
    """[numbers, values] the row of each value, or None if a number may be equal to several elements."""
    low, high = int(constant.min()), int(constant.max())
    count = size_of(numbers.shape)
    if count * (high - low + 1) > MOST_LOOKED_UP or count >= rows.size:
        return None
    table = np.full((count, high - low + 1), -1)
    seen = np.zeros(table.shape, int)
    places = (origins.reshape(-1), constant.reshape(-1).astype(np.int64) - low)
    np.add.at(seen, places, 1)
    if seen.max() > 1:
        return None
    table[places] = rows.reshape(-1)
    return table
