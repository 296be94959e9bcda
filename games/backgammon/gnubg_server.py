"""Runs inside GNU Backgammon's own Python and answers requests by pipes; nothing of boardrl is imported.

A request is one line of JSON, `{"do": "best" or "all", "board": [theirs, mine], "dice": [6, 4], "plies": 0}`, each side
25 numbers in its own view; the answer is a line of JSON too. Standard output is the program's, which prints to it.
"""

from __future__ import annotations

import json
import os
from typing import Any

import gnubg  # only exists inside the program


def command(text: str) -> None:
    gnubg.command(text)


def set_up() -> None:
    for text in (
        "set automatic game off",
        "set automatic roll off",
        "set automatic move off",
        "set automatic bearoff off",
        "set automatic doubles 0",
        "set player 0 human",
        "set player 1 human",
        "set jacoby off",
        "set cube use off",
        "set threads 1",
        "set evaluation chequerplay evaluation plies 0",
        "set evaluation chequerplay evaluation cubeful off",
        "new session",
    ):
        command(text)


def best(board: Any, plies: int) -> list[int]:
    """The best move without the cube: pairs of points from and to, the bar being 25 and off 0."""
    cube = dict(gnubg.cubeinfo(1, -1, 1, 0, (0, 0), 0, 0))
    cube["jacoby"] = 0
    context = {"cubeful": 0, "plies": plies, "deterministic": 1, "prune": 1, "noise": 0.0}
    return list(gnubg.findbestmove(board, gnubg.calcgammonprice(cube), context))


def every() -> list[Any]:
    """All moves, which lead to different positions, as pairs of points each."""
    hint = gnubg.hint(10000)
    return [gnubg.parsemove(one["move"]) for one in hint["hint"]] if hint else []


def answer(request: dict[str, Any]) -> dict[str, Any]:
    board = tuple(tuple(side) for side in request["board"])
    high, low = request["dice"]
    command("set turn 1")  # a board is set as the player on roll sees it
    if request["do"] == "all":
        command("set board " + gnubg.positionid(board))
        command(f"set dice {high} {low}")
        return {"position": gnubg.positionid(), "moves": every()}
    command(f"set dice {high} {low}")
    return {"move": best(board, request["plies"])}


def main() -> None:
    requests = os.fdopen(int(os.environ["BOARDRL_GNUBG_IN"]), "r")
    answers = os.fdopen(int(os.environ["BOARDRL_GNUBG_OUT"]), "w")
    set_up()
    for line in iter(requests.readline, ""):  # ends when the parent is gone
        answers.write(json.dumps(answer(json.loads(line))) + "\n")
        answers.flush()


main()
