"""Backgammon's rules against OpenSpiel's: all positions after the roll at every turn of games that OpenSpiel plays.

    python -m launch.dev.check_open_spiel --positions=5000

By turns a game of `pubeval` and one of random moves. The points at the end of a game are compared too (OpenSpiel's
`full_scoring`). Exit code 1 if anything differs. Needs the package open_spiel: pip install -e '.[bench]'.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.runs import progress
from games.backgammon import text
from games.backgammon.board import POINTS
from games.backgammon.players import choose_by_pubeval
from games.backgammon.rules import ROLL, State
from games.backgammon.turns import turns
from launch import cli
from launch.bench.row import missing
from launch.dev.check_gnubg import Sides, backgammon, reached, rolled, sides_of

GAME = "backgammon(scoring_type=full_scoring)"
BARS = (192, 195)  # of the observer and of its opponent, in OpenSpiel's observation


@dataclasses.dataclass(frozen=True)
class Config:
    positions: int = setting(5_000, "turns that are compared, each with the roll that came up")
    seed: int = setting(0, "of the games")


class Difference(NamedTuple):
    """Something that is not as in OpenSpiel: where, and what."""

    where: str
    what: str


class Counts(NamedTuple):
    turns: int
    games: int


def main(config: Config) -> None:
    if config.positions < 1:
        raise UserError(f"--positions={config.positions} is too few; expected 1 or more")
    counts, differ = Counts(0, 0), 0
    with progress.track("comparing", config.positions, "turns") as bar:
        for counts, differences in compared(config.positions, config.seed):
            for difference in differences:
                differ += 1
                print(f"{difference.where}: {difference.what}")
            bar.update(counts.turns)
    print(f"{counts.turns:,} turns and {counts.games:,} ends of games compared with OpenSpiel: {differ} differences")
    if differ:
        raise SystemExit(1)


def compared(count: int, seed: int) -> Iterator[tuple[Counts, list[Difference]]]:
    """After each turn, how many turns and whole games there were, and what is different in this one."""
    try:
        import pyspiel
    except ImportError:
        raise missing("open_spiel") from None
    peer, rng, made, games = pyspiel.load_game(GAME), np.random.default_rng(seed), 0, 0
    while True:
        state, by_pubeval = peer.new_initial_state(), games % 2 == 0
        while not state.is_terminal():
            outcomes, odds = zip(*state.chance_outcomes(), strict=True)
            outcome = int(rng.choice(outcomes, p=odds))
            roll = text.outcome_of(_dice(state.action_to_string(state.current_player(), outcome)))
            state.apply_action(outcome)
            seat = state.current_player()
            mine, theirs = sides(state, seat)
            found = ends(state, seat)
            differences = []
            if (ours := reached(mine, theirs, roll)) != set(found):
                what = f"{len(ours)} positions by our rules, {len(found)} by OpenSpiel"
                differences.append(Difference(f"{text.position_id(mine, theirs)}, outcome {roll}", what))
            state = found[_chosen(mine, theirs, roll, sorted(found), by_pubeval, rng)]
            made += 1
            if state.is_terminal():
                games += 1
                differences += _points(state)
            yield Counts(made, games), differences
            if made == count:
                return


def ends(state: Any, seat: int) -> dict[Sides, Any]:
    """OpenSpiel's states at the end of a turn, by the checkers of the mover and of the other side.

    A double is two actions of OpenSpiel, each of two checker moves.
    """
    found, waiting = {}, [state]
    while waiting:
        before = waiting.pop()
        for action in before.legal_actions():
            after = before.child(action)
            if after.current_player() == seat:
                waiting.append(after)
            else:
                found[sides(after, seat)] = after
    return found


def sides(state: Any, seat: int) -> Sides:
    """The checkers of a seat and of the other one, 25 places each in its own view."""
    seen = state.observation_tensor(seat)
    first, second = (
        (*(state.board(who, POINTS - 1 - place if who == 0 else place) for place in range(POINTS)), int(seen[bar]))
        for who, bar in zip((seat, 1 - seat), BARS, strict=True)
    )
    return first, second


def _dice(roll: str) -> tuple[int, int]:
    """The faces in OpenSpiel's 'chance outcome 1 (roll: 21)'; at the start it names the beginner too."""
    first, second = re.findall(r"roll: (\d)(\d)", roll)[0]
    return int(first), int(second)


def _chosen(mine: Any, theirs: Any, roll: int, found: list[Sides], by_pubeval: bool, rng: np.random.Generator) -> Sides:
    """The position in which the turn ends."""
    state = rolled(mine, theirs, roll)
    if by_pubeval and int(state.left) != ROLL:
        best = sides_of(np.frombuffer(choose_by_pubeval(state, turns(backgammon(), state)), np.int8))
        if best in found:
            return best
    return found[rng.integers(len(found))]


def _points(state: Any) -> list[Difference]:
    """Whether a finished game is worth as much by our rules."""
    first = sides(state, 0)
    leaves: list[Any] = [np.array(first, np.int8), *(np.int8(number) for number in (0, 0, 0, ROLL))]
    ours, theirs = np.asarray(backgammon().returns(State(*leaves))).tolist(), list(state.returns())
    where = text.position_id(*first)
    return [] if ours == theirs else [Difference(where, f"worth {ours} by our rules, {theirs} by OpenSpiel")]


if __name__ == "__main__":
    cli.run(main, Config)
