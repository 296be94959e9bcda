"""TD-Leaf(λ): an evaluator learned from self-play of a search that uses it.

The searched value of a decision is the evaluator's value V of the leaf, the end of the principal variation. Over the
decisions t = 1 … n of one seat, with v_t the searched values and v_{n+1} the seat's return,

    Δw = α Σ_t ∇V(leaf_t) Σ_{j ≥ t} λ^{j−t} (v_{j+1} − v_j)

(Baxter, Tridgell and Weaver 1998; for one seat as they have it). With dice the value is a mean over several leaves,
weighted by probability, and so is the gradient. RootStrap and TreeStrap (Veness et al. 2009) instead move
V of the position, or of every position of the tree above the leaves, towards its searched value.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from jax import Array

from algorithms.by_search import learner, self_play
from algorithms.by_search.learner import RENAMED_LEAVES, TrainState, games_per_update, init, player, policy
from algorithms.by_search.self_play import SelfPlayGame
from algorithms.by_search.targets import RegressionTarget, towards
from algorithms.settings import checks
from boardrl.config import setting
from boardrl.game import TERMINAL, Game
from boardrl.play.policy import Policy
from search.searcher import Searcher

__all__ = [
    "ON_HOST", "RENAMED_LEAVES", "SCHEDULE", "Config", "TrainState", "check", "games_per_update", "init", "player",
    "policy", "update",
]  # fmt: skip

ON_HOST = True  # `update` searches, and cannot be traced
# Matches of searches take long, so that there are fewer of them.
SCHEDULE = {"log_every": 5, "evaluate_every": 3000, "evaluate_games": 100, "final_games": 1000}


@dataclasses.dataclass(frozen=True)
class Config(learner.Config):
    method: Literal["tdleaf", "rootstrap", "treestrap"] = setting(
        "tdleaf",
        "tdleaf: leaves learn from later values; rootstrap: the root, treestrap: the tree, from searched values",
    )
    decay: float = setting(0.7, "λ: 0 learns from the next searched value alone, 1 from the result alone")
    opening: int = setting(10, "the most random moves that a game begins with")
    epsilon: float = setting(0.0, "probability of a random move after the opening")


def check(config: Config, game: Game[Any]) -> None:
    """Refuses settings that make no sense, in one sentence."""
    learner.check(config, game)
    checks.check_fractions(config, ("decay", "epsilon"))
    checks.check_opening(config)


def update(
    config: Config, game: Game[Any], opponents: tuple[Policy, ...], state: TrainState
) -> tuple[TrainState, dict[str, Array]]:
    """Plays a batch of games, then takes one gradient step towards their regression targets."""
    return learner.update(config, game, state, find_targets)


def find_targets(config: Config, searcher: Searcher, rng: np.random.Generator) -> list[RegressionTarget]:
    """The targets of one game of self-play."""
    one = self_play.play(searcher, rng, opening=config.opening, epsilon=config.epsilon)
    if config.method == "tdleaf":
        return leaf_targets(one, config.decay)
    if config.method == "rootstrap":
        return [target for d in one.decisions for target in towards(searcher, d.row, d.value)]
    return [target for d in one.decisions for target in tree_targets(searcher, d.row, config.depth)]


def leaf_targets(one: SelfPlayGame, decay: float) -> list[RegressionTarget]:
    """v_t + Σ_{j ≥ t} λ^{j−t} (v_{j+1} − v_j) for the searched value v_t of each decision, over the seat's own.

    A random move ends the sum: the searched value does not predict what follows it.
    """
    targets = []
    for seat, got in enumerate(one.returns):
        own = [decision for decision in one.decisions if decision.seat == seat]
        following, total = float(got), 0.0
        for decision in reversed(own):
            value = float(decision.value[seat])
            total = 0.0 if decision.explored else following - value + decay * total
            targets.append(RegressionTarget(seat, decision.leaves, value, value + total))
            following = value
    return targets


def tree_targets(searcher: Searcher, row: np.ndarray, depth: int) -> list[RegressionTarget]:
    """TreeStrap: the searched value of every position above the leaves."""
    searcher.search_row(row)  # so that all positions below are seen by the seat to move here
    return list(_tree(searcher, row, depth))


def _tree(searcher: Searcher, row: np.ndarray, depth: int) -> Iterator[RegressionTarget]:
    facet, work = searcher.facet, searcher.memory.work
    who = int(facet.actor(row, work))
    yield from towards(searcher, row, searcher.again(row, depth).value)
    if who < 0:
        return  # chance nodes end the tree
    rows = searcher.memory.rows
    for after in rows[1 : 1 + facet.successors(row, rows[1:], work)].copy():
        then = int(facet.actor(after, work))
        left = depth - (then != who)
        if left > 0 and then != TERMINAL:
            yield from _tree(searcher, after, left)
