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
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from jax import Array

from algorithms.by_search import learner, self_play
from algorithms.by_search.learner import TrainState, games_per_update, init, player, policy
from algorithms.by_search.self_play import Played
from algorithms.by_search.targets import Lesson, towards
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.game import TERMINAL, Game
from boardrl.play.policy import Policy
from search.searcher import Searcher

__all__ = [
    "ON_HOST", "SCHEDULE", "Config", "TrainState", "check", "games_per_update", "init", "player", "policy", "update",
]  # fmt: skip

ON_HOST = True  # `update` searches, and cannot be traced
# Matches of searches take long, so that there are fewer of them.
SCHEDULE = {"log_every": 5, "evaluate_every": 3000, "evaluate_games": 100, "final_games": 1000}


@dataclasses.dataclass(frozen=True)
class Config(learner.Config):
    method: Literal["tdleaf", "rootstrap", "treestrap"] = setting(
        "tdleaf", "what learns from what: tdleaf, rootstrap or treestrap"
    )
    decay: float = setting(0.7, "λ: how far ahead a decision learns from")
    opening: int = setting(10, "at most how many moves at random a game begins with")
    epsilon: float = setting(0.0, "how often a later move is made at random")


def check(config: Config, game: Game[Any]) -> None:
    """Refuses settings that make no sense, in one sentence."""
    learner.check(config, game)
    for name in ("decay", "epsilon"):
        if not 0 <= getattr(config, name) <= 1:
            raise UserError(f"--{name}={getattr(config, name)} is out of range: expected 0 to 1")
    if config.opening < 0:
        raise UserError(f"--opening={config.opening} is no number of moves: expected 0 or more")


def update(
    config: Config, game: Game[Any], opponents: tuple[Policy, ...], state: TrainState
) -> tuple[TrainState, dict[str, Array]]:
    """Plays a batch of games, then takes one step along what they taught."""

    def teach(searcher: Searcher, rng: np.random.Generator) -> list[Lesson]:
        played = self_play.play(searcher, rng, opening=config.opening, epsilon=config.epsilon)
        if config.method == "tdleaf":
            return leaf_lessons(played, config.decay)
        if config.method == "rootstrap":
            return [lesson for d in played.decisions for lesson in towards(searcher, d.row, d.value)]
        return [lesson for d in played.decisions for lesson in tree_lessons(searcher, d.row, config.depth)]

    return learner.update(config, game, state, teach)


def leaf_lessons(played: Played, decay: float) -> list[Lesson]:
    """A lesson for each decision: v_t should be v_t + Σ_{j ≥ t} λ^{j−t} (v_{j+1} − v_j), among the seat's own.

    A move made at random ends the sum: what follows it is not what the searched value speaks of.
    """
    lessons = []
    for seat, got in enumerate(played.returns):
        own = [decision for decision in played.decisions if decision.seat == seat]
        following, total = float(got), 0.0
        for decision in reversed(own):
            value = float(decision.value[seat])
            total = 0.0 if decision.explored else following - value + decay * total
            lessons.append(Lesson(seat, decision.leaves, value, value + total))
            following = value
    return lessons


def tree_lessons(searcher: Searcher, row: np.ndarray, depth: int) -> list[Lesson]:
    """TreeStrap: every position above the leaves should be worth what the search finds."""
    searcher.search_row(row)  # so that what follows is seen by who is to move here
    return list(_tree(searcher, row, depth))


def _tree(searcher: Searcher, row: np.ndarray, depth: int) -> Iterator[Lesson]:
    facet, work = searcher.facet, searcher.memory.work
    who = int(facet.actor(row, work))
    yield from towards(searcher, row, searcher.again(row, depth).value)
    if who < 0:
        return  # what follows the dice is left to the dice
    rows = searcher.memory.rows
    for after in rows[1 : 1 + facet.successors(row, rows[1:], work)].copy():
        then = int(facet.actor(after, work))
        left = depth - (then != who)
        if left > 0 and then != TERMINAL:
            yield from _tree(searcher, after, left)
