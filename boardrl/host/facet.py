"""The host facet of a game: its rules as compiled scalar functions on flat rows, for search and tables.

`of(game)` lowers it from the rules in JAX. `boardrl.host.slots` documents the functions. They are module-level Numba
functions in a module of the game's own, so that code compiled against them is found again in Numba's cache on disk.

    facet = host.of(game)
    row, after, work = facet.row(game.init()), facet.rows(), facet.work()
    facet.step(row, 4, after, work)
    facet.state(after)
"""

from __future__ import annotations

import dataclasses
import functools
import types
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np

from boardrl import optional
from boardrl.game import CHANCE, Game, State, acting
from boardrl.host import masks
from boardrl.lowering import Argument, Function, Layout, Successors, lower_module
from boardrl.lowering.functions import is_number
from boardrl.values import linear, sparse_observation


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
        """[*batch, MASK_WORDS] zeroed masks for `legal` to write."""
        return np.zeros((*batch, self.module.MASK_WORDS), np.uint64)

    def actions(self, row: np.ndarray) -> np.ndarray:
        """[N] the legal actions in a row."""
        mask = self.mask()
        self.legal(row, mask, self.work())
        return np.flatnonzero(masks.unpack(mask, self.module.NUM_ACTIONS))

    def action(self, row: np.ndarray, after: np.ndarray) -> int:
        """The action that leads from a row to one of its successors."""
        out, work = self.rows(), self.work()
        for action in self.actions(row):
            self.step(row, int(action), out, work)
            if (out == after).all():
                return int(action)
        raise ValueError("the second row is no successor of the first")

    def __getattr__(self, name: str) -> Any:
        if name in FUNCTIONS:
            function = getattr(self.module, name)
            object.__setattr__(self, name, function)  # found at once the next time
            return function
        raise AttributeError(f"a facet has no {name!r}")


FUNCTIONS = (
    *("init", "actor", "legal", "chance", "step", "act", "settle", "successors"),
    *("returns", "observe", "features", "symmetric", "key"),
)


FAST_PATHS = ("act", "settle")  # `step` at decisions, and at chance nodes


def of(game: Game[Any]) -> Facet:
    """The game's facet, compiled from its rules in JAX."""
    return _of(cast(Hashable, game))


@functools.cache
def _of(game: Any) -> Facet:
    state = jax.tree.map(jnp.asarray, game.init())
    layout = Layout(state, "row")
    functions = _functions(game, state)
    successors = Successors(
        game.legal,
        acting(game),
        state,
        first=optional.tried_first(game),
        title=f"{type(game).__name__}",
    )
    module, _ = lower_module(
        game.spec.name, functions, extra=_constants_and_key(game, state), spare=_spare, successors=successors
    )
    if module.REFUSED:
        _IN_JAX[module.__name__] = {name: _JaxCall(functions[name], layout) for name in module.REFUSED}
        sentence = f"{next(iter(module.REFUSED.values()))}; the game runs on through JAX, much slower"
        warnings.warn(sentence, SlowHostWarning, stacklevel=5)
    return Facet(game, module, layout.pack, layout.unpack, module.REFUSED)


def _functions(game: Game[Any], state: Any) -> dict[str, Function]:
    """The functions of a game that are lowered."""
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
    if _is_step_by_paths(game):
        del functions["step"]
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
    if _is_step_by_paths(game):  # without chance, `settle` is what calls `step`
        chance = f"elif who == {CHANCE}:\n        settle(row, move, out, work)\n    " if game.spec.num_outcomes else ""
        source += STEP_BY_PATHS_SOURCE.format(chance=chance)
    return source + "".join(PATH_SOURCE.format(name=name) for name in FAST_PATHS if name not in _fast_paths(game))


def _fast_paths(game: Game[State]) -> dict[str, Callable[[State, jax.Array], State]]:
    """Those of FAST_PATHS that the game offers."""
    paths = {"act": optional.act(game), "settle": optional.settle(game)}
    return {name: path for name, path in paths.items() if path is not None}


