"""What a searcher declares: its kernel and options, the games that it plays, how its kernel's values are read.

Each file of a search ends with its declaration, which its package registers in the entry point group
`boardrl.searchers` under its name. Nothing else knows which searchers there are.
"""

from __future__ import annotations

import dataclasses
import importlib
import types
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from boardrl.config import setting
from boardrl.game import Spec

if TYPE_CHECKING:
    from search.kernel.tree import Arrays
    from search.searcher import Searcher


class SearchKernel(Protocol):
    """A kernel compiled for one game, as `search.searcher.Searcher` calls it."""

    def search(self, control: np.ndarray, depth: int, alpha: float, beta: float) -> float:
        """The value of the position in rows[0] to that depth; outside of the window (alpha, beta) a bound of it."""


class TreeKernel(Protocol):
    """A kernel compiled for one game, as `search.tree_searcher.TreeSearcher` calls it."""

    def search(self, control: np.ndarray, tree: Arrays, depth: int, exploration: float, seed: np.uint64) -> None:
        """Simulates until a limit of the control block is reached; the tree holds what was found."""


@dataclasses.dataclass(frozen=True)
class Deepening:
    """Options of every searcher by depth."""

    deepening: bool = setting(True, "search to depth 1, 2, … until the budget is used up; else to the depth at once")


@dataclasses.dataclass(frozen=True)
class Declaration:
    """All that distinguishes one searcher from another."""

    name: str  # the same as in the entry point
    kernel: str  # the module with its compiled code: `__name__` in the kernel's own file
    searcher: type[Searcher]  # what runs the kernel: `Searcher` by iterative deepening, `TreeSearcher` by simulations
    options: type = Deepening  # a frozen dataclass
    flags: Callable[[Any], Sequence[int]] = lambda options: ()  # options as numbers, for the kernel's control block
    constants: Callable[[Spec], Mapping[str, Any]] = lambda spec: {}  # of the kernel that depend on the game
    slots: Mapping[str, str] = dataclasses.field(default_factory=dict)  # slots of the kernel: modules that fill them
    score_columns: Callable[[Spec], int] = lambda spec: 0  # float64s that the kernel keeps beside each row

    # Which games it plays.
    num_players: int | None = None  # none: any number
    returns: Literal["any", "fixed_sum", "zero_sum"] = "any"
    dice: bool = True  # whether it sees through chance nodes

    # How its values are read.
    to_actor: bool = False  # whether a value is to who acts (negamax); else to the seat that searches
    values_column: int | None = None  # column of scores[0] from which on it leaves a value to each player; none: it
    # returns one value, and the other players share what is left of the sum of the returns

    samples: bool = False  # whether it is made of random simulations, so that it has no end of its own
    playouts: int = 8  # random games that value a position by default, in games that bring no evaluation

    @property
    def module(self) -> types.ModuleType:
        """The kernel, not yet compiled for a game."""
        return importlib.import_module(self.kernel)

    def fillings(self) -> dict[str, types.ModuleType]:
        """What fills the slots that this searcher fills itself."""
        return {name: importlib.import_module(filling) for name, filling in self.slots.items()}

    def to_searching_seat(self, value: float, seat: int, who: int) -> float:
        """What the kernel returns, as a value to the seat that searches, where `who` acts."""
        return -value if self.to_actor and who != seat else value

    def vector(self, value: float, scores: np.ndarray, seat: int, spec: Spec) -> np.ndarray:
        """[P] values to all players, from a value to the seat that searches and the scores that the kernel left."""
        if self.values_column is not None:
            return scores[0, self.values_column :].copy()
        return against_the_rest(value, seat, spec)

    def leaf_vector(self, values: np.ndarray, seat: int, spec: Spec) -> np.ndarray:
        """[P] values of a leaf as this searcher sees them: all of them, or only the one of the seat that searches."""
        if self.values_column is not None:
            return values.astype(np.float64)
        return against_the_rest(float(values[seat]), seat, spec)


def against_the_rest(value: float, seat: int, spec: Spec) -> np.ndarray:
    """[P] values: that of one seat, and to each of the others an equal share of what is left of the sum of returns."""
    assert spec.return_sum is not None
    values = np.full(spec.num_players, (spec.return_sum - value) / (spec.num_players - 1))
    values[seat] = value
    return values + 0.0  # no -0.0
