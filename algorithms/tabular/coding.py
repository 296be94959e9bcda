"""Tables of action values over discrete encodings of (state, action), and the compiled play that fills them.

An encoding is integers or truths: one of the game's `action_encodings`, f(game, state) -> [A, ...], or `state`, which
is all that the state holds. Joint: the encodings of all actions together are the key of an entry with A values. Else
the encoding of each action is the key of an entry with one value, shared by all states with such an action.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from algorithms.learning import rewards, seats
from algorithms.tabular import hash_table, q_kernel
from algorithms.tabular.hash_table import Table
from boardrl import host, optional, registry
from boardrl.errors import UserError
from boardrl.game import Game, acting, settling
from boardrl.host import masks
from boardrl.lowering.functions import Argument, Function
from boardrl.lowering.ir import LoweringError
from boardrl.lowering.lower import lower_module
from boardrl.play import players, rollout
from boardrl.play.policy import Policy
from boardrl.system import machine

STATE = "state"  # the encoding that every game has
WORD = 32  # bits
GAMES = 64  # played by a thread before it takes the next ones


@dataclasses.dataclass(frozen=True)
class Coding:
    """How a decision becomes the keys of a table."""

    game: Game[Any]
    encoding: str
    joint: bool
    among: str = ""  # a scripted player: only actions that it does not rule out are considered

    def __post_init__(self) -> None:
        known = [STATE, *optional.action_encodings(self.game)]
        if self.encoding not in known:
            name = self.game.spec.name
            raise UserError(f"unknown encoding {self.encoding!r} of {name}; expected one of {', '.join(known)}")
        kinds = [leaf.dtype for leaf in jax.tree.leaves(self._shapes())]
        if any(jnp.issubdtype(kind, jnp.floating) for kind in kinds):
            raise UserError(
                f"encoding {self.encoding!r} of {self.game.spec.name} has fractions, which are no keys; "
                "expected one of whole numbers or truths"
            )
        if self.encoding == STATE and not self.joint:
            raise UserError(f"encoding {STATE!r} does not tell actions apart: expected joint=true with it")

    @property
    def num_keys(self) -> int:
        return 1 if self.joint else self.game.spec.num_actions

    @property
    def num_values(self) -> int:
        return self.game.spec.num_actions if self.joint else 1

    @functools.cached_property
    def num_words(self) -> int:
        """W; found by tracing, which takes longer than a game."""
        return jax.eval_shape(self.words, self.game.init()).shape[1]

    def words(self, state: Any) -> Array:
        """[K, W] uint32: the keys of the actions; truths share words, every number has its own."""
        leaves = jax.tree.leaves(self._encoded(state))
        arrays = [leaf.reshape(self.num_keys, -1) for leaf in leaves]
        truths = [array for array in arrays if array.dtype == bool]
        numbers = [array.astype(jnp.uint32) for array in arrays if array.dtype != bool]
        return jnp.concatenate([*numbers, *([_packed(jnp.concatenate(truths, 1))] if truths else [])], 1)

    def considered(self, state: Any) -> Array:
        """[A] bool."""
        legal = self.game.legal(state)
        if not self.among:
            return legal
        logits = _script(self.among, self.game)((), state)
        possible = legal & jnp.isfinite(logits)
        return jnp.where(possible.any(), possible, legal)

    def values(self, table: Table, state: Any) -> Array:
        """[A] float32: Q of every action, 0 where nothing was learned."""
        found = jax.vmap(functools.partial(hash_table.lookup, table))(self.words(state))  # [K, V]
        return found.reshape(self.game.spec.num_actions)

    def _encoded(self, state: Any) -> Any:
        if self.encoding == STATE:
            return state
        return optional.action_encodings(self.game)[self.encoding](self.game, state)

    def _shapes(self) -> Any:
        return jax.eval_shape(self._encoded, self.game.init())


@dataclasses.dataclass(frozen=True)
class Best:
    """The first of the considered actions that the table values most."""

    coding: Coding

    def considered(self, state: Any) -> Array:
        """[A] bool."""
        return self.coding.considered(state)

    def __call__(self, params: Table, state: Any) -> Array:
        values = jnp.where(self.coding.considered(state), self.coding.values(params, state), -jnp.inf)
        first = jnp.argmax(values)
        return jnp.where(jnp.arange(values.shape[0]) == first, 0.0, -jnp.inf)


class Book(NamedTuple):
    """What compiled play writes down: decisions of learners, and transitions to the same player's next decision."""

    keys: np.ndarray  # [M, K * W] uint32
    masks: np.ndarray  # [M, MASK_WORDS] uint64: sets of actions, as boardrl.host.masks has them
    actions: np.ndarray  # [M] int32
    rewards: np.ndarray  # [M] float32: all that the player got up to its next decision
    transition_from: np.ndarray  # [M] int32
    transition_to: np.ndarray  # [M] int32, or END
    seats: np.ndarray  # [M] int32
    before: np.ndarray  # [M, WORDS] uint64: the row of the state of the decision
    after: np.ndarray  # [M, WORDS] uint64: and of the state after it


class Page(NamedTuple):
    """A book as far as it was written."""

    book: Book
    num_transitions: int


class Plays(NamedTuple):
    """How games are played, beside the table itself."""

    learners: int  # seats
    rivals: int  # seats
    epsilon: float  # share of decisions that are random
    exclusive: bool = False  # of the rewards that one step brings, only the first counts


