"""Settings of `algorithms.td_lambda`, their checks, and the net that they describe."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

from algorithms.learning import optimizers
from algorithms.learning.traces import Loss
from algorithms.self_play import way
from algorithms.settings import checks
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.play.policy import Utility
from boardrl.values import named_nets, nets


@dataclasses.dataclass(frozen=True)
class Config:
    games: int = setting(200_000, "train until this many games have ended")
    opponents: str = setting("", "players that take a seat each, like random,random; empty: all seats learn")
    rotate_opponents: bool = setting(True, "opponents sit elsewhere in each lane; false: in the first seats of all")
    lanes: int = setting(64, "games played side by side")
    shards: int = setting(
        1, "groups of lanes that play and learn at the same time, one thread each; divides --lanes", formerly="parts"
    )
    local_steps: int = setting(
        1, "steps that each shard takes by itself before all go on from their mean; 1: steps of all shards together"
    )
    window: int = setting(8, "turns in every lane for a step of the optimizer")
    thin: int = setting(1, "learn from one of so many successive turns, which are much alike; divides --window")
    net: str = setting("mlp", named_nets.HELP)
    hidden: tuple[int, ...] = setting((128, 128), "units of the hidden layers of mlp, and of the dense layers of conv")
    activation: nets.Activation = setting("relu", "activation function of the hidden layers")
    decay: float = setting(0.7, "λ: 0 learns from the next position alone, 1 from the result alone")
    epsilon: float = setting(0.3, "probability of a random action")
    opening: int = setting(0, "steps at the start of each training game in which all decisions are random")
    learning_rate: float = setting(2e-3, "learning rate at the start")
    anneal_learning_rate: bool = setting(True, "lower the learning rate linearly to 0 over --games", formerly="falling")
    optimizer: optimizers.Optimizer = setting("adam", "adam on the mean gradient, or sgd on the summed gradient")
    momentum: float = setting(0.0, "SGD momentum")
    loss: Loss = setting("cross_entropy", "loss between the net's outputs and the targets")
    encoding: str = setting("", "which of the game's encodings the net is shown; empty: the game's `observe`")
    fixed_seats: bool = setting(False, "output k belongs to seat k; false: to the k-th player after the viewer")
    separate: bool = setting(False, "a sigmoid for each output, even where returns have a fixed sum")
    utility: Utility = setting("own", "what a move maximises: the actor's value, or its margin over all others' sum")
    view: Literal["forward", "backward"] = setting("forward", "λ-returns over a window, or eligibility traces (slower)")
    play: way.Play = setting("auto", way.HELP)
    whole_turns: bool = setting(
        False, "choose turns by the position at their end, not action by action, and learn only those; compiled play"
    )


def check(config: Config, game: Game[Any]) -> None:
    """Refuses settings that make no sense, in one sentence."""
    fractions = ("decay", "epsilon", "learning_rate", "momentum")
    checks.check(config, game, fractions=fractions, counts=("games", "lanes", "shards", "local_steps", "window"))
    checks.check_opening(config)
    checks.check_divides(config, "shards", "lanes")
    checks.check_divides(config, "thin", "window")
    if config.thin > 1 and config.view == "backward":
        raise UserError(f"--thin={config.thin} needs --view=forward, as eligibility traces take every turn")
    checks.check_encoding(config, game)
    net = value_net(config, game)
    named_nets.check(config.net, net.module, net.seen, game.spec.num_players)


def value_net(config: Config, game: Game[Any]) -> nets.ValueNet:
    module = named_nets.make(config.net, game.spec.num_players, hidden=config.hidden, activation=config.activation)
    return nets.ValueNet(game, module, config.encoding, config.fixed_seats, config.separate)
