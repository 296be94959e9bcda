"""A running GNU Backgammon: requests and answers by pipes.

The program (https://www.gnu.org/software/gnubg, Debian's package `gnubg`) is started without its window and runs
`gnubg_server.py` in its own Python. It ends when its end of the pipe is closed, so that it never outlives this process.
"""

from __future__ import annotations

import json
import os
import pathlib
import select
import shutil
import subprocess
import weakref
from collections.abc import Sequence
from typing import Any

from boardrl.errors import UserError
from games.backgammon.board import BAR, PLACES

SERVER = pathlib.Path(__file__).parent / "gnubg_server.py"
DEBIAN = "/usr/games"  # where Debian installs it, which is not on everybody's PATH
START_SECONDS = 60.0
ANSWER_SECONDS = 120.0

Side = Sequence[int]  # 25 places in the side's own view


def find() -> str | None:
    """The path of the program, or None where it is not installed."""
    return shutil.which("gnubg", path=os.pathsep.join([os.environ.get("PATH", os.defpath), DEBIAN]))


class Gnubg:
    """One process of the program; `close` ends it, as does the end of this object or of this process."""

    def __init__(self) -> None:
        path = find()
        if path is None:
            raise UserError("GNU Backgammon is not installed; install the package gnubg (Debian: apt install gnubg)")
        requests, self._requests = os.pipe()
        self._answers, answers = os.pipe()
        # Neither a user's settings nor a display changes the games.
        environment = dict(os.environ, BOARDRL_GNUBG_IN=str(requests), BOARDRL_GNUBG_OUT=str(answers), LC_ALL="C")
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        command = [path, "--tty", "--quiet", "--no-rc", "--python", str(SERVER)]
        self._process = subprocess.Popen(
            command,
            pass_fds=(requests, answers),
            env=environment,
            **quiet,  # type: ignore[call-overload]
        )
        os.close(requests)
        os.close(answers)
        self._rest = b""
        self._end = weakref.finalize(self, _end, self._process, self._requests, self._answers)
        self._seconds = START_SECONDS

    def close(self) -> None:
        self._end()

    def best_move(self, mine: Side, theirs: Side, dice: Sequence[int], *, plies: int) -> list[tuple[int, int]]:
        """The program's choice for a roll, as pairs of points from (25: the bar) and to (0: off)."""
        numbers = self._ask({"do": "best", "board": [theirs, mine], "dice": list(dice), "plies": plies})["move"]
        return [(numbers[k], numbers[k + 1]) for k in range(0, len(numbers), 2) if numbers[k]]

    def positions(self, mine: Side, theirs: Side, dice: Sequence[int]) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
        """All positions that a roll can lead to, (mine, theirs) each; only the position itself if it must be passed."""
        moves = self._ask({"do": "all", "board": [theirs, mine], "dice": list(dice)})["moves"]
        return {played(mine, theirs, move) for move in moves or [[]]}

    def position_id(self, mine: Side, theirs: Side) -> str:
        """The id of a position with `mine` on roll."""
        return str(self._ask({"do": "all", "board": [theirs, mine], "dice": [1, 2]})["position"])

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            os.write(self._requests, json.dumps(request).encode() + b"\n")
        except OSError:
            raise UserError("GNU Backgammon has ended by itself; start the command again") from None
        answer: dict[str, Any] = json.loads(self._line())
        self._seconds = ANSWER_SECONDS
        return answer

    def _line(self) -> bytes:
        while b"\n" not in self._rest:
            if not select.select([self._answers], [], [], self._seconds)[0]:
                self.close()
                raise UserError(f"GNU Backgammon gave no answer within {self._seconds:.0f} s; start the command again")
            some = os.read(self._answers, 1 << 16)
            if not some:
                raise UserError("GNU Backgammon has ended by itself; start the command again")
            self._rest += some
        line, _, self._rest = self._rest.partition(b"\n")
        return line


def played(mine: Side, theirs: Side, move: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Both sides after a move of pairs of points."""
    own, other = list(mine), list(theirs)
    for source, target in move:
        own[source - 1] -= 1
        if target > 0:
            own[target - 1] += 1
            if target < PLACES and other[BAR - target] == 1:
                other[BAR - target] = 0
                other[BAR] += 1
    return tuple(own), tuple(other)


def _end(process: subprocess.Popen[bytes], requests: int, answers: int) -> None:
    os.close(requests)
    os.close(answers)
    try:
        process.wait(2)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
