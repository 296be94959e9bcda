"""The host facet of a game: its rules as compiled scalar functions on flat rows, for search and tables.

`of(game)` gives it for every game: lowered from the rules in JAX, or hand-written where the game brings a faster
one. What the functions take is told in `boardrl.host.slots`; they are module-level Numba functions in a module of the
game's own, so that code compiled against them is found again in Numba's cache on disk.

    facet = host.of(game)
    row, after, work = facet.row(game.init()), facet.rows(), facet.work()
    facet.step(row, 4, after, work)
    facet.state(after)

Compiled code that works for every game is a kernel; `specialise(kernel, facet)` puts a game's functions into it.
It does so by source: a copy of the kernel's module that imports from the game's module. Numba can then inline the
rules into the search and keep the result on disk. The other ways are worse: functions closed over by others are
never found in the cache again, and a call through a function pointer cannot be inlined (pig's `actor` on a row of
a stack: 43 ns instead of 3).
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import inspect
import re
import types
import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
from numba.core.dispatcher import Dispatcher

from boardrl import optional
from boardrl.game import Game, State, acting
from boardrl.host import masks
from boardrl.lowering import Argument, Function, Layout, Successors, lower_module
from boardrl.lowering import cache as lowering_cache
from boardrl.lowering.lower import is_number
from boardrl.play.policy import Value


class SlowHostWarning(UserWarning):
    """Some function of a game has no host code and runs in JAX."""


@dataclasses.dataclass(frozen=True, eq=False)
class Facet:
    """A game's compiled functions, and the way from its states to rows and back."""

    game: Game[Any]
    module: types.ModuleType  # has the functions and constants of `boardrl.host.slots`
    pack: Callable[[Any], np.ndarray]  # a state, or a batch of states, to rows
    unpack: Callable[[np.ndarray], Any]  # and back
    refused: Mapping[str, str]  # functions that run in JAX, slowly, and why
    turn_of: Callable[[Any, Any], list[int]] | None = None  # from state to state, where successors are whole turns
    feature_sets: Mapping[str, types.ModuleType] = dataclasses.field(default_factory=dict)  # compiled, by their names

    def row(self, state: Any) -> np.ndarray:
        """[WORDS] the row of a state; of a batch of states [B, WORDS]."""
        return self.pack(state)

    def state(self, row: np.ndarray) -> Any:
        """The state of a row, with NumPy arrays as leaves; of [B, WORDS] rows a batch of states."""
        return self.unpack(row)

    def rows(self, *batch: int) -> np.ndarray:
        """[*batch, WORDS] zeroed rows."""
        return np.zeros((*batch, self.module.WORDS), np.uint64)

    def work(self) -> np.ndarray:
        """Scratch memory for one thread."""
        return np.zeros(self.module.WORK_WORDS, np.uint64)

    def mask(self, *batch: int) -> np.ndarray:
        """[*batch, MASK_WORDS] memory for what is legal."""
        return np.zeros((*batch, self.module.MASK_WORDS), np.uint64)

    def actions(self, row: np.ndarray) -> np.ndarray:
        """[N] the legal actions in a row."""
        mask = self.mask()
        self.legal(row, mask, self.work())
        return np.flatnonzero(masks.unpack(mask, self.module.NUM_ACTIONS))

    def turn(self, row: np.ndarray, after: np.ndarray) -> list[int]:
        """The actions that lead from a row to one of its successors."""
        if self.turn_of is not None:
            return self.turn_of(self.state(row), self.state(after))
        out, work = self.rows(), self.work()
        for action in self.actions(row):
            self.step(row, int(action), out, work)
            if (out == after).all():
                return [int(action)]
        raise ValueError("the second row is no successor of the first")

    def __getattr__(self, name: str) -> Any:
        if name in FUNCTIONS:
            return getattr(self.module, name)
        raise AttributeError(f"a facet has no {name!r}")


FUNCTIONS = (
    *("init", "actor", "legal", "chance", "step", "act", "settle", "successors"),
    *("returns", "observe", "features", "symmetric", "key"),
)


FAST_PATHS = ("act", "settle")  # what `step` does at decisions and at chance nodes


