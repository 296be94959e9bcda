"""Counts the paths of D moves of a game; chance outcomes count as moves, a finished game counts 1.

    python -m launch.perft --game=tic_tac_toe --depth=9
    python -m launch.perft --game=pig:target=30 --depth=12 --distinct
    python -m launch.perft --game=tic_tac_toe --depth=3 --position=board.txt

The last line is the count alone.
"""

from __future__ import annotations

import dataclasses
import pathlib
from typing import Any

from boardrl import perft, registry
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.game import Game
from launch import cli


@dataclasses.dataclass(frozen=True)
class Settings:
    """Flags of this command."""

    game: str = setting("", "a game, with options if need be")
    depth: int = setting(4, "how many moves")
    distinct: bool = setting(False, "count distinct states instead of paths")
    position: str = setting("", "a file with the position to start from, as text of the game; else its first state")


def main(settings: Settings) -> None:
    if not settings.game:
        raise UserError(f"no game is given; expected --game=NAME, one of {', '.join(registry.names())}")
    game = registry.make(settings.game)
    state = read_position(game, settings.position) if settings.position else None
    depths = perft.counts(game, settings.depth, state=state, distinct=settings.distinct)
    print(f"depth  {'states' if settings.distinct else 'paths':>26}  {'seconds':>9}  {'nodes/s':>22}")
    for row in depths:
        rate = row.nodes / max(row.seconds, 1e-9)
        print(f"{row.depth:>5}  {row.nodes:>26,}  {row.seconds:>9.2f}  {rate:>22,.0f}", flush=True)
    print(row.nodes)


def read_position(game: Game[Any], path: str) -> Any:
    """The state that a text file describes."""
    if not hasattr(game, "from_text"):
        raise UserError(f"game {game.spec.name!r} has no text for positions; leave --position out")
    try:
        text = pathlib.Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read --position={path}: {error}; expected a text file with one position") from None
    return game.from_text(text.strip())


if __name__ == "__main__":
    cli.run(main, Settings)
