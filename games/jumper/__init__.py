"""Jumper: place a piece, or jump over pieces and leave a new one on each landing; most pieces on a full board win."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Sequence

import rich.text
from jax import Array

from boardrl.drawing import Drawing
from boardrl.values.linear import FeatureSet
from games.jumper import extended, picture, players, text
from games.jumper.features import NAMES, brunton2013, features, own_first
from games.jumper.rules import Rules, State
from games.jumper.symmetry import NUM_SYMMETRIES, symmetric


@dataclasses.dataclass(frozen=True)
class Jumper(Rules):
    """The rules and the optional members: texts, pictures, evaluation features, players."""

    def to_text(self, state: State) -> str:
        return text.to_text(self, state)

    def from_text(self, written: str) -> State:
        return text.from_text(self, written)

    def turn_to_text(self, state: State, actions: Sequence[int]) -> str:
        return text.turn_text(self, actions)

    def move_text(self, state: State, move: int) -> str:
        return text.move_text(self, state, move)

    def draw(self, state: State) -> Drawing:
        return picture.draw(self, state)

    def clicks(self, state: State, action: int) -> list[str]:
        return picture.clicks(self, state, action)

    def routes(self, state: State, move: int) -> dict[str, list[tuple[float, float]]]:
        return picture.routes(self, state, move)

    def show(self, state: State) -> rich.text.Text:
        return picture.show(self, state)

    def features(self, state: State, player: Array) -> Array:
        """[4] float32: named by `feature_names`."""
        return features(self.size, state, player)

    num_symmetries = NUM_SYMMETRIES

    def symmetric(self, state: State, number: Array) -> State:
        return symmetric(self.size, state, number)

    feature_names = NAMES
    feature_weights = (0.4, 0.6, 0.0, 0.0)  # the paper's final weights
    feature_sets = {
        "brunton2013": FeatureSet(NAMES, lambda game, state, player: game.features(state, player), feature_weights),
        "extended": FeatureSet(extended.NAMES, extended.extended),
    }
    weight_files = {"best": pathlib.Path(__file__).parent / "weights" / "best.json"}
    named_players = {
        # The paper's fixed weights: its baseline for learning, and its final ones.
        "brunton2013_even": "negascout(depth=3,features=brunton2013,weights=0.5+0.5+0+0)",
        "brunton2013_final": "negascout(depth=3,features=brunton2013,weights=0.4+0.6+0+0)",
        "jumper_best": "negascout(game_ms=15000,kilobytes=1024,learned=best)",
    }
    # Learners by search play against the paper's fixed weights at their own search depth.
    defaults = {
        algorithm: {
            "features": "extended",
            "learning_rate": 2.0,
            "evaluate_against": f"random,brunton2013_even(depth={depth}),brunton2013_final(depth={depth})",
            "evaluate_opening": 6,
        }
        for algorithm, depth in {"tdleaf": 3, "gradient_fit": 2}.items()
    } | {
        "genetic": {
            "games": 40_000,
            "games_per_generation": 400,
            "genome": "weights(depth=1,features=extended)",
            "evaluate_against": "random,brunton2013_even(depth=1),brunton2013_final(depth=1)",
            "evaluate_opening": 6,
            "evaluate_games": 100,
            "final_games": 1_000,
        },
        # The paper's inputs, from the mover's view. Two greedy players would repeat a few games, so each game begins
        # with random moves.
        "td_lambda": {
            "games": 200_000,
            "lanes": 128,
            "window": 8,
            "hidden": (128, 64),
            "encoding": "own_first",
            "decay": 0.8,
            "epsilon": 0.05,
            "opening": 8,
            "learning_rate": 5e-3,
            "evaluate_against": "random,linear(pieces=0.5,safe=0.5)",
            "evaluate_every": 20_000,
            "evaluate_games": 500,
            "evaluate_opening": 6,
        },
    }
    strategies = {"corner": players.corner, "linear": players.linear}
    encodings = {"brunton2013": brunton2013, "own_first": own_first}
    values = {"pieces": players.piece_lead}