@dataclasses.dataclass(frozen=True)
class Handwritten:
    """What a game gives under `host(self)` to bring its own facet; it may give None where it has none.

    Attributes:
      kernel: a module with the functions and constants of `boardrl.host.slots`, written with Numba; `act` and `settle`
        may be left out.
      constants: {name: value} for the module's own constants, such as a board's size; each game with other values
        gets a copy of the module, compiled for them.
      pack, unpack: states, or batches of states, to rows and back.
      turn_of: the actions that lead from a state to the state of a successor; needed where successors are whole
        turns.
      feature_sets: modules with `NUM_FEATURES` and `features`, by the names of the game's feature sets.
    """

    kernel: types.ModuleType
    constants: Mapping[str, Any]
    pack: Callable[[Any], np.ndarray]
    unpack: Callable[[np.ndarray], Any]
    turn_of: Callable[[Any, Any], list[int]] | None = None
    feature_sets: Mapping[str, types.ModuleType] = dataclasses.field(default_factory=dict)


def of(game: Game[Any]) -> Facet:
    """The game's facet: its own if it brings one, else lowered from its rules."""
    return _of(cast(Hashable, game))


def lowered(game: Game[Any]) -> Facet:
    """The facet compiled from the rules in JAX, whether or not the game brings its own."""
    return _lowered(cast(Hashable, game))


@functools.cache
def _of(game: Any) -> Facet:
    own = optional.host(game)
    if own is not None:
        module = _copy(own.kernel, f"{game.spec.name}_host", {**constants(game), **own.constants}, {})
        for name in FAST_PATHS:
            vars(module).setdefault(name, module.step)
        # Copies, as their names tell what was compiled.
        sets = {name: _copy(part, f"{game.spec.name}_{name}", {}, {}) for name, part in own.feature_sets.items()}
        return Facet(game, module, own.pack, own.unpack, {}, own.turn_of, sets)
    return lowered(game)


@functools.cache
def _lowered(game: Any) -> Facet:
    state = jax.tree.map(jnp.asarray, game.init())
    layout = Layout(state, "row")
    functions = _functions(game, state)
    walk = Successors(
        game.legal,
        acting(game),
        state,
        first=optional.tried_first(game),
        title=f"{type(game).__name__}",
    )
    module, _ = lower_module(
        game.spec.name, functions, extra=_constants_and_key(game, state), spare=_spare, successors=walk
    )
    if module.REFUSED:
        _IN_JAX[module.__name__] = {name: _JaxCall(functions[name], layout) for name in module.REFUSED}
        sentence = f"{next(iter(module.REFUSED.values()))}; the game runs on through JAX, much slower"
        warnings.warn(sentence, SlowHostWarning, stacklevel=5)
    return Facet(game, module, layout.pack, layout.unpack, module.REFUSED)


def _functions(game: Game[Any], state: Any) -> dict[str, Function]:
    """What is lowered of a game."""
    row, number = Argument("row", state), jnp.int32(0)
    title = f"{type(game).__name__}."
    functions = {
        "actor": Function(game.actor, [row], title=title + "actor"),
        "legal": Function(game.legal, [row], "mask", title + "legal"),
        "chance": Function(game.chance, [row], "probs", title + "chance"),
        "step": Function(game.step, [row, Argument("move", number)], title=title + "step"),
        "returns": Function(game.returns, [row], title=title + "returns"),
        "observe": Function(game.observe, [row, Argument("player", number)], title=title + "observe"),
    }
    for name, path in _fast_paths(game).items():
        functions[name] = Function(path, [row, Argument("move", number)], title=title + name)
    if (features := optional.features(game)) is not None:
        functions["features"] = Function(features, [row, Argument("player", number)], title=title + "features")
    if (symmetric := optional.symmetric(game)) is not None:
        functions["symmetric"] = Function(symmetric, [row, Argument("number", number)], title=title + "symmetric")
    return functions


def constants(game: Game[Any]) -> dict[str, int]:
    """The numbers of `boardrl.host.slots` that follow from the game's spec."""
    spec = game.spec
    numbers = {
        "NUM_PLAYERS": spec.num_players,
        "NUM_ACTIONS": spec.num_actions,
        "MASK_WORDS": masks.num_words(spec.num_actions),
        "NUM_OUTCOMES": spec.num_outcomes,
        "MAX_STEPS": spec.max_steps,
        "OBS_SIZE": int(np.prod(spec.obs_shape, dtype=np.int64)),
        "NUM_FEATURES": 0,
        "NUM_SYMMETRIES": optional.num_symmetries(game),
    }
    if (features := optional.features(game)) is not None:
        numbers["NUM_FEATURES"] = jax.eval_shape(features, game.init(), jnp.int32(0)).shape[0]
    return numbers


