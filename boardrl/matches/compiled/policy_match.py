"""Matches without luck between policies, played in compiled code.

A roll costs the legal afterstates of its outcomes, which the players look at to choose one of them, and the control's
value of those chosen. Players are nets, scripted players and whatever else `boardrl.play.lineup` compiles; the control
is a value function.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import itertools
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from boardrl import host
from boardrl.game import Game
from boardrl.lowering.ir import LoweringError
from boardrl.matches.compiled import policy_match_kernel
from boardrl.matches.luck import Control
from boardrl.matches.records import Record, Result
from boardrl.play import lineup, lineup_slots
from boardrl.play.lineup import ByValue
from boardrl.play.policy import Greedy, Policy, distinct
from boardrl.system import machine

LEAST_GAMES = 200  # of a match that is worth the time to compile
BLOCK = 16  # games that a thread plays before it takes the next ones


@dataclasses.dataclass(frozen=True, eq=False)
class PolicyMatch:
    """The compiled kernel of a match, and the parameters of its players and of its control."""

    module: types.ModuleType
    params: np.ndarray  # [W] uint64, of the lineup
    control: int  # its number in the lineup
    number_of: np.ndarray  # [M] of each player in the lineup: players who are alike have the same number

    def play(
        self,
        record: Record,
        *,
        seed: int,
        opening: int = 0,
        num_shared: int = 0,
        tick: Callable[[int], None],
    ) -> None:
        """Plays the games that are missing from a record, or until it is decided.

        All randomness of a game derives from the seed and the number of the game, or of its group.

        Args:
          num_shared: number of games in a row that have the same dice; 0: each has its own.
        """
        missing = np.array([index for index, _ in record.left()], np.int64)
        num_games, num_players = record.seating.shape
        group_of = np.arange(num_games) // max(num_shared, 1)
        seating = self.number_of[record.seating].astype(np.int32)
        results, luck = np.zeros((2, num_games, num_players), np.float32)
        cut, drawn = np.zeros((2, num_games), np.bool_)
        courses = np.zeros(num_games, np.uint64)

        def block(games: np.ndarray) -> np.ndarray:
            self.module.play(
                games, np.uint64(seed), group_of, opening, seating, self.control, self.params,
                results, luck, cut, drawn, courses,
            )  # fmt: skip
            return games

        done = num_games - len(missing)
        blocks = iter(np.split(missing, range(BLOCK, len(missing), BLOCK)) if len(missing) else [])
        cores = machine.num_cores()
        with concurrent.futures.ThreadPoolExecutor(cores) as threads:
            under_way = [threads.submit(block, games) for games in itertools.islice(blocks, 2 * cores)]
            while under_way and not record.decided():
                for game in under_way.pop(0).result():
                    found = (results[game].tolist(), bool(cut[game]), int(courses[game]), bool(drawn[game]), False)
                    record.finish(int(game), Result(*found, luck[game].tolist()))
                    done += 1
                tick(done)
                under_way += [threads.submit(block, games) for games in itertools.islice(blocks, 1)]


def find(game: Game[Any], policies: Sequence[Policy], control: Control, *, num_games: int) -> PolicyMatch | None:
    """The compiled match of these policies; None where they, or so few games, are better played in JAX."""
    if num_games < LEAST_GAMES or control.at_decisions or control.turns:
        return None
    different, number_of = distinct(policies)
    deciders: tuple[lineup.Decider, ...] = tuple(map(lineup.decider, different))
    params: tuple[Any, ...] = tuple(policy.params for policy in different)
    number = _number_of(game, control, deciders, params)
    if number == len(deciders):
        deciders, params = (*deciders, ByValue(control.value)), (*params, control.params)
    try:
        players = lineup.lower(game, deciders, params)
    except LoweringError:
        return None
    module = host.specialise(policy_match_kernel, host.of(game), slots={lineup_slots.__name__: players.module})
    return PolicyMatch(module, players.params(params), number, number_of)


def _number_of(game: Game[Any], control: Control, deciders: Sequence[lineup.Decider], params: Sequence[Any]) -> int:
    """The number of a player who decides by the control's values; else the next number."""
    wanted = Policy(Greedy(game, control.value), control.params)
    for number, (decider, known) in enumerate(zip(deciders, params, strict=True)):
        if isinstance(decider, ByValue) and len(distinct((wanted, Policy(Greedy(game, decider.value), known)))[0]) == 1:
            return number
    return len(deciders)