def _is_step_by_paths(game: Game[Any]) -> bool:
    """Whether `step` does nothing but what the game's fast paths do, so that its rules are compiled once only."""
    paths = _fast_paths(game)
    return "act" in paths and ("settle" in paths or game.spec.num_outcomes == 0)


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


# The mask of legal actions is stored behind the workspace of the rules. Where `legal` and `act` can be lowered, a
# function further down replaces this one.
SUCCESSORS_SOURCE = '''

LEGAL_AT = WORK_WORDS
WORK_WORDS = LEGAL_AT + MASK_WORDS
ROOM = NUM_ACTIONS
LAZY = False


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


# For games that offer a fast path for each kind of node that they have.
STEP_BY_PATHS_SOURCE = '''

@njit(**OPTIONS)
def step(row, move, out, work):
    """`act` at decisions, `settle` at chance nodes; a terminal state is copied."""
    who = actor(row, work)
    if who >= 0:
        act(row, move, out, work)
    {chance}else:
        for i in range(WORDS):
            out[i] = row[i]
'''


# For games that offer no fast path for one kind of node.
PATH_SOURCE = '''

@njit(**OPTIONS)
def {name}(row, move, out, work):
    """What `step` does."""
    step(row, move, out, work)
'''


def _negative_zeros(layout: Layout) -> list[tuple[int, int]]:
    """For each word of a row, `low_zero` and `high_zero` of `without_negative_zeros`."""
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
    """A function on rows that is computed by JAX."""

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
    """Called by emitted modules for functions that could not be lowered."""
    return _IN_JAX[module][name](*args)


def _spare(name: str, function: Function, layouts: Sequence[Layout], reason: str) -> str:
    """The source of a function that leaves compiled code and calls JAX."""
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


def lower_features(game: Game[Any], name: str = "") -> types.ModuleType:
    """The module with a game's features, or with a set of them (`boardrl.values.linear.find`), for rows of its facet.

    It has `NUM_FEATURES`, `features` and `WORK_WORDS`, as `boardrl.host.slots` tells them.
    """
    return of(game).module if not name else _lower_features(cast(Hashable, game), name)


@functools.cache
def _lower_features(game: Any, name: str) -> types.ModuleType:
    state = jax.tree.map(jnp.asarray, game.init())
    call = functools.partial(linear.find(game, name).function, game)
    number = jax.eval_shape(call, state, jnp.int32(0)).shape[0]
    arguments = [Argument("row", state), Argument("player", jnp.int32(0))]
    function = Function(call, arguments, title=f"features={name} of {game.spec.name}")
    module, _ = lower_module(f"{game.spec.name}_{name}", {"features": function}, extra=f"NUM_FEATURES = {number}\n")
    return module


def lower_inputs(game: Game[Any]) -> types.ModuleType:
    """The module with a game's observation as a list of numbers and their places, for rows of its facet.

    It has `NUM_INPUTS`, `INPUT_WORDS`, `inputs` and `WORK_WORDS`; a place may be listed twice, and numbers may be 0.
    """
    return _lower_inputs(cast(Hashable, game))


@functools.cache
def _lower_inputs(game: Any) -> types.ModuleType:
    state = jax.tree.map(jnp.asarray, game.init())
    size = int(np.prod(game.spec.obs_shape, dtype=np.int64))

    def every(state: Any, player: jax.Array) -> tuple[jax.Array, jax.Array]:
        return jnp.arange(size, dtype=jnp.int32), game.observe(state, player).reshape(size).astype(jnp.float32)

    call = sparse_observation.entries(game) or every
    number = jax.eval_shape(call, state, jnp.int32(0))[0].shape[0]
    function = Function(
        call, [Argument("row", state), Argument("player", jnp.int32(0))], title=f"inputs of {game.spec.name}"
    )
    extra = f"NUM_INPUTS = {number}\nINPUT_WORDS = {number}\n"
    module, _ = lower_module(f"{game.spec.name}_inputs", {"inputs": function}, extra=extra)
    return module
