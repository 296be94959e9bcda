"""The values of a game's positions, the loss of its decisions and the luck of its rolls, step by step."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from boardrl import optional
from boardrl.errors import UserError
from boardrl.game import TERMINAL, Game
from boardrl.matches.replay_file import Step
from boardrl.matches.review import MISTAKE, Judge, Roll, judge_step
from launch import review
from launch.serve import thinking
from launch.serve.permitted import Permitted
from launch.serve.session import Session

NODES = 4000  # that a searcher looks at, if its text sets no limit of its own


class Judging:
    """Judges the steps of one session by one judge; `run` continues where it was, and goes back after an undo."""

    def __init__(self, permitted: Permitted, game: Game[Any], text: str) -> None:
        self._permitted, self._game, self.text = permitted, game, text
        self._judge: Judge | None = None
        self._stopped = threading.Event()
        self._judged: list[tuple[int, int]] = []  # actor and move of the steps that were judged

    def run(self, session: Session) -> Iterator[dict[str, Any]]:
        """A judgement for each step of the session that has none yet; a session that is over ends with its returns."""
        if self._judge is None:
            self._judge = make(self._permitted, self._game, self.text)
        steps, positions = list(session.steps), list(session.positions)
        same = 0
        while same < min(len(steps), len(self._judged)) and (steps[same].actor, steps[same].move) == self._judged[same]:
            same += 1
        del self._judged[same:]
        for number in range(same, len(steps)):
            if self._stopped.is_set():
                return
            made, before, after = steps[number], positions[number], positions[number + 1]
            over = int(after.actor) == TERMINAL
            step = Step(made.actor, made.move, before.state, after.state, over, after.returns)
            decided = [one.actor for one in steps[:number] if one.actor >= 0]
            found = judge_step(self._game, number + 1, step, self._judge, decided[-1] if decided else 0)
            self._judged.append((made.actor, made.move))
            yield {"step": number, "value": _numbers(found.value), **_item(found.item)}
        if int(positions[-1].actor) == TERMINAL:
            yield {"step": len(steps), "value": _numbers(positions[-1].returns), "kind": "end"}

    def stop(self) -> None:
        self._stopped.set()


def make(permitted: Permitted, game: Game[Any], text: str) -> Judge:
    """The judge of a text: a value that the game offers, a run, or a searcher."""
    if text in optional.values(game):
        return review.make_judge(text, game)
    placed = permitted.player_text(text, game)
    try:
        return review.make_judge(placed, game)
    except UserError:
        if "(" in placed or "/" in placed:
            raise
    return review.make_judge(f"{placed}(nodes={NODES})", game)


def default(game: Game[Any]) -> str:
    """A judge that fits the game."""
    offered = list(optional.values(game))
    return offered[0] if offered else thinking.default(game)


def _item(item: Any) -> dict[str, Any]:
    if isinstance(item, Roll):
        return {"kind": "roll", "luck": _numbers(np.asarray(item.luck))}
    loss = item.loss if item.loss > MISTAKE else 0.0
    return {"kind": "decision", "loss": round(loss, 4), "best": item.best_text, "legal": item.legal}


def _numbers(values: np.ndarray) -> list[float]:
    return [round(float(value), 4) for value in values]
