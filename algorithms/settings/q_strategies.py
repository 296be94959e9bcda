"""Settings of `algorithms.q_strategies`."""

from __future__ import annotations

import dataclasses

from algorithms.learning import optimizers
from boardrl.config import setting
from boardrl.values import nets


@dataclasses.dataclass(frozen=True)
class Config:
    games: int = setting(100_000, "train until this many games have ended")
    opponents: str = setting("", "players that take a seat each, like random,random; empty: all seats learn")
    strategies: str = setting("", "scripted players to choose from, joined by commas; empty: all that the game has")
    applicable: bool = setting(
        True, "leave out strategies without a preference among the legal actions, other than random itself"
    )
    lanes: int = setting(64, "games played side by side")
    window: int = setting(16, "turns in every lane between two updates")
    inputs: str = setting("observe", "what the net is shown: observe, or one of the game's encodings")
    hidden: tuple[int, ...] = setting((64,), "units of the net's hidden layers")
    activation: nets.Activation = setting("relu", "activation function of the hidden layers")
    rewards: str = setting("points=1", "reward of each event, like win=1,lose=-1")
    discount: float = setting(1.0, "gamma, per decision of the same player")
    steps: int = setting(1, "n of n-step returns, counted in decisions of the same player")
    epsilon: float = setting(0.9, "probability of a random strategy, at the start")
    epsilon_end: float = setting(0.0, "the same at the end of linear annealing")
    epsilon_games: int = setting(0, "games over which epsilon is annealed; 0: all of --games")
    optimizer: optimizers.Optimizer = setting("adam", "adam, or sgd on the mean gradient, as in the paper")
    learning_rate: float = setting(1e-3, "learning rate alpha at the start")
    learning_rate_end: float = setting(0.0, "the same at the end of linear annealing")
