"""Counts the moves of both sides on a board: `W <places> <jumps>` and `B <places> <jumps>`, each jump path separately.

    python -m games.jumper.count FILE

FILE contains a line with the size, then the rows; `-` reads from standard input.
"""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Sequence

import numpy as np

from boardrl.errors import UserError
from boardrl.exact import perft
from games.jumper import Jumper
from games.jumper.rules import BLACK, EMPTY, WHITE
from games.jumper.text import LETTERS, board_lines, read_board


def count(board: np.ndarray, mover: int) -> tuple[int, int]:
    """The number of places and of jumps of a side on a [size, size] board; each prefix of a chain is one jump."""
    places = int((board == EMPTY).sum())
    if places == 0:
        return 0, 0
    game = Jumper(len(board))
    state = game.from_text("\n".join([*board_lines(board, len(board)), LETTERS[mover]]))
    return places, perft.perft(game, 1, state=state, by_turns=True) - places


def main(arguments: Sequence[str]) -> None:
    if len(arguments) != 1:
        raise UserError(f"expected one file with a board, got {len(arguments)} arguments; use - for standard input")
    try:
        text = sys.stdin.read() if arguments[0] == "-" else pathlib.Path(arguments[0]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read {arguments[0]!r}: {error}; expected a text file with a board") from None
    board, _ = read_board(text)
    for mover in (WHITE, BLACK):
        print(LETTERS[mover], *count(board, mover))


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except UserError as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(2)
