"""Counts the paths of D moves of a game; chance outcomes count as moves, a finished game counts 1.

    python -m launch.perft --game=tic_tac_toe --depth=9
    python -m launch.perft --game=pig:target=30 --depth=12 --distinct
    python -m launch.perft --game=tic_tac_toe --depth=3 --position=board.txt
    python -m launch.perft --game=kalah --depth=5 --by=turns

The last line is the count alone.
"""

from __future__ import annotations

import dataclasses

from boardrl import registry
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.exact import perft
from launch import cli
from launch.console import positions


@dataclasses.dataclass(frozen=True)
class Settings:
    """Flags of this command."""

    game: str = setting("", "a game, with options if need be")
    depth: int = setting(4, "how many moves, or turns")
    by: str = setting(
        "",
        "moves, or turns: all moves of a player until another acts; else turns where the game's notation is of turns",
    )
    distinct: bool = setting(
        False, "count distinct states instead of paths; by turns: turns of a position to the same position as one"
    )
    position: str = setting("", "a file with the position to start from, as text of the game; else its first state")


def main(settings: Settings) -> None:
    if not settings.game:
        raise UserError(f"no game is given; expected --game=NAME, one of {', '.join(registry.names())}")
    if settings.by not in ("", "moves", "turns"):
        raise UserError(f"--by={settings.by} is nothing to count by; expected moves or turns")
    game = registry.make(settings.game)
    state = positions.read(game, settings.position) if settings.position else None
    by_turns = settings.by == "turns" if settings.by else None
    depths = perft.counts(game, settings.depth, state=state, distinct=settings.distinct, by_turns=by_turns)
    print(f"depth  {'states' if settings.distinct else 'paths':>26}  {'seconds':>9}  {'nodes/s':>22}")
    for row in depths:
        rate = row.nodes / max(row.seconds, 1e-9)
        print(f"{row.depth:>5}  {row.nodes:>26,}  {row.seconds:>9.2f}  {rate:>22,.0f}", flush=True)
    print(row.nodes)


if __name__ == "__main__":
    cli.run(main, Settings)
