"""Replays: one game in one JSON file, which the rules can verify.

    {"kind": "boardrl replay", "format": 1,
     "game": "pig", "options": "players=3,target=30",     as in --game=pig:players=3,target=30
     "players": ["hold", "random", "random"],             by seat, as they were named
     "seed": 0, "number": 7,                              of the match, and the number of the game in it
     "moves": [0, 0, 1, …],                               actions of the players, in order
     "outcomes": [3, 5, …],                               outcomes of the chance nodes, in order
     "result": {"returns": [1.0, -0.5, -0.5], "cut": false}}   null for a game that was broken off

The rules say at every step whether a player acts or the dice fall, so that the two lists need no more. `cut` tells that
the game reached its largest number of steps and is scored as it stood.
"""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from boardrl import registry
from boardrl.errors import UserError
from boardrl.game import CHANCE, TERMINAL, Game
from boardrl.play import position
from boardrl.play.rollout import Ended
from boardrl.runs.log_rows import is_count, is_number, is_text
from boardrl.system import atomic_files, untrusted_files

KIND, FORMAT = "boardrl replay", 1
MOST_BYTES = 64 << 20
CLOSE = 1e-5  # between returns in a file and those of the rules


class Result(NamedTuple):
    returns: tuple[float, ...]  # [P]
    cut: bool


class Replay(NamedTuple):
    """A recorded game."""

    game: str  # its name
    options: str  # those that differ from the defaults, as on the command line
    players: tuple[str, ...]  # [P] names by seat
    seed: int
    moves: tuple[int, ...]
    outcomes: tuple[int, ...]
    result: Result | None  # None: the game was broken off
    number: int = 0  # of the game in its match

    @property
    def text(self) -> str:
        """The game as `registry.make` takes it."""
        return self.game + (f":{self.options}" if self.options else "")


class Step(NamedTuple):
    """A step of a recorded game."""

    actor: int  # CHANCE or a seat
    move: int
    before: Any  # states
    after: Any
    over: bool  # the game ends with it
    returns: np.ndarray  # [P] after it


def of_steps(
    game: Game[Any],
    players: Sequence[str],
    steps: Sequence[Sequence[int]],
    result: Result | None,
    *,
    seed: int,
    number: int = 0,
) -> Replay:
    """The replay of a game's steps, each an actor and a move."""
    name, _, options = registry.describe(game).partition(":")
    moves = tuple(int(move) for actor, move in steps if actor != CHANCE)
    outcomes = tuple(int(move) for actor, move in steps if actor == CHANCE)
    return Replay(name, options, tuple(players), seed, moves, outcomes, result, number)


def write(path: pathlib.Path, replay: Replay) -> None:
    """Writes the file, whole or not at all."""
    atomic_files.write(path, (json.dumps(content(replay), allow_nan=False) + "\n").encode())


def content(replay: Replay) -> dict[str, Any]:
    """The replay as a JSON object."""
    result = None if replay.result is None else replay.result._asdict()
    return {"kind": KIND, "format": FORMAT, **replay._asdict(), "result": result}


def read(path: pathlib.Path) -> Replay:
    """Reads a file that may be anybody's: its fields are checked, its moves are not (`follow` does)."""
    try:
        return of_content(untrusted_files.read_json(path, most=MOST_BYTES, follow=True))
    except FileNotFoundError:
        raise UserError(f"the replay {str(path)!r} does not exist; give a file of --record") from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise UserError(f"{str(path)!r} cannot be read as a replay of format {FORMAT}: {why}") from None


def game_of(path: pathlib.Path, replay: Replay, expected: str = "") -> Game[Any]:
    """The game that a replay is of; UserError if that is not the one that the user named, where one is named."""
    game = registry.make(replay.text)
    if expected and registry.make(expected) != game:
        raise UserError(f"{str(path)!r} is a game of {replay.text}, not of {expected}; leave --game out, or give that")
    spec = game.spec
    if len(replay.players) != spec.num_players:
        raise UserError(f"{str(path)!r} names {len(replay.players)} players; {replay.text} has {spec.num_players}")
    if len(replay.moves) + len(replay.outcomes) > spec.max_steps:
        raise UserError(f"{str(path)!r} has more steps than {replay.text} can have, {spec.max_steps:,}")
    return game


