"""The Game protocol: rules as pure functions on one unbatched state.

Shape letters, used in every docstring of the project:
    B  games played side by side        P  players (seats)
    T  time steps                       A  actions of a player
    N  nodes or rows of a table         C  outcomes of a chance node
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import jax
import jax.numpy as jnp
from jax import Array

from boardrl import optional

CHANCE = -1  # the actor where the dice decide
TERMINAL = -2  # the actor where the game is over

State = TypeVar("State")


@dataclasses.dataclass(frozen=True)
class Spec:
    """What is fixed about a game before it is played."""

    name: str  # snake_case, as on the command line
    num_players: int  # P
    num_actions: int  # A
    num_outcomes: int  # C; 0 in a game without chance
    obs_shape: tuple[int, ...]  # of `observe`, whose entries lie in [-1, 1]
    # No game takes more steps (actions and outcomes). Where the rules alone would let a game go on for ever,
    # a game is cut here and scored by the returns as they stand.
    max_steps: int
    min_return: float = -1.0  # the least and the most that one player can get
    max_return: float = 1.0
    return_sum: float | None = 0.0  # what the returns of a finished game add up to; None: no promise
    running_returns: bool = False  # False: all returns are 0 until the game is over

    @property
    def num_moves(self) -> int:
        """How many different moves `step` takes, actions or outcomes."""
        return max(self.num_actions, self.num_outcomes)

    def within_returns(self, values: Array) -> Array:
        """Values cut to what one player can get: every value of a position is, where it is computed."""
        return jnp.clip(values, self.min_return, self.max_return)


class Game(Protocol[State]):
    """Eight members make a game; from them come training, search, matches and the conformance kit.

    A game is a frozen dataclass whose fields are its options, so that two games with the same options are
    equal and share compiled code. Every function takes one state, not a batch; callers use `jax.vmap`.

    A game may offer more, each asked for by name:
        strategies      {name: f(game, state, **options) -> [A] logits}, players for the command line
        values          {name: f(game, state, player) -> [P] values as that player sees the state, at chance nodes
                        too}, for the player `greedy`
        encodings       {name: f(game, state, player) -> array}, other ways to observe a position
        action_encodings  {name: f(game, state) -> [A, ...]}, what each action of the player to act would do
        events          {name: f(game, before, after, player) -> [] float32}, how often something befell the player in
                        one step from `before` to `after`, of anybody or of the dice, for algorithms.learning.rewards
        event_causes    {name: "own" or "decisions"}, for events that only the player's own decisions bring, or those
                        of all players but never the dice, so that they need not be looked for elsewhere
        defaults        {algorithm: {field: value}}, settings that suit this game, on top of a `preset` if they name one
        presets         {algorithm: {name: {setting: value}}}, settings of papers for `--preset` (boardrl.presets)
        printed         {opponent: {whose: share}}, win rates of papers' learned players to hold a new one against
        settle, act     f(state, move) -> state, what `step` does at chance nodes and at decisions, where it is
                        cheaper to be told which it is; elsewhere they may return anything
        lanes_last      True where many games are stepped faster with the games along the last axis of each array, as
                        rules that are all arithmetic on small arrays are (measure: others can be far slower)
        features, feature_names   f(state, player) -> [F] float32, what a linear evaluation weighs
        feature_sets    {name: boardrl.values.linear.FeatureSet}, others than those
        weight_files    {name: path}, weights of features that the game brings along (boardrl.values.weight_file)
        named_players   {name: text}, players under names of their own, like {"steady": "negascout(depth=3)"}
        host_players    {name: f(*, **options)}, players that run on the host (boardrl.play.players.HostPlayer)
        tried_first     f(state) -> some of [A] bool: actions that searches try before the others, all else being
                        equal; those of the first mask first
        rotate          f(state) -> state, the same position with seat p's part given to seat p + 1
        to_text, from_text   f(state) -> str and back
        turn_to_text    f(state, actions) -> str, a turn's actions in the game's notation; perft then counts turns
        feature_weights   of the features, to begin with
        symmetric       f(state, number) -> state, a mirror image of the same worth, number 0 being the state itself
        num_symmetries  how many there are
        move_text       f(state, move) -> str, an action or an outcome in words, for replays and for humans to choose by
        draw, show      f(state) -> boardrl.drawing.Drawing, and f(state) -> rich.text.Text for a terminal
        clicks          f(state, action) -> names of the cells and pieces of the picture to click to choose an action
        routes          f(state, move) -> {piece: points of the picture that it passes}, for a page that moves it
    """

    @property
    def spec(self) -> Spec: ...

    def init(self) -> State:
        """The first state; a deal or a first roll is a chance node."""

    def actor(self, state: State) -> Array:
        """[] int32: the seat to act, CHANCE or TERMINAL."""

    def legal(self, state: State) -> Array:
        """[A] bool: what the actor may do; at least one action at every decision, none elsewhere."""

    def chance(self, state: State) -> Array:
        """[C] float32: probabilities of the outcomes; they sum to 1 at a chance node and are 0 elsewhere."""

    def step(self, state: State, move: Array) -> State:
        """The state after an action or an outcome, as `actor` says; a terminal state is returned as it is."""

    def returns(self, state: State) -> Array:
        """[P] float32: what each player has got so far."""

    def observe(self, state: State, player: Array) -> Array:
        """[*obs_shape] float32 in [-1, 1]: the state as `player` sees it, at chance nodes too."""


class Deterministic:
    """Mixin for games without chance, which then need no `chance` of their own (`num_outcomes` is 0)."""

    def chance(self, state: Any) -> Array:
        """[0] float32: there are no outcomes."""
        return jnp.zeros(0, jnp.float32)


def acting(game: Game[State]) -> Callable[[State, Array], State]:
    """What `step` does at decisions: the game's own `act`, where it has one."""
    return optional.act(game) or game.step


def settling(game: Game[State]) -> Callable[[State, Array], State]:
    """What `step` does at chance nodes: the game's own `settle`, where it has one."""
    return optional.settle(game) or game.step


def select(condition: Array, yes: State, no: State) -> State:
    """One of two states: a scalar condition picks every leaf."""
    picked: State = jax.tree.map(lambda a, b: jnp.where(condition, a, b), yes, no)
    return picked


def one_hot(index: Array, size: int) -> Array:
    """[size] bool: cheaper under vmap than indexing with a traced value."""
    return jnp.arange(size, dtype=index.dtype) == index


def either(first: Array, second: Array) -> Array:
    """[...] bool: `first | second`, in a form that XLA on a CPU computes four times as fast on whole planes."""
    return jnp.where(first, True, second)


def some(plane: Array) -> Array:
    """[] bool: `plane.any()`, in a form that XLA on a CPU computes three times as fast."""
    return plane.astype(jnp.uint8).max() > 0
