"""A session: one game of one browser tab, its steps and who plays it.

A session can be written down as a record (game, start, seats, seed, moves) and made again from it, by the rules: so a
game survives a reload, a closed tab and a restart of the server. Dice and random players depend only on the seed and on
how many dice, or decisions of a seat, came before, so that an undo repeats them.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from boardrl import optional, registry
from boardrl.drawing import state_text
from boardrl.errors import UserError
from boardrl.game import CHANCE, TERMINAL, Game
from boardrl.matches import replay_file
from boardrl.matches.replay_file import Replay
from boardrl.play import position as positions
from boardrl.play.position import Position
from launch.console import positions as typed
from launch.serve.messages import Refused
from launch.serve.permitted import HUMAN, Permitted


class Step(NamedTuple):
    """A step that was made."""

    actor: int  # CHANCE or a seat
    move: int
    text: str


class Session:
    """A game under way; nothing here knows of sockets."""

    def __init__(self, game: Game[Any], seats: Sequence[str], *, seed: int, start: str = "") -> None:
        self.game, self.seats, self.seed, self.start = game, list(seats), seed, start
        self.text = registry.describe(game)
        self.id = secrets.token_urlsafe(18)
        self.steps: list[Step] = []
        first = positions.of_state(game, typed.parse(game, start)) if start else positions.first(game)
        self.positions: list[Position] = [first]
        self.names: list[str] = []  # of a replay's players, who are not here

    @property
    def now(self) -> Position:
        return self.positions[-1]

    @property
    def actor(self) -> int:
        """Who is next: a seat, CHANCE, or TERMINAL also where the game has reached its largest number of steps."""
        return TERMINAL if self.cut else int(self.now.actor)

    @property
    def cut(self) -> bool:
        return int(self.now.actor) != TERMINAL and len(self.steps) >= self.game.spec.max_steps

    @property
    def humans(self) -> list[int]:
        return [seat for seat, text in enumerate(self.seats) if text == HUMAN]

    def allowed(self) -> list[int]:
        """The actions or outcomes that the rules allow now."""
        if self.actor == TERMINAL:
            return []
        return np.flatnonzero(self.now.chance > 0 if self.actor == CHANCE else self.now.legal).tolist()

    def play(self, move: int) -> Step:
        """Makes a step; Refused if the rules do not allow it."""
        if move not in self.allowed():
            raise Refused(f"{move} is not a legal move here")
        before = self.now
        text = state_text.move(self.game, before.state, int(before.actor), move)
        self.positions.append(positions.after(self.game, before, move))
        self.steps.append(Step(int(before.actor), move, text))
        return self.steps[-1]

    def by_human(self, number: int, action: int) -> Step:
        """Makes the move of a person, who has seen `number` steps."""
        if number != len(self.steps):
            raise Refused(f"the move is for step {number}, and the game has made {len(self.steps)}")
        if self.actor < 0 or self.actor not in self.humans:
            raise Refused("it is not a person's turn")
        return self.play(action)

    def roll(self) -> int:
        """The outcome of the dice that fall now."""
        chance = np.asarray(self.now.chance, np.float64)
        return int(self.rng().choice(len(chance), p=chance / chance.sum()))

    def rng(self) -> np.random.Generator:
        """The random numbers of the step to come."""
        actor = self.actor
        before = sum(step.actor == actor for step in self.steps)
        return np.random.default_rng([self.seed, 1 + actor, before])

    def undo(self) -> int:
        """Goes back to before the last decision of a person; how many steps are left."""
        humans = self.humans
        mine = [number for number, step in enumerate(self.steps) if step.actor in humans]
        if not mine:
            raise Refused("there is nothing to take back: no person has moved yet")
        return self.cut_to(mine[-1])

    def cut_to(self, number: int) -> int:
        del self.steps[number:], self.positions[number + 1 :]
        return number

    def seat(self, seats: Sequence[str]) -> None:
        """Gives the seats to other players."""
        check_seats(self.game, seats)
        self.seats, self.names = list(seats), []

    def record(self) -> dict[str, Any]:
        """All that it takes to make the session again."""
        return {
            "game": self.text,
            "position": self.start,
            "seats": self.seats,
            "seed": self.seed,
            "moves": [step.move for step in self.steps if step.actor != CHANCE],
            "outcomes": [step.move for step in self.steps if step.actor == CHANCE],
        }

    def replay(self) -> dict[str, Any] | None:
        """The game as the content of a replay file; None if it was set up, as such files have no place for a start."""
        if self.start:
            return None
        result = None
        if self.actor == TERMINAL:
            result = replay_file.Result(tuple(self.now.returns.tolist()), self.cut)
        names = self.names or self.seats
        steps = [(step.actor, step.move) for step in self.steps]
        return replay_file.content(replay_file.of_steps(self.game, names, steps, result, seed=self.seed))

    def position_text(self, number: int) -> str:
        """A position in the game's notation, by which it can be set up again; empty where it cannot be read."""
        to_text = optional.to_text(self.game) if optional.from_text(self.game) else None
        return to_text(self.positions[number].state) if to_text else ""


def check_seats(game: Game[Any], seats: Sequence[str]) -> None:
    if len(seats) != game.spec.num_players:
        raise UserError(f"{len(seats)} players are given; {game.spec.name} has {game.spec.num_players} seats")


def of_record(record: Mapping[str, Any], permitted: Permitted) -> Session:
    """The session of a record, by the rules; UserError for one that they do not allow."""
    game = permitted.game(record["game"])
    check_seats(game, record["seats"])
    if len(record["moves"]) + len(record["outcomes"]) > game.spec.max_steps:
        raise UserError(f"the game has more steps than {record['game']} can have")
    made = Session(game, record["seats"], seed=record["seed"], start=record["position"])
    _follow(made, record["moves"], record["outcomes"])
    return made


def of_replay(replay: Replay, game: Game[Any]) -> Session:
    """The session of a replay: nobody plays it on until the seats are given to somebody."""
    made = Session(game, [HUMAN] * game.spec.num_players, seed=replay.seed)
    _follow(made, replay.moves, replay.outcomes)
    made.names = list(replay.players)
    return made


def _follow(session: Session, moves: Sequence[int], outcomes: Sequence[int]) -> None:
    left = {True: list(reversed(outcomes)), False: list(reversed(moves))}
    for _ in range(len(moves) + len(outcomes)):
        kind = left[session.actor == CHANCE]
        if session.actor == TERMINAL or not kind:
            raise Refused("the moves of the game are not those of its rules")
        session.play(kind.pop())
