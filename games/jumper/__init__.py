"""Jumper: place a piece, or leave a new one beyond every piece you jump; most pieces on a full board win."""

from __future__ import annotations

import dataclasses

from jax import Array

from boardrl.host import Handwritten
from games.jumper import host, players, text, turns
from games.jumper.features import NAMES, features
from games.jumper.rules import Rules, State


@dataclasses.dataclass(frozen=True)
class Jumper(Rules):
    """The rules, and what is particular to this game: texts, evaluation features, players."""

    def to_text(self, state: State) -> str:
        return text.to_text(self, state)

    def from_text(self, written: str) -> State:
        return text.from_text(self, written)

    def features(self, state: State, player: Array) -> Array:
        """[4] float32: named by `feature_names`."""
        return features(self.size, state, player)

    def count_turns(self, state: State, depth: int, *, distinct: bool, tick: turns.Tick) -> int:
        """Sequences of whole turns by paths, or by distinct boards."""
        return turns.count(self, state, depth, distinct=distinct, tick=tick)

    def host(self) -> Handwritten | None:
        """Bitboards, for boards up to 16×16."""
        return host.facet(self)

    feature_names = NAMES
    strategies = {"corner": players.corner, "linear": players.linear}
    values = {"pieces": players.piece_lead}
