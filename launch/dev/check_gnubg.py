"""Backgammon's rules against GNU Backgammon itself: all positions after all 21 rolls, for positions of real games.

    python -m launch.dev.check_gnubg --positions=10000
    python -m launch.dev.check_gnubg --positions=300 --record=tests/data/backgammon_gnubg.json

The games are played by `pubeval` and by random moves in turn, so that positions of sensible play and odd ones come up.
Exit code 1 if any set of positions differs.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import pathlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from boardrl import host, registry
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.runs import progress
from games.backgammon import text
from games.backgammon.board import PLACES, ROLLS, START
from games.backgammon.gnubg_program import Gnubg
from games.backgammon.players import choose_by_pubeval
from games.backgammon.rules import ROLL, State
from games.backgammon.turns import turns
from launch import cli

Sides = tuple[tuple[int, ...], tuple[int, ...]]  # the mover's places and the other's, each in its own view
GAME = "backgammon"


@dataclasses.dataclass(frozen=True)
class Config:
    positions: int = setting(10_000, "positions that are compared, each with all 21 rolls")
    seed: int = setting(0, "of the games that the positions come from")
    record: str = setting("", "file for the positions and what the program gave for them; not overwritten")


def main(config: Config) -> None:
    if config.positions < 1:
        raise UserError(f"--positions={config.positions} is too few; expected 1 or more")
    if config.record and pathlib.Path(config.record).exists():
        raise UserError(f"--record={config.record} exists; choose another name or delete it")
    program, differ, checked, recorded = Gnubg(), 0, 0, []
    with progress.track("comparing", config.positions, "positions") as bar:
        for number, (mine, theirs) in enumerate(real_positions(config.positions, config.seed)):
            if text.position_id(mine, theirs) != (theirs_id := program.position_id(mine, theirs)):
                differ += 1
                print(f"{text.position_id(mine, theirs)}: the position id of GNU Backgammon is {theirs_id}")
            after = []
            for outcome, dice in enumerate(ROLLS):
                found = program.positions(mine, theirs, dice)
                checked += 1
                if found != (ours := reached(mine, theirs, outcome)):
                    differ += 1
                    told = f"{len(ours)} positions by our rules, {len(found)} by GNU Backgammon"
                    print(f"{text.position_id(mine, theirs)} with {dice[0]}-{dice[1]}: {told}")
                after.append(digest(found))
            recorded.append({"position": text.position_id(mine, theirs), "after": after})
            bar.update(number + 1)
    program.close()
    if config.record:
        pathlib.Path(config.record).write_text(json.dumps(recorded, indent=0) + "\n")
    print(f"{checked:,} rolls of {config.positions:,} positions compared with GNU Backgammon: {differ} differences")
    if differ:
        raise SystemExit(1)


def real_positions(count: int, seed: int) -> Iterator[Sides]:
    """Positions of games, the mover's side first: by turns a game of pubeval and one of random moves."""
    game, rng, number = backgammon(), np.random.default_rng(seed), 0
    while True:
        mine, theirs = tuple(START.tolist()), tuple(START.tolist())
        by_pubeval = number % 2 == 0
        number += 1
        while any(mine) and any(theirs):
            yield mine, theirs
            count -= 1
            if count == 0:
                return
            state = rolled(mine, theirs, int(rng.integers(len(ROLLS))))
            if int(state.left) != ROLL:
                found = turns(game, state)
                end = choose_by_pubeval(state, found) if by_pubeval else list(found)[rng.integers(len(found))]
                mine, theirs = sides_of(np.frombuffer(end, np.int8))
            mine, theirs = theirs, mine


def reached(mine: Any, theirs: Any, outcome: int) -> set[Sides]:
    """All positions that a roll can lead to by our rules, as `Gnubg.positions` gives them."""
    state = rolled(mine, theirs, outcome)
    if int(state.left) == ROLL:
        return {(tuple(mine), tuple(theirs))}
    return {sides_of(np.frombuffer(end, np.int8)) for end in turns(backgammon(), state)}


def rolled(mine: Any, theirs: Any, outcome: int) -> Any:
    """The state after a roll of seat 0, by compiled rules."""
    facet = host.of(backgammon())
    leaves: list[Any] = [np.array([mine, theirs], np.int8), *(np.int8(number) for number in (0, 0, 0, ROLL))]
    row, after = facet.row(State(*leaves)), facet.rows()
    facet.step(row, outcome, after, facet.work())
    return facet.state(after)


@functools.cache
def backgammon() -> Any:
    """The game, made once: entry points are read from files."""
    return registry.make(GAME)


def digest(found: set[Sides]) -> str:
    """A short text that differs for different sets of positions: their number, and a hash of their ids."""
    ids = sorted(text.position_id(*sides) for sides in found)
    return f"{len(ids)} {hashlib.sha256(' '.join(ids).encode()).hexdigest()[:16]}"


def sides_of(checkers: np.ndarray) -> Sides:
    """The two sides in the bytes of a position's checkers."""
    first, second = checkers.reshape(2, PLACES).tolist()
    return tuple(first), tuple(second)


if __name__ == "__main__":
    cli.run(main, Config)
