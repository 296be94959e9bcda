"""Runs inside GNU Backgammon's own Python and answers requests by pipes; nothing of boardrl is imported.

A request is one line of JSON, `{"do": "best" or "all", "board": [theirs, mine], "dice": [6, 4], "plies": 0}`, each side
25 numbers in its own view; the answer is a line of JSON too. Standard output belongs to the program, which prints to it.
"""

import json
import os

import gnubg  # only exists inside the program


def command(text):
    gnubg.command(text)


def set_up():
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


def best(board, plies):
    """The best move without the cube: pairs of points from and to, the bar being 25 and off 0."""
    cube = dict(gnubg.cubeinfo(1, -1, 1, 0, (0, 0), 0, 0))
    cube["jacoby"] = 0
    context = {"cubeful": 0, "plies": plies, "deterministic": 1, "prune": 1, "noise": 0.0}
    return list(gnubg.findbestmove(board, gnubg.calcgammonprice(cube), context))


def every():
    """All moves, which lead to different positions, as pairs of points each."""
    hint = gnubg.hint(10000)
    return [gnubg.parsemove(one["move"]) for one in hint["hint"]] if hint else []


def answer(request):
    board = tuple(tuple(side) for side in request["board"])
    high, low = request["dice"]
    command("set turn 1")  # a board is set as the player on roll sees it
    if request["do"] == "all":
        command("set board " + gnubg.positionid(board))
        command("set dice %d %d" % (high, low))
        return {"position": gnubg.positionid(), "moves": every()}
    command("set dice %d %d" % (high, low))
    return {"move": best(board, request["plies"])}


def main():
    requests = os.fdopen(int(os.environ["BOARDRL_GNUBG_IN"]), "r")
    answers = os.fdopen(int(os.environ["BOARDRL_GNUBG_OUT"]), "w")
    set_up()
    for line in iter(requests.readline, ""):  # ends when the parent is gone
        answers.write(json.dumps(answer(json.loads(line))) + "\n")
        answers.flush()


main()
