"""Gradient-descent fitting: an evaluator moved towards its own searched values of random positions.

    Δw = α Σ (V_d(s) − V(s)) ∇V(s)

V_d is the value that a search of d turns backs up from V at its leaves and from results where the game ends, held
fixed (Brunton and Cohney 2013, section 3.1). Each position is a decision drawn from a game of random moves of its own.

The depth should be even, so that the same seat is to move at the root and at the leaves. Having the move is worth
a good deal in a random position; features that do not show it would have to explain an odd depth otherwise.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from jax import Array

from algorithms.by_search import learner, self_play
from algorithms.by_search.learner import RENAMED_LEAVES, TrainState, check, games_per_update, init, player, policy
from algorithms.by_search.targets import RegressionTarget, towards
from boardrl.config import setting
from boardrl.game import Game
from boardrl.play.policy import Policy
from search.searcher import Searcher

__all__ = [
    "ON_HOST", "RENAMED_LEAVES", "SCHEDULE", "Config", "TrainState", "check", "games_per_update", "init", "player",
    "policy", "update",
]  # fmt: skip

ON_HOST = True  # `update` searches, and cannot be traced
SCHEDULE = {"log_every": 5, "evaluate_every": 20_000, "evaluate_games": 100, "final_games": 1000}


@dataclasses.dataclass(frozen=True)
class Config(learner.Config):
    games: int = setting(40_000, "train until this many positions have been searched, each from a game of its own")
    batch: int = setting(200, "positions between two gradient steps")
    depth: int = setting(2, "search depth in turns; even, so that the same seat is to move at the leaves")


def update(
    config: Config, game: Game[Any], opponents: tuple[Policy, ...], state: TrainState
) -> tuple[TrainState, dict[str, Array]]:
    """Searches a batch of positions, then takes one gradient step towards their searched values."""
    return learner.update(config, game, state, find_targets)


def find_targets(config: Config, searcher: Searcher, rng: np.random.Generator) -> list[RegressionTarget]:
    """The searched value of a random position."""
    row = self_play.random_position(searcher, rng)
    return towards(searcher, row, searcher.search_row(row).value)
