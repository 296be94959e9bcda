"""Players of backgammon that choose whole turns: `pubeval` and `gnubg`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from boardrl.errors import UserError
from boardrl.game import Game, State
from games.backgammon import pubeval, text
from games.backgammon.gnubg_program import Gnubg, find, played
from games.backgammon.turns import Turn, turns

MOST_PLIES = 4

ChooseTurn = Callable[[Any, dict[bytes, Turn]], bytes]  # (state at the start of a turn, `turns` of it) -> a key


class TurnPlayer:
    """A host player that decides on a whole turn at its start, and then makes its moves one by one."""

    def __init__(self, choose_turn: ChooseTurn) -> None:
        self._choose_turn = choose_turn
        self.reset()

    def reset(self) -> None:
        self._planned: list[tuple[str, int]] = []  # positions of the turn that are still to come, and their moves

    def choose(self, game: Game[State], state: State, rng: np.random.Generator) -> int:
        now = text.to_text(game, state)  # type: ignore[arg-type]
        if not self._planned or self._planned[0][0] != now:
            self._planned = self._plan(game, state)
        return self._planned.pop(0)[1]

    def _plan(self, game: Any, state: Any) -> list[tuple[str, int]]:
        found = turns(game, state)
        chosen = found[self._choose_turn(state, found) if len(found) > 1 else next(iter(found))]
        return list(zip(chosen.positions, chosen.actions, strict=True))


def choose_by_pubeval(state: Any, found: dict[bytes, Turn]) -> bytes:
    """The position of the highest score; the weights go by the position before the turn."""
    seat = int(state.turn)
    checkers = np.asarray(state.checkers)
    ends = np.stack([np.asarray(turn.state.checkers) for turn in found.values()]).astype(int)
    race = pubeval.is_race(checkers[seat], checkers[1 - seat])
    best = int(np.argmax(pubeval.scores(ends[:, seat], ends[:, 1 - seat], race=race)))
    return list(found)[best]


class GnubgTurns:
    """GNU Backgammon's choice of a turn; the program is started at the first one."""

    def __init__(self, plies: int) -> None:
        self._plies = plies
        self._program: Gnubg | None = None

    def __call__(self, state: Any, found: dict[bytes, Turn]) -> bytes:
        if self._program is None:
            self._program = Gnubg()
        seat, dice = int(state.turn), text.dice_left(state)
        checkers = np.asarray(state.checkers)
        mine, theirs = checkers[seat].tolist(), checkers[1 - seat].tolist()
        sides = played(mine, theirs, self._program.best_move(mine, theirs, dice[:2], plies=self._plies))
        end = np.zeros_like(checkers)
        end[seat], end[1 - seat] = sides
        if end.tobytes() not in found:
            raise RuntimeError(f"GNU Backgammon's move is not legal by our rules, in {text.position_id(mine, theirs)}")
        return end.tobytes()


def make_pubeval() -> TurnPlayer:
    return TurnPlayer(choose_by_pubeval)


def make_gnubg(*, ply: int = 0) -> TurnPlayer:
    """GNU Backgammon, which looks `ply` plies ahead."""
    if not 0 <= ply <= MOST_PLIES:
        raise UserError(f"ply={ply} of player 'gnubg' is out of range: expected 0 to {MOST_PLIES}")
    if find() is None:
        raise UserError("player 'gnubg' needs GNU Backgammon; install the package gnubg (Debian: apt install gnubg)")
    return TurnPlayer(GnubgTurns(ply))
