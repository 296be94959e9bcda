"""What a search found."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from boardrl.host import Facet
from search import turns as lines


class RootMove(NamedTuple):
    """A successor of the position searched, with what the search found of it."""

    row: np.ndarray
    value: np.ndarray  # [P] mean, or exact
    visits: int
    exact: bool


class Result(NamedTuple):
    """The value of a position, the best line and what it took to find them; prints in a few words."""

    value: np.ndarray  # [P] float64 to each player
    line: list[np.ndarray]  # rows of the best line, the position searched being the first
    depth: int  # turns looked ahead in all lines; of mcts those of the best line
    nodes: int  # positions visited, the root and leaves included; of mcts simulations
    milliseconds: float
    bytes: int  # of memory that the search held
    exact: bool  # no better search could change the value
    overflows: int  # positions left out for want of memory
    evaluation: str  # what valued the positions where the search ended, like "features" or "playouts(games=8)"
    facet: Facet  # that the rows are of
    visits: np.ndarray | None = None  # of each successor of the position, in their order; mcts only

    @property
    def nodes_per_second(self) -> float:
        return self.nodes / max(self.milliseconds, 1e-6) * 1e3

    @property
    def moves(self) -> list[str]:
        """The turns of the best line, in the game's notation."""
        return lines.text(self.facet, self.line)

    def __str__(self) -> str:
        value = " ".join(f"{number:+.6g}" for number in self.value)
        kind = "exact" if self.exact else f"depth {self.depth}, valued by {self.evaluation}"
        return (
            f"value {value} ({kind}), line {', '.join(self.moves) or 'none'}; "
            f"{self.nodes:,} nodes in {self.milliseconds:,.1f} ms"
        )

    def __repr__(self) -> str:
        return f"Result({self})"
