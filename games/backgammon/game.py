"""The game of backgammon: its rules and its optional members."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Sequence
from typing import Any

import rich.text

from boardrl.drawing import Drawing
from games.backgammon import expert, picture, players, text
from games.backgammon.rules import Rules, State

# The net of `backgammon_best`, learned by TD(λ) in self-play.
BEST = pathlib.Path(__file__).parent / "weights" / "best.json"


@dataclasses.dataclass(frozen=True)
class Backgammon(Rules):
    """The rules and the optional members: texts, pictures, players, settings for learning."""

    # As TD-Gammon 2: one hidden layer, what experts count as inputs, no exploration but the dice, values at turn ends.
    defaults = {
        "td_lambda": {
            "games": 700_000,
            "lanes": 64,
            "window": 16,
            "hidden": (128,),
            "encoding": "expert",
            "decay": 0.7,
            "epsilon": 0.0,
            "learning_rate": 3e-3,
            "whole_turns": True,
            "evaluate_against": "random,pubeval",
            "evaluate_every": 100_000,
            "evaluate_games": 200,
            "final_games": 1_000,
        }
    }

    encodings = {"expert": expert.expert}

    host_players = {"pubeval": players.make_pubeval, "gnubg": players.make_gnubg}

    @property
    def named_players(self) -> dict[str, str]:
        """`backgammon_best`: the best position at the end of the turn by the net that comes with the game."""
        return {"backgammon_best": f"expectimax(depth=1,net={BEST})"} if self.gammons else {}

    def to_text(self, state: State) -> str:
        return text.to_text(self, state)

    def from_text(self, written: str) -> State:
        return text.from_text(self, written)

    def move_text(self, state: State, move: Any) -> str:
        return text.move_text(self, state, move)

    def turn_to_text(self, state: State, actions: Sequence[int]) -> str:
        return text.turn_text(self, state, actions)

    def draw(self, state: State) -> Drawing:
        return picture.draw(self, state)

    def show(self, state: State) -> rich.text.Text:
        return picture.show(self, state)
