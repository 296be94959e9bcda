"""The budget of a search: time, nodes, depth and memory; and a clock for a whole game."""

from __future__ import annotations

import dataclasses

from boardrl.config import setting
from boardrl.errors import UserError

SHARES = 20  # moves for which a clock keeps time, if the game can be as long
RESERVE_MS = 2.0  # for what a move costs besides searching
MOST_MS = 1e12  # some 30 years: deadlines are 64-bit counts of nanoseconds
MOST_COUNT = 10**18  # fits 64 bits


@dataclasses.dataclass(frozen=True)
class Budget:
    """Limits of the search for one move, in any combination; 0 is no limit."""

    ms: float = setting(0.0, "milliseconds a move; 0: no limit")
    nodes: int = setting(0, "positions visited a move; 0: no limit")
    depth: int = setting(0, "turns looked ahead; 0: to the end of the game")
    kilobytes: int = setting(65536, "memory for everything: stacks, buffers and the table")
    game_ms: float = setting(0.0, "milliseconds for all moves of a game, divided over them; 0: no limit")

    def __post_init__(self) -> None:
        for field in dataclasses.fields(Budget):
            value = getattr(self, field.name)
            least = 1 if field.name == "kilobytes" else 0
            most = MOST_MS if field.type == "float" else MOST_COUNT
            if not least <= value <= most:
                lowest = "1" if least else "0 (no limit)"
                raise UserError(f"{field.name}={value} is no valid budget; expected {lowest} to {most:.0e}")

    @property
    def timed(self) -> bool:
        """Whether the time or the number of nodes is limited."""
        return any((self.ms, self.nodes, self.game_ms))

    @property
    def limited(self) -> bool:
        """Whether a search may end before the game does."""
        return self.timed or bool(self.depth)


class GameClock:
    """Divides the time of a game over its moves.

    A move gets an equal share of the time left, for as many moves as can still come, but at most SHARES: a game that
    could be long, but seldom is, must not starve its first moves.
    """

    def __init__(self, game_ms: float, most_moves: int) -> None:
        self.left_ms = game_ms
        self.moves_left = most_moves

    def share(self) -> float:
        """Milliseconds for the next move."""
        moves = min(max(self.moves_left, 1), SHARES)
        return max((self.left_ms - RESERVE_MS * moves) / moves, 0.0)

    def spend(self, ms: float, *, move: bool = True) -> None:
        """Subtracts the time that was used, and the move unless it goes on."""
        self.left_ms -= ms
        self.moves_left -= move