def follow(path: pathlib.Path, replay: Replay, game: Game[Any]) -> Iterator[Step]:
    """The steps of a replay by the rules; UserError at the first that they do not allow, or for a wrong result."""
    moves, outcomes = iter(replay.moves), iter(replay.outcomes)
    now = position.first(game)
    total = len(replay.moves) + len(replay.outcomes)
    for number in range(total):
        actor = int(now.actor)
        if actor == TERMINAL:
            _refuse(path, f"the game is over after {number:,} steps, and {total - number:,} more follow")
        move = next(outcomes if actor == CHANCE else moves, -1)
        what = "outcome" if actor == CHANCE else f"action of seat {actor}"
        if move < 0:
            _refuse(path, f"an {what} is missing at step {number + 1:,}")
        allowed = np.flatnonzero(now.chance > 0 if actor == CHANCE else now.legal)
        if move not in allowed:
            expected = ", ".join(map(str, allowed[:20].tolist())) + ("…" if len(allowed) > 20 else "")
            _refuse(path, f"step {number + 1:,} has the {what} {move}; the rules allow {expected}")
        before, now = now, position.after(game, now, move)
        yield Step(actor, move, before.state, now.state, int(now.actor) == TERMINAL, now.returns)
    if replay.result is None:
        return
    cut = int(now.actor) != TERMINAL
    if cut and (total < game.spec.max_steps or not replay.result.cut):
        _refuse(path, f"the game is not over after its {total:,} steps, and yet has a result")
    if replay.result.cut and not cut:
        _refuse(path, "the result says that the game was cut, and by the rules it is over")
    if len(replay.result.returns) != len(now.returns) or not np.allclose(
        replay.result.returns, now.returns, atol=CLOSE, rtol=CLOSE
    ):
        given, true = (", ".join(f"{value:g}" for value in row) for row in (replay.result.returns, now.returns))
        _refuse(path, f"the result is {given}; by the rules it is {true}")


def _refuse(path: pathlib.Path, why: str) -> NoReturn:
    raise UserError(f"{str(path)!r} is no game by the rules: {why}")


def of_content(content: Any) -> Replay:
    """The replay in a file's content; ValueError if a field is missing or not what it should be."""
    if not isinstance(content, Mapping) or (content.get("kind"), content.get("format")) != (KIND, FORMAT):
        raise ValueError("it is another file, or of another format")
    checks: dict[str, Callable[[Any], bool]] = {
        "game": is_text,
        "options": is_text,
        "players": lambda value: isinstance(value, list) and all(map(is_text, value)),
        "seed": is_count,
        "number": is_count,
        "moves": lambda value: isinstance(value, list) and all(map(_is_move, value)),
        "outcomes": lambda value: isinstance(value, list) and all(map(_is_move, value)),
        "result": lambda value: value is None or _is_result(value),
    }
    for name, check in checks.items():
        if name not in content or not check(content[name]):
            raise ValueError(f"its {name} {'is missing' if name not in content else 'is not what it should be'}")
    found = Replay(**{name: content[name] for name in Replay._fields})
    result = found.result and Result(tuple(content["result"]["returns"]), content["result"]["cut"])
    return found._replace(
        players=tuple(found.players), moves=tuple(found.moves), outcomes=tuple(found.outcomes), result=result
    )


def _is_move(value: Any) -> bool:
    return is_count(value) and value < 2**31


def _is_result(value: Any) -> bool:
    if not isinstance(value, Mapping) or type(value.get("cut")) is not bool:
        return False
    returns = value.get("returns")
    return isinstance(returns, list) and all(map(is_number, returns))


# --- the games of a match ---------------------------------------------------------------------------------------------


class Recorder:
    """Writes a replay of every game of a match into a folder, as game-<index>.json."""

    def __init__(self, folder: pathlib.Path, game: Game[Any], players: Sequence[str], *, seed: int) -> None:
        self.folder, self._game, self._players, self._seed = folder, game, players, seed
        self._lanes: list[list[Sequence[int]]] = []  # steps of each lane's game under way

    def finish(
        self, index: int, seating: np.ndarray, returns: Sequence[float], cut: bool, steps: Sequence[Sequence[int]]
    ) -> None:
        """Writes one game."""
        names = [self._players[number] for number in seating.tolist()]
        result = Result(tuple(float(value) for value in returns), bool(cut))
        replay = of_steps(self._game, names, steps, result, seed=self._seed, number=int(index))
        write(self.folder / f"game-{int(index)}.json", replay)

    def take(self, ended: Ended, nth: np.ndarray, seating: np.ndarray) -> None:
        """Takes some turns of games played in a batch, and writes those that end.

        Args:
          ended: [T, B], with the codes of the moves.
          nth: [T, B] the number of the game that a lane has ended by then, -1 beyond its quota.
          seating: [N, P] of all games.
        """
        over, cut, returns, codes = (np.asarray(x) for x in (ended.over, ended.cut, ended.returns, ended.codes))
        num_turns, num_lanes = over.shape
        self._lanes = self._lanes or [[] for _ in range(num_lanes)]
        for lane in range(num_lanes):
            steps = self._lanes[lane]
            for turn in range(num_turns):
                rolled, decided = codes[turn, :, lane].tolist()
                # 0 is no move; the seat does not matter, as the rules know it.
                steps += [(actor, code // 2 - 1) for actor, code in ((CHANCE, rolled), (0, decided)) if code]
                if over[turn, lane]:
                    if (number := int(nth[turn, lane])) >= 0:
                        index = lane + number * num_lanes
                        self.finish(index, seating[index], returns[turn, lane].tolist(), cut[turn, lane], steps)
                    steps = self._lanes[lane] = []
