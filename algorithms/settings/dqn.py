"""Settings of `algorithms.dqn`, their checks, and the net that they describe."""

from __future__ import annotations

import dataclasses
from typing import Any

from algorithms.learning import optimizers, pretraining, q_net, rewards
from algorithms.learning.q_net import QNet
from algorithms.self_play import way
from algorithms.settings import checks
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.values import named_nets, nets


@dataclasses.dataclass(frozen=True)
class Config:
    games: int = setting(30_000, "train until this many games have ended")
    opponents: str = setting("", "players that take a seat each, like random,random; empty: all seats learn")
    lanes: int = setting(16, "games played side by side")
    shards: int = setting(1, "groups of lanes that are played at the same time, each by a worker; divides --lanes")
    window: int = setting(8, "turns in every lane between two updates")
    inputs: str = setting(
        "afterstate",
        "what the net is shown: observe (an output for each action), afterstate, or one of the game's encodings",
    )
    net: str = setting("mlp", named_nets.HELP)
    hidden: tuple[int, ...] = setting((128,), "units of the hidden layers of mlp, and of the dense layers of conv")
    activation: nets.Activation = setting("relu", "activation function of the hidden layers")
    output: q_net.Output = setting("linear", "activation function of the output")
    rewards: str = setting("points=1", "reward of each event, like win=1,lose=-1")
    discount: float = setting(1.0, "gamma, per decision of the same player")
    steps: int = setting(1, "n of n-step returns, counted in decisions of the same player")
    double: bool = setting(True, "double DQN: the net chooses the next action, the target network values it")
    epsilon: float = setting(0.5, "probability of a random action, at the start")
    epsilon_end: float = setting(0.05, "the same at the end of linear annealing")
    epsilon_games: int = setting(0, "games over which epsilon is annealed; 0: all of --games")
    capacity: int = setting(100_000, "size of the replay buffer, in transitions")
    warm_up: int = setting(2_000, "transitions in the replay buffer before learning begins")
    batch: int = setting(256, "transitions of one gradient step; as many as --capacity: all of them")
    learning_steps: int = setting(4, "gradient steps after each window")
    copy_every: int = setting(100, "gradient steps between two copies to the target network")
    optimizer: optimizers.Optimizer = setting("adam", "adam, or sgd on the mean gradient")
    learning_rate: float = setting(1e-3, "learning rate at the start")
    learning_rate_end: float = setting(0.0, "the same at the end of linear annealing")
    pretrain_from: str = setting("", "player whose recorded games the net is fitted to first; empty: no pretraining")
    pretrain_games: int = setting(4, "games to record")
    pretrain_epochs: int = setting(200, "passes over all recorded decisions")
    pretrain_batch: int = setting(50, "decisions of one pretraining step")
    pretrain_learning_rate: float = setting(0.1, "learning rate of pretraining")
    play: way.Play = setting("auto", way.HELP)


def check(config: Config, game: Game[Any]) -> None:
    """Refuses settings that make no sense, in one sentence."""
    rates = ("epsilon", "epsilon_end", "learning_rate", "learning_rate_end", "pretrain_learning_rate")
    sizes = ("capacity", "warm_up", "batch", "learning_steps", "copy_every")
    pretraining_sizes = ("pretrain_games", "pretrain_epochs", "pretrain_batch")
    counts = ("games", "lanes", "shards", "window", "steps", *sizes, *pretraining_sizes)
    checks.check(config, game, fractions=("discount", *rates), counts=counts)
    checks.check_divides(config, "shards", "lanes")
    rewards.parse(config.rewards, game)
    for name in ("warm_up", "batch"):
        if getattr(config, name) > config.capacity:
            raise UserError(f"--{name}={getattr(config, name)} is more than the replay buffer holds: raise --capacity")
    if config.batch == config.capacity > config.warm_up:
        raise UserError(
            f"--batch={config.batch} is the whole replay buffer, so --warm_up={config.warm_up} must be as many"
        )
    net = value_net(config, game)
    named_nets.check(config.net, net.module, net.seen, net.num_outputs)
    pretraining.check(config, game)


def value_net(config: Config, game: Game[Any]) -> QNet:
    return QNet(game, config.inputs, config.hidden, config.activation, config.output, net=config.net)
