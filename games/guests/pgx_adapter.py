"""The adapter that makes a game of pgx (https://github.com/sotetsuk/pgx) a game of ours."""

from __future__ import annotations

import concurrent.futures
import contextlib
import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from boardrl.errors import UserError
from boardrl.game import TERMINAL, Deterministic, Spec, select

Made = TypeVar("Made")
NEEDS = "needs the package pgx, which is not installed: pip install -e '.[pgx]'"
# Fields of every state of pgx that do not change in a game, or that can be computed from the others.
LEFT_OUT = ("observation", "truncated", "_player_order")


@dataclasses.dataclass(frozen=True)
class Adapter(Deterministic):
    """A two-player game of pgx with perfect information and without dice; subclasses say which.

    A state is pgx's own, without what can be computed (LEFT_OUT). pgx draws who begins; here seat 0 always does.
    `step` calls the rules below pgx's `Env.step`, which adds a penalty for illegal actions and an observation.
    """

    env_id: ClassVar[str]  # in pgx
    max_steps: ClassVar[int]
    narrow: ClassVar[Mapping[str, Any]] = {}  # integer types that suffice for arrays of the state, by field

    def __post_init__(self) -> None:
        self.env  # noqa: B018  says at once that pgx is missing

    @property
    def env(self) -> Any:
        """pgx's environment."""
        return _env(self)

    def make_env(self) -> Any:
        """A new environment of pgx; for subclasses with options."""
        import pgx

        return pgx.make(self.env_id)

    @property
    def spec(self) -> Spec:
        first, shape = _first(self)
        return Spec(
            f"pgx_{self.env_id}",
            num_players=2,
            num_actions=first.legal_action_mask.shape[0],
            num_outcomes=0,
            obs_shape=shape,
            max_steps=self.max_steps,
        )

    def init(self) -> Any:
        return jax.tree.map(jnp.asarray, _first(self)[0])

    def actor(self, state: Any) -> Array:
        return jnp.where(state.terminated, TERMINAL, state.current_player)

    def legal(self, state: Any) -> Array:
        return jnp.asarray(state.legal_action_mask) & ~state.terminated

    def act(self, state: Any, move: Array) -> Any:
        full = self.to_pgx(state)
        with as_in_pgx():
            after = self.env._step(full.replace(_step_count=full._step_count + 1), move, None)
        return self.from_pgx(after)

    def step(self, state: Any, move: Array) -> Any:
        return select(state.terminated, state, self.act(state, move))

    def returns(self, state: Any) -> Array:
        return jnp.where(state.terminated, state.rewards, 0.0)

    def observe(self, state: Any, player: Array) -> Array:
        """pgx's observation: planes of the board from the player's view."""
        with as_in_pgx():
            return self.env._observe(self.to_pgx(state), player).astype(jnp.float32)

    def rotate(self, state: Any) -> Any:
        """The players change their names; who moves and how is untouched."""
        return state.replace(current_player=1 - state.current_player, rewards=state.rewards[::-1])

    def color(self, state: Any) -> Array:
        """[] int32: 0 where the side that began the game is to move."""
        return state._x.color

    def to_pgx(self, state: Any) -> Any:
        """The state as pgx's functions take it."""
        full = jax.tree.map(lambda leaf, like: jnp.asarray(leaf, like.dtype), state, _wide(self))
        if hasattr(full, "_player_order"):
            same = full.current_player == self.color(full)
            full = full.replace(_player_order=jnp.where(same, jnp.int32([0, 1]), jnp.int32([1, 0])))
        full = full.replace(observation=jnp.zeros(()), truncated=jnp.bool_(False))
        if hasattr(getattr(full, "_x", None), "legal_action_mask"):
            full = full.replace(_x=full._x._replace(legal_action_mask=full.legal_action_mask))
        return full

    def from_pgx(self, full: Any) -> Any:
        """The state as it is stored."""
        state = full.replace(**{field: None for field in LEFT_OUT if hasattr(full, field)})
        if hasattr(getattr(state, "_x", None), "legal_action_mask"):  # a second copy
            state = state.replace(_x=state._x._replace(legal_action_mask=None))

        def stored(path: Any, leaf: Array) -> Array:
            return jnp.asarray(leaf).astype(self.narrow.get(path[-1].name.lstrip("_"), leaf.dtype))

        return jax.tree_util.tree_map_with_path(stored, state)


@contextlib.contextmanager
def as_in_pgx() -> Iterator[None]:
    """pgx's code mixes types and ranks, whatever the program around it has set."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


def apart(function: Callable[[], Made]) -> Made:
    """What a function returns on a thread of its own, where no trace is under way.

    Modules of pgx compute tables while they are imported, which must not become part of a trace; under
    `jax.ensure_compile_time_eval`, which forbids that too, JAX compiles every operation of a jitted function by itself.
    """
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


@functools.cache
def _env(game: Adapter) -> Any:
    def make() -> Any:
        with as_in_pgx():
            return game.make_env()

    try:
        return apart(make)
    except ImportError as error:
        if (error.name or "").partition(".")[0] != "pgx":
            raise
        raise UserError(f"the game pgx_{game.env_id} {NEEDS}") from None


@functools.cache
def _first(game: Adapter) -> tuple[Any, tuple[int, ...]]:
    """The first state, and the shape of an observation."""

    def first() -> tuple[Any, tuple[int, ...]]:
        with as_in_pgx():
            full = jax.jit(game.env.init)(jax.random.key(0))
            state = game.from_pgx(full)
            state = select(state.current_player == 0, state, game.rotate(state))
        return jax.tree.map(np.asarray, state), full.observation.shape

    return apart(first)


@functools.cache
def _wide(game: Adapter) -> Any:
    """The types that pgx's functions take, in the structure of a stored state."""

    def shapes() -> Any:
        with as_in_pgx():
            return jax.eval_shape(game.env.init, jax.random.key(0))

    full = apart(shapes)
    full = full.replace(**{field: None for field in LEFT_OUT if hasattr(full, field)})
    if hasattr(getattr(full, "_x", None), "legal_action_mask"):
        full = full.replace(_x=full._x._replace(legal_action_mask=None))
    return full