def _constants_and_key(game: Game[Any], state: Any) -> str:
    """The source of the constants, of `init` and of `key`."""
    layout = Layout(state, "row")
    first = layout.pack(state)
    lines = [f"{name} = {value}" for name, value in {"WORDS": layout.num_words, **constants(game)}.items()]
    lines.append(f"FIRST = np.array({first.tolist()}, np.uint64)")
    zeros = _negative_zeros(layout)
    word = "words[i]"
    if any(low or high for low, high in zeros):  # -0.0 equals 0.0, so it must have the same key
        lines.append(f"LOW_ZERO = np.array({[low for low, _ in zeros]}, np.uint64)")
        lines.append(f"HIGH_ZERO = np.array({[high for _, high in zeros]}, np.uint64)")
        word = "without_negative_zeros(words[i], LOW_ZERO[i], HIGH_ZERO[i])"
    lines.insert(0, "from boardrl.host.masks import next_set\n")
    source = "\n".join(lines) + KEY_SOURCE.format(words=layout.num_words, word=word) + SUCCESSORS_SOURCE
    return source + "".join(STEP_SOURCE.format(name=name) for name in FAST_PATHS if name not in _fast_paths(game))


def _fast_paths(game: Game[State]) -> dict[str, Callable[[State, jax.Array], State]]:
    """Those of FAST_PATHS that the game offers."""
    paths = {"act": optional.act(game), "settle": optional.settle(game)}
    return {name: path for name, path in paths.items() if path is not None}


KEY_SOURCE = '''


@njit(**OPTIONS)
def init(row):
    """Writes the first state."""
    for i in range({words}):
        row[i] = FIRST[i]


@njit(**OPTIONS)
def key(row):
    """64 well-mixed bits: each word is taken in by steps that lose nothing.

    Two rounds a word: after one, high bits of a word reach too few others, and those of the next can undo them.
    """
    words = pointer(row, 0, u64)
    mixed = u64(0x9E3779B97F4A7C15)
    for i in range({words}):
        mixed = (mixed ^ {word}) * u64(0xD6E8FEB86659FD93)
        mixed = (mixed ^ (mixed >> u64(32))) * u64(0xFF51AFD7ED558CCD)
        mixed ^= mixed >> u64(29)
    mixed *= u64(0xC4CEB9FE1A85EC53)
    return mixed ^ (mixed >> u64(32))
'''


# The mask of what is legal lies behind the workspace of the rules. Where `legal` and `act` could be lowered, a
# function further down takes the place of this one.
SUCCESSORS_SOURCE = '''

LEGAL_AT = WORK_WORDS
TRUNCATED = LEGAL_AT + MASK_WORDS
WORK_WORDS = TRUNCATED + 1
ROOM = NUM_ACTIONS


@njit(**OPTIONS)
def successors(row, buffer, work):
    """Writes the rows after each legal action, and returns how many."""
    mask = work[LEGAL_AT:]
    legal(row, mask, work)
    count, action = 0, next_set(mask, MASK_WORDS, 0)
    while action >= 0:
        act(row, action, buffer[count], work)
        count += 1
        action = next_set(mask, MASK_WORDS, action + 1)
    return count
'''


# Of games that offer no fast path for one kind of node.
STEP_SOURCE = '''

@njit(**OPTIONS)
def {name}(row, move, out, work):
    """What `step` does."""
    step(row, move, out, work)
'''


