"""The game of backgammon: its rules and its optional members."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import rich.text

from boardrl.drawing import Drawing
from games.backgammon import picture, text
from games.backgammon.rules import Rules, State


@dataclasses.dataclass(frozen=True)
class Backgammon(Rules):
    """The rules and the optional members: texts and pictures."""

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
