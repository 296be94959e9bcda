"""No paper of others: how many games our ways to play a match need to tell two TD(λ) nets apart on Ludo.

Two nets of different length of training play against each other (each has two seats) and each against three random
players. From the spread of the results follows the number of games after which the 95 % interval of a difference of
one point of a hundred does not hold 0: n = (1.96 s / 1 point)² games, where s is the spread of one game's result (of a
group of games with the same dice, times its games). Plain, with duplicate dice, without luck, and both. Coverage: how
often the 95 % intervals of repeated matches hold the mean of all of them.
"""

from __future__ import annotations

import math
import pathlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from boardrl import registry
from boardrl.matches import arena, luck, observations
from boardrl.matches.luck import Control
from boardrl.matches.records import Played
from boardrl.play import players
from boardrl.play.players import Player
from boardrl.runs import progress
from launch.papers import trained
from launch.papers.cell import Cell, Item, share

GAME = "ludo"
TRAINING = (100_000, 50_000)  # games of the two nets
QUICKER = 20  # times fewer of them for a first look
NORMAL = 1.959964
POINT = 0.01
WAYS: dict[str, tuple[bool, bool]] = {  # duplicate, control
    "plain": (False, False),
    "duplicate": (True, False),
    "luck-adjusted": (False, True),
    "both": (True, True),
}
BAR = 10.0  # times fewer games than plain that are asked for, head to head
REPEATS = 400  # matches whose intervals are counted
REPEATED_GAMES = 256  # of each of them


class Nets(NamedTuple):
    strong: Player
    weak: Player
    control: Control


def nets(games: int, seed: int) -> Nets:
    """The two nets, trained once and kept; the stronger one's values tell the luck."""
    game = registry.make(GAME)
    found: list[Player] = []
    for full, name in zip(TRAINING, ("arena-strong", "arena-weak"), strict=True):
        count = full if games >= ITEMS["head_to_head"].games else full // QUICKER
        flags = {"game": GAME, "algo": "td_lambda", "games": count, "evaluate_games": 100, "final_games": 400}
        flags |= {"evaluate_every": count, "evaluate_against": "random"}
        path: pathlib.Path = trained.run(name, seed, flags)
        found.append(players.make(str(path), game))
    control = luck.of_player(found[0])
    assert control is not None
    return Nets(found[0], found[1], control)


def games_needed(games: np.ndarray, played: Played) -> float:
    """Games until an edge of one point shows: (1.96 s / 0.01)² groups of games, with s the spread of a group's mean."""
    size = 1 if played.group is None else len(games) // len(np.unique(played.group))
    return size * observations.mean(observations.grouped(games, played.group)).variance * (NORMAL / POINT) ** 2


def measured(seated: Sequence[Player], arrangements: np.ndarray, games: int, seed: int, control: Control) -> list[Any]:
    """(way, games needed, its interval) of each way to play the match; the first player is looked at.

    Of a chi-squared spread over n observations the interval of its variance is about ± 1.96 √(2/n) of it.
    """
    game = registry.make(GAME)
    found = []
    for way, (duplicate, adjusts) in WAYS.items():
        with progress.track(way, games, "games") as bar:
            used = control if adjusts else None
            played = arena.play(
                game,
                seated,
                arrangements,
                num_games=games,
                seed=seed,
                tick=bar.update,
                duplicate=duplicate,
                control=used,
            )
        wins = _wins(played, game.spec)
        needed = games_needed(wins, played)
        count = len(wins) if played.group is None else len(np.unique(played.group))
        reach = NORMAL * math.sqrt(2 / count) * needed
        found.append((way, needed, needed - reach, needed + reach))
    return found


def _wins(played: Played, spec: Any) -> np.ndarray:
    """[N] the share of wins of player 0 in all its seats, without luck where that is known."""
    mine = played.seating == 0
    best = played.returns.max(axis=1, keepdims=True)
    shares = (played.returns == best) / (played.returns == best).sum(axis=1, keepdims=True)
    if played.luck is not None:
        shares = shares - played.luck * observations.per_win(spec)
    return (shares * mine).sum(axis=1)


def _cells(row: str, found: list[Any]) -> list[Cell]:
    plain = found[0][1]
    cells = [Cell(row, way, "games for one point", *numbers) for way, *numbers in found]
    return cells + [
        Cell(row, f"{way}: times fewer", "×", plain / needed, plain / high, plain / max(low, 1e-9))
        for way, needed, low, high in found[1:]
    ]


HEAD_TO_HEAD = np.array([[0, 1, 0, 1], [1, 0, 1, 0]])  # the two nets in opposite seats, and changed
ROTATIONS = (np.arange(4)[None, :] - np.arange(4)[:, None]) % 4


def head_to_head(games: int, seed: int) -> Sequence[Cell]:
    """Two nets, two seats each."""
    strong, weak, control = nets(games, seed)
    return _cells("net v net", measured([strong, weak], HEAD_TO_HEAD, games, seed, control))


def against_random(games: int, seed: int) -> Sequence[Cell]:
    """The stronger net against three random players, and the weaker one with the same dice: the difference."""
    strong, weak, control = nets(games, seed)
    game = registry.make(GAME)
    cells = []
    for name, net in (("strong", strong), ("weak", weak)):
        seated = [net, *players.make_lineup("random,random,random", game)]
        cells += _cells(f"{name} v 3 random", measured(seated, ROTATIONS, games, seed, control))
    return cells


def of_slices(wins: np.ndarray, group: np.ndarray | None, repeats: int) -> list[observations.Mean]:
    """The mean of each of so many matches, which are disjoint slices of [N] games in the order of their numbers."""
    groups = np.split(group, repeats) if group is not None else [None] * repeats
    return [
        observations.mean(observations.grouped(*match)) for match in zip(np.split(wins, repeats), groups, strict=True)
    ]


def coverage(games: int, seed: int) -> Sequence[Cell]:
    """Repeated matches of the two nets: how often a 95 % interval holds the mean of all matches.

    All are played at once, as one long match whose slices share no game and no dice.
    """
    repeats = max(20, min(REPEATS, games // REPEATED_GAMES))
    strong, weak, control = nets(games, seed)
    game, cells = registry.make(GAME), []
    for way, (duplicate, adjusts) in WAYS.items():
        with progress.track(f"coverage, {way}", repeats * REPEATED_GAMES, "games") as bar:
            played = arena.play(
                game, [strong, weak], HEAD_TO_HEAD, num_games=repeats * REPEATED_GAMES, seed=seed + 1,
                tick=bar.update, duplicate=duplicate, control=control if adjusts else None,
            )  # fmt: skip
        found = of_slices(_wins(played, game.spec), played.group, repeats)
        truth = float(np.mean([one.mean for one in found]))
        held = sum(one.low <= truth <= one.high for one in found)
        cells.append(Cell("net v net", way, "% of intervals", *share(held, repeats), expected=95.0, tolerance=2.0))
    return cells


ITEMS = {
    "head_to_head": Item(
        "Games needed to see an edge of one point, net against net on Ludo",
        20_000,
        head_to_head,
        notes=(f"bar: at least {BAR:g} times fewer than plain by both",),
        unit="games a way",
    ),
    "against_random": Item(
        "Games needed to see one point, a net against three random players", 20_000, against_random, unit="games a way"
    ),
    "coverage": Item(
        "Coverage of the 95 % intervals over repeated matches of two nets",
        REPEATS * REPEATED_GAMES,
        coverage,
        unit="games a way",
        quick=20 * REPEATED_GAMES,
    ),
}
