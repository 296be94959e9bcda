"""The result of a search."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from boardrl.host import Facet
from search.analysis import turns as lines


class RootMove(NamedTuple):
    """A successor of the position searched, with what the search found of it."""

    row: np.ndarray
    value: np.ndarray  # [P] mean, or exact
    visits: int
    exact: bool


class Result(NamedTuple):
    """The value of a position, the best line, and the cost of finding them; prints as one line."""

    value: np.ndarray  # [P] float64 to each player
    line: list[np.ndarray]  # rows of the best line, from the position searched on
    depth: int  # turns looked ahead in all lines; of simulations, in the best line
    nodes: int  # positions visited, the root and leaves included; or simulations
    milliseconds: float
    bytes: int  # of memory that the search held
    exact: bool  # no better search could change the value
    overflows: int  # positions that were not expanded because memory ran out
    evaluation: str  # what valued the positions where the search ended, like "features" or "playouts(games=8)"
    facet: Facet  # of the rows
    visits: np.ndarray | None = None  # of each successor of the position, in their order; of simulations only

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