def _negative_zeros(layout: Layout) -> list[tuple[int, int]]:
    """For each word what `without_negative_zeros` must know of it."""
    masks = np.zeros((layout.num_words, 2), np.uint64)
    for leaf in layout.leaves:
        if leaf.dtype.kind == "f":
            for place in range(leaf.offset, leaf.offset + leaf.num_bytes, leaf.dtype.itemsize):
                if leaf.dtype.itemsize == 8:
                    masks[place // 8] = 1, 1 << 63
                else:
                    half = place % 8 // 4
                    masks[place // 8, half] = 1 << 63 if half else 1 << 31
    return [(int(low), int(high)) for low, high in masks]


# Functions that cannot be lowered run in JAX.

_IN_JAX: dict[str, dict[str, _JaxCall]] = {}  # by module and function


class _JaxCall:
    """A function on rows that asks JAX."""

    def __init__(self, function: Function, layout: Layout) -> None:
        self.call = jax.jit(function.call)
        self.layout = layout

    def __call__(self, row: np.ndarray, *rest: Any) -> Any:
        *numbers, out = rest if rest else (None,)
        result = self.call(self.layout.unpack(row), *(jnp.int32(n) for n in numbers))
        if out is None:
            return int(result)
        if out.dtype == np.uint64 and jax.tree.structure(result) == self.layout.treedef:
            out[:] = self.layout.pack(result)
        elif out.dtype == np.uint64:
            out[: masks.num_words(result.size)] = masks.pack(np.asarray(result))
        else:
            out[:] = np.asarray(result).reshape(-1)
        return None


def in_jax(module: str, name: str, *args: Any) -> Any:
    """Called by emitted modules for functions that were refused."""
    return _IN_JAX[module][name](*args)


def _spare(name: str, function: Function, layouts: Sequence[Layout], reason: str) -> str:
    """The source of a function that leaves compiled code and asks JAX."""
    names = [argument.name for argument in function.arguments]
    if is_number(layouts[-1]):
        head, start, end = names, 'with objmode(value="int32"):\n        value = ', "\n    return value"
    else:
        head, start, end = [*names, function.result], "with objmode():\n        ", ""
    return (
        "from boardrl.host import in_jax\nfrom numba import objmode\n\n\n"
        f"@njit\ndef {name}({', '.join([*head, 'work'])}):\n"
        f'    """Runs in JAX: {reason}."""\n'
        f'    {start}in_jax(__name__, "{name}", {", ".join(head)}){end}\n'
    )


# Values and kernels


@dataclasses.dataclass(frozen=True, eq=False)
class Evaluator:
    """A compiled evaluation of positions; its parameters are data."""

    module: types.ModuleType  # has what `boardrl.host.value_slots` tells
    layout: Layout

    def params(self, params: Any) -> np.ndarray:
        """The parameters as the flat array that `evaluate` takes."""
        return self.layout.pack(params)

    def work(self) -> np.ndarray:
        """Scratch memory for one thread."""
        return np.zeros(self.module.EVALUATOR_WORDS, np.uint64)


def lower_value(value: Value, params: Any, game: Game[Any]) -> Evaluator:
    """Compiles value(params, state, player) -> [P] for rows of the game's lowered facet.

    Args:
      params: an example; other parameters of the same shapes need no new code.
    """
    state = jax.tree.map(jnp.asarray, game.init())
    arguments = [Argument("params", params), Argument("row", state), Argument("player", jnp.int32(0))]
    function = Function(value, arguments, title=f"the value of {game.spec.name}")
    module, layouts = lower_module(
        f"{game.spec.name}_value", {"evaluate": function}, extra="EVALUATOR_WORDS = WORK_WORDS\n"
    )
    return Evaluator(module, layouts["evaluate"][0])


def specialise(
    kernel: types.ModuleType,
    facet: Facet,
    *,
    evaluator: types.ModuleType | None = None,
    parts: Mapping[str, types.ModuleType] | None = None,
    **constants: Any,
) -> types.ModuleType:
    """A copy of a kernel's module that works on one game.

    Its imports from `boardrl.host.slots` are taken from the game's module, those from `boardrl.host.value_slots` from
    that of the evaluator, those from modules named in `parts` from the modules given there, and `constants` replace the
    kernel's module-level constants of those names. The copy is kept in the cache of emitted modules, and so is what
    Numba makes of it.
    """
    name = f"{kernel.__name__.rpartition('.')[2]}_{facet.game.spec.name}"
    imports = {"boardrl.host.slots": facet.module.__name__}
    if evaluator is not None:
        imports["boardrl.host.value_slots"] = evaluator.__name__
    imports |= {placeholder: module.__name__ for placeholder, module in (parts or {}).items()}
    return _copy(kernel, name, constants, imports)


def _copy(
    kernel: types.ModuleType, name: str, constants: Mapping[str, Any], imports: Mapping[str, str]
) -> types.ModuleType:
    source = inspect.getsource(kernel)
    for constant, value in constants.items():
        source, count = re.subn(rf"^{constant}\b[^=\n]*=.*$", f"{constant} = {value!r}", source, flags=re.MULTILINE)
        if count != 1:
            source += f"\n{constant} = {value!r}\n"
    for before, after in imports.items():
        source = re.sub(rf"\bfrom {re.escape(before)} import", f"from {after} import", source)
    # Numba does not look at what a function calls: code that the kernel shares with others is part of the name.
    key = lowering_cache.module_name(name, source, *_sources(kernel, set()))
    return lowering_cache.find(key) or lowering_cache.write(key, source)


def _sources(module: types.ModuleType, seen: set[str]) -> Iterator[str]:
    """Digests of the modules whose compiled functions a module uses."""
    seen.add(module.__name__)
    for value in vars(module).values():
        other = inspect.getmodule(value.py_func) if isinstance(value, Dispatcher) else None
        if other is not None and other.__name__ not in seen and not other.__name__.startswith("numba"):
            yield hashlib.sha256(inspect.getsource(other).encode()).hexdigest()
            yield from _sources(other, seen)