class Causes(NamedTuple):
    """The names of the rewarded events, by what can bring them."""

    own: tuple[str, ...]  # the player's own decisions: all of them
    other: tuple[str, ...]  # also those of others
    dice: tuple[str, ...]  # also outcomes


class Kernel(NamedTuple):
    """Compiled play and learning for one coding, some rewards and opponents; use `kernel` to make one."""

    module: Any
    coding: Coding
    causes: Causes

    def play(
        self, table: Table, numbers: range, *, worth: Mapping[str, float], plays: Plays, seed: int
    ) -> Iterator[Page]:
        """The transitions of games in the order of their numbers, played on all cores while earlier ones are used."""
        worths = tuple(np.array([worth[name] for name in names], np.float32) for names in self.causes)

        def play_block(block: range) -> list[Page]:
            pages, first = [], block.start
            while first < block.stop:
                book = self._book()
                arguments = (np.uint64(seed), *plays, worths, tuple(table), tuple(book))
                games, _, num_transitions = self.module.play(first, block.stop, *arguments)
                pages.append(Page(book, num_transitions))
                first += games
            return pages

        with concurrent.futures.ThreadPoolExecutor(machine.num_cores()) as threads:
            for pages in threads.map(play_block, [numbers[n : n + GAMES] for n in range(0, len(numbers), GAMES)]):
                yield from pages

    def _book(self) -> Book:
        spec, coding = self.coding.game.spec, self.coding
        size = max(2 * spec.max_steps, 1 << 14)
        return Book(
            np.empty((size, coding.num_keys * coding.num_words), np.uint32),
            np.empty((size, masks.num_words(spec.num_actions)), np.uint64),
            np.empty(size, np.int32),
            np.empty(size, np.float32),
            np.empty(size, np.int32),
            np.empty(size, np.int32),
            np.empty(size, np.int32),
            np.empty((size, self.module.WORDS), np.uint64),
            np.empty((size, self.module.WORDS), np.uint64),
        )


def kernel(coding: Coding, names: Sequence[str], opponents: Sequence[Policy]) -> Kernel:
    """Play and learning for a game, compiled; from the cache if there."""
    return _kernel(coding, tuple(names), tuple(opponent.apply for opponent in opponents))


@functools.cache
def _kernel(coding: Coding, names: tuple[str, ...], opponents: tuple[Any, ...]) -> Kernel:
    game = coding.game
    # An event need not be looked for in steps that cannot bring it, which are most.
    known = optional.event_causes(game)
    other = tuple(name for name in names if known.get(name) != "own")
    causes = Causes(names, other, tuple(name for name in other if known.get(name) != "decisions"))
    state = jax.tree.map(jnp.asarray, game.init())
    row, move, player = Argument("row", state), Argument("move", jnp.int32(0)), Argument("player", jnp.int32(0))
    steps = [Argument("before", state), Argument("after", state), player]
    functions = {
        "encode": Function(lambda state: coding.words(state).reshape(-1), [row]),
        "allowed": Function(coding.considered, [row]),
        "rival": Function(_opponent_weights(game, opponents), [row, Argument("number", jnp.int32(0))]),
        "settle": Function(settling(game), [row, move]),
        "act": Function(acting(game), [row, move]),
        **{f"{cause}_events": Function(_events(game, some), steps) for cause, some in causes._asdict().items()},
    }
    constants = {
        "NUM_KEYS": coding.num_keys,
        "KEY_WORDS": coding.num_words,
        "NUM_VALUES": coding.num_values,
    }
    extra = "\n".join(["Q_WORDS = WORK_WORDS", *(f"{name} = {value}" for name, value in constants.items())])
    try:
        part, _ = lower_module(f"{game.spec.name}_q", functions, extra=extra + "\n")
    except LoweringError as error:
        raise UserError(f"{registry.describe(game)} cannot be learned in compiled code: {error}") from None
    module = host.specialise(q_kernel, host.of(game), slots={"algorithms.tabular.slots": part})
    return Kernel(module, coding, causes)


def _events(game: Game[Any], names: tuple[str, ...]) -> Callable[[Any, Any, Array], Array]:
    """(before, after, player) -> [E] counts; at least one, as there is no array without."""
    known = rewards.events(game)

    def count(before: Any, after: Any, player: Array) -> Array:
        return jnp.stack([*(known[name](game, before, after, player) for name in names), jnp.float32(0)])

    return count


def _opponent_weights(game: Game[Any], opponents: tuple[Any, ...]) -> Callable[[Any, Array], Array]:
    """(state, number) -> [A] weights of the actions of that opponent."""
    logits = seats.opponent_logits(game, opponents)

    def weights(state: Any, number: Array) -> Array:
        return rollout.action_weights(game, logits(state, number), state)

    return weights


def _script(text: str, game: Game[Any]) -> Callable[[Any, Any], Array]:
    policy = players.make(text, game).policy
    if policy is None or jax.tree.leaves(policy.params):
        raise UserError(f"{text!r} is no scripted player of {game.spec.name}; expected one, like random")
    return policy.apply


def _packed(truths: Array) -> Array:
    """[K, ceil(n / 32)] uint32 from [K, n] bool."""
    num_keys, size = truths.shape
    words = -(-size // WORD)
    filled = jnp.concatenate([truths, jnp.zeros((num_keys, words * WORD - size), bool)], 1)
    filled = filled.reshape(num_keys, words, WORD)
    bits = jnp.uint32(1) << jnp.arange(WORD, dtype=jnp.uint32)
    return jnp.where(filled, bits[None, None], jnp.uint32(0)).sum(2, dtype=jnp.uint32)
