"""TD-Leaf(λ): an evaluator learned from games that a search with it plays against itself.

Each decision's searched value is what the evaluator says of the best line's end, the leaf. Of every seat's decisions
t = 1 … n, v_t being the searched values and v_{n+1} what the seat got in the end,

    Δw = α Σ_t ∇V(leaf_t) Σ_{j ≥ t} λ^{j−t} (v_{j+1} − v_j)

(Baxter, Tridgell and Weaver 1998; for one seat as they have it). Where there are dice, the value rests on several
leaves, each with its probability, and so does the gradient. RootStrap and TreeStrap (Veness et al. 2009) instead move
V of the position, or of every position of the tree above the leaves, towards its searched value.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from boardrl import nets
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.game import TERMINAL, Game
from boardrl.policy import Greedy, Policy
from search import evaluators, kinds, learning, selfplay
from search.learning import Lesson, Setup
from search.player import SearchPlayer
from search.principal import Leaf
from search.searcher import Searcher
from search.selfplay import Decision, Played

ON_HOST = True  # `update` searches, and cannot be traced
# Matches of searches take long, so that there are fewer of them.
SCHEDULE = {"log_every": 5, "evaluate_every": 2000, "evaluate_games": 100, "final_games": 400, "evaluate_opening": 6}

Method = Literal["tdleaf", "rootstrap", "treestrap"]
Kind = Literal["features", "net"]


@dataclasses.dataclass(frozen=True)
class Config:
    games: int = setting(4000, "train until this many games have ended")
    opponents: str = setting("", "must be empty: the search plays against itself")
    method: Method = setting("tdleaf", "what learns from what: tdleaf, rootstrap or treestrap")
    searcher: str = setting("", "who plays; empty: negascout, with dice expectimax, for more players maxn")
    depth: int = setting(3, "turns looked ahead")
    kilobytes: int = setting(4096, "memory of each searcher")
    evaluator: Kind | None = setting(None, "what is learned: features or net; none: features where the game has some")
    hidden: tuple[int, ...] = setting((32,), "hidden layers of a net")
    activation: nets.Activation = setting("tanh", "between the layers of a net")
    decay: float = setting(0.7, "λ: how far ahead a decision learns from")
    learning_rate: float = setting(0.05, "step size")
    falling: bool = setting(True, "let the step size fall to 0 over the training")
    optimizer: learning.Optimizer = setting("adam", "adam, or sgd for plain steps")
    batch: int = setting(40, "games between two steps")
    opening: int = setting(10, "at most how many moves at random a game begins with")
    epsilon: float = setting(0.0, "how often a later move is made at random")


class TrainState(NamedTuple):
    params: Any
    momentum: Any  # of the optimizer
    key: Array  # raw key data: with a game's number it decides all that is random in it
    games: Array  # [] int32: played so far
    updates: Array  # [] int32


def check(config: Config, game: Game[Any]) -> None:
    """Refuses settings that make no sense, in one sentence."""
    for name, (low, high) in {"decay": (0, 1), "epsilon": (0, 1), "learning_rate": (0, 1)}.items():
        if not low <= getattr(config, name) <= high:
            raise UserError(f"--{name}={getattr(config, name)} is out of range: expected {low} to {high}")
    for name, least in {"games": 1, "batch": 1, "depth": 1, "kilobytes": 1, "opening": 0}.items():
        if getattr(config, name) < least:
            raise UserError(f"--{name}={getattr(config, name)} is too small: expected at least {least}")
    if config.opponents:
        raise UserError(f"--opponents={config.opponents} cannot be seated: tdleaf plays against itself; leave it out")
    check_evaluator(config.evaluator, config.hidden, game)
    kinds.find(setup_of(config, game).searcher).refuse(setup_of(config, game).searcher, game)


def check_evaluator(evaluator: Kind | None, hidden: tuple[int, ...], game: Game[Any]) -> None:
    if evaluator == "features" and not hasattr(game, "features"):
        raise UserError(f"{game.spec.name} offers no features to weigh; give --evaluator=net")
    if min(hidden, default=1) < 1:
        raise UserError(f"--hidden={'+'.join(map(str, hidden))} has a layer without units: expected like 64+64")


def setup_of(config: Config, game: Game[Any]) -> Setup:
    """How positions are searched."""
    weighs = config.evaluator == "features" or (config.evaluator is None and hasattr(game, "features"))
    return Setup(
        game,
        config.searcher or learning.searcher_for(game),
        config.depth,
        config.kilobytes,
        None if weighs else config.hidden,
        config.activation,
    )


def init(config: Config, game: Game[Any], key: Array) -> TrainState:
    key_value, key_play = jax.random.split(key)
    params = learning.value_of(setup_of(config, game)).init(key_value)
    momentum = learning.transformation(config.optimizer).init(params)
    return TrainState(params, momentum, jax.random.key_data(key_play), jnp.int32(0), jnp.int32(0))


def update(
    config: Config, game: Game[Any], opponents: tuple[Policy, ...], state: TrainState
) -> tuple[TrainState, dict[str, Array]]:
    """Plays a batch of games, then takes one step along what they taught."""
    setup = setup_of(config, game)
    pool = learning.pool_of(setup)
    params, key, first = jax.device_get((state.params, state.key, state.games))
    pool.load(params)
    taught = pool.map(functools.partial(play, config, key), range(int(first), int(first) + config.batch))
    lessons = [lesson for lessons in taught for lesson in lessons]
    left = max(1 - int(first) / config.games, 0.0) if config.falling else 1.0
    new_params, momentum, metrics = learning.step(
        learning.value_of(setup),
        config.optimizer,
        state.params,
        state.momentum,
        learning.batch_of(pool.searchers[0].facet, lessons),
        jnp.float32(config.learning_rate * left),
    )
    after = TrainState(new_params, momentum, state.key, state.games + config.batch, state.updates + 1)
    return after, {**metrics, "lessons": jnp.float32(len(lessons))}


def play(config: Config, key: np.ndarray, searcher: Searcher, number: int) -> list[Lesson]:
    """What the game of that number teaches."""
    rng = np.random.default_rng([*key.tolist(), number])
    played = selfplay.play(searcher, rng, opening=config.opening, epsilon=config.epsilon)
    if config.method == "tdleaf":
        return leaf_lessons(played, config.decay)
    if config.method == "rootstrap":
        return [root_lesson(searcher, decision) for decision in played.decisions]
    return [lesson for decision in played.decisions for lesson in tree_lessons(searcher, decision, config.depth)]


def leaf_lessons(played: Played, decay: float) -> list[Lesson]:
    """A lesson for each decision: v_t should be v_t + Σ_{j ≥ t} λ^{j−t} (v_{j+1} − v_j), among the seat's own.

    A move made at random ends the sum: what follows it is not what the searched value speaks of.
    """
    lessons = []
    for seat, got in enumerate(played.returns):
        own = [decision for decision in played.decisions if decision.seat == seat]
        following, total = float(got), 0.0
        for decision in reversed(own):
            total = 0.0 if decision.explored else following - decision.value + decay * total
            lessons.append(Lesson(seat, decision.leaves, decision.value, decision.value + total))
            following = decision.value
    return lessons


def root_lesson(searcher: Searcher, decision: Decision) -> Lesson:
    """RootStrap: the position itself should be worth what the search found."""
    now = float(searcher.evaluate(decision.row)[decision.seat])
    return Lesson(decision.seat, [Leaf(decision.row, 1.0)], now, decision.value)


def tree_lessons(searcher: Searcher, decision: Decision, depth: int) -> list[Lesson]:
    """TreeStrap: so should every position above the leaves, as the one who searches sees it."""
    searcher.search_row(decision.row)  # so that what follows is in this seat's view
    return list(_tree(searcher, decision.seat, decision.row, depth))


def _tree(searcher: Searcher, seat: int, row: np.ndarray, depth: int) -> Iterator[Lesson]:
    facet, work = searcher.facet, searcher.memory.work
    who = int(facet.actor(row, work))
    target = searcher.again(row, depth).value
    now = float(searcher.evaluate(row)[seat])
    yield Lesson(seat, [Leaf(row, 1.0)], now, target)
    if who < 0:
        return  # what follows the dice is left to the dice
    rows = searcher.memory.rows
    below = rows[1 : 1 + facet.successors(row, rows[1:], work)].copy()
    for after in below:
        then = int(facet.actor(after, work))
        left = depth - (then != who)
        if left > 0 and then != TERMINAL:
            yield from _tree(searcher, seat, after, left)


def value(config: Config, game: Game[Any]) -> Any:
    """The function that was learned."""
    return learning.value_of(setup_of(config, game))


def policy(config: Config, game: Game[Any], state: TrainState) -> Policy:
    """The player that takes the action whose afterstate has the highest value."""
    return Policy(Greedy(game, value(config, game)), state.params)


def player(config: Config, game: Game[Any], state: TrainState) -> SearchPlayer:
    """The player that searches as deep as in training: what plays in matches."""
    setup = setup_of(config, game)
    evaluator, facet = evaluators.learned(game, learning.value_of(setup), jax.device_get(state.params))
    return SearchPlayer(learning.make_searcher(setup, evaluator, facet))
