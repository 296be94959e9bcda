"""A human player at the terminal: shows the board and numbered moves, and reads commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np
import rich.console
import rich.text

from boardrl import optional
from boardrl.drawing import state_text
from boardrl.errors import UserError, did_you_mean
from boardrl.game import Game, State
from boardrl.play.players import Player
from launch.console.undo import TakeBack
from search import searchers

MOST_LINES = 10  # lines of a list of moves, unless all are requested
GAP = 3  # columns between two moves
HINT_MS = 500
HELP = """\
  a number   makes the move with that number; you can type its text instead
  moves      lists all moves
  board      shows the board again
  hint       shows what {hinter} would play
  undo       goes back to the last decision of a human; the dice repeat
  quit       ends the game here"""


class Quit(Exception):
    """Raised when a human ends the game."""


class Hinter:
    """The player that gives hints, made at the first hint."""

    def __init__(self, name: str, make: Callable[[], Player]) -> None:
        self.name, self._make = name, make
        self._player: Player | None = None
        self._rng = np.random.default_rng(0)  # a separate stream: a hint does not change the game

    def choose(self, game: Game[Any], state: Any) -> int:
        """The action that it would choose; for a policy, the most likely one."""
        self._player = self._player or self._make()
        if self._player.host is not None:
            return int(self._player.host.choose(game, state, self._rng))
        assert self._player.policy is not None
        logits = self._player.policy.apply(self._player.policy.params, state)
        return int(np.where(game.legal(state), logits, -np.inf).argmax())


class Human:
    """A host player that asks at the terminal until a legal move is typed."""

    def __init__(
        self,
        seat: int,
        *,
        console: rich.console.Console,
        read: Callable[[str], str],
        show: Callable[[Any], None],
        hinter: Hinter,
        can_undo: Callable[[], bool],
    ) -> None:
        self._seat, self._console, self._read, self._show = seat, console, read, show
        self._hinter, self._can_undo = hinter, can_undo

    def reset(self) -> None:
        """Does nothing: humans have no state to reset."""

    def choose(self, game: Game[State], state: State, rng: np.random.Generator) -> int:
        legal = np.flatnonzero(jax.jit(game.legal)(state)).tolist()
        moves = {action: state_text.move(game, state, self._seat, action) for action in legal}
        self._show(state)
        self._list(moves, most=MOST_LINES)
        while True:
            try:
                answer = " ".join(self._read(f"seat {self._seat}, your move: ").split())
            except EOFError:
                self._say("")  # the prompt has no end of line yet
                raise Quit from None
            try:
                action = self._answer(answer, game, state, moves)
            except UserError as error:
                self._say(str(error))
                continue
            if action is not None:
                return action

    def _answer(self, answer: str, game: Game[State], state: State, moves: Mapping[int, str]) -> int | None:
        """The action that was typed, or None after a command."""
        match answer.lower():
            case "":
                raise UserError("type the number of a move, or help")
            case "help" | "?":
                self._say(HELP.format(hinter=self._hinter.name))
            case "moves":
                self._list(moves, most=None)
            case "board":
                self._show(state)
            case "hint":
                action = self._hinter.choose(game, state)
                self._say(f"{self._hinter.name} would play {action}" + _in_words(action, moves))
            case "undo":
                if not self._can_undo():
                    raise UserError("there is nothing to take back: no human has moved yet")
                raise TakeBack
            case "quit" | "exit" | "q":
                raise Quit
            case _:
                return find(answer, moves)
        return None

    def _list(self, moves: Mapping[int, str], *, most: int | None) -> None:
        for line in columns(entries(moves), self._console.width, most):
            self._say(line)

    def _say(self, line: str) -> None:
        self._console.print(rich.text.Text(line), soft_wrap=True)


def find(answer: str, moves: Mapping[int, str]) -> int:
    """The action for a typed number or text."""
    if answer.isdecimal() and int(answer) in moves:
        return int(answer)
    same = [action for action, words in moves.items() if _folded(words) == _folded(answer)]
    if len(same) == 1:
        return same[0]
    if same:
        raise UserError(f"{answer!r} matches the moves {', '.join(map(str, same))}; type one of these numbers")
    if answer.isdecimal():
        raise UserError(f"{answer} is not a legal move here; type one of the numbers shown, or moves for all of them")
    hint = did_you_mean(answer, ["help", "moves", "board", "hint", "undo", "quit", *moves.values()])
    raise UserError(f"{answer!r} is neither a move nor a command{hint}; type the number of a move, or help")


def entries(moves: Mapping[int, str]) -> list[str]:
    """The text shown for each move: its number, and its description if it says more."""
    width = max(len(str(action)) for action in moves)
    return [f"{action:{width}}{_in_words(action, moves)}" for action in moves]


def columns(texts: Sequence[str], width: int, most: int | None) -> list[str]:
    """Texts in columns, in lines of that width; beyond `most` lines, the last one says how many are omitted."""
    each = max(map(len, texts)) + GAP
    across = max(1, (width + GAP - 2) // each)
    lines = [
        "  " + "".join(text.ljust(each) for text in texts[at : at + across]).rstrip()
        for at in range(0, len(texts), across)
    ]
    if most is None or len(lines) <= most:
        return lines
    left = len(texts) - (most - 1) * across
    return [*lines[: most - 1], f"  … and {left} more: type moves to see all {len(texts)}"]


def default_hinter(game: Game[Any]) -> str:
    """A searcher that fits the game."""
    name = searchers.by_depth(game) if optional.feature_weights(game) else "mcts"
    return f"{name}(ms={HINT_MS})"


def _in_words(action: int, moves: Mapping[int, str]) -> str:
    words = moves.get(action, "")
    return "" if words == f"action {action}" else f"  {words}"


def _folded(text: str) -> str:
    return " ".join(text.lower().split())
