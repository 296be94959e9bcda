"""No paper of others: how many games our ways to play a match need to tell two TD(λ) nets apart on Ludo.

Two nets of different length of training play against each other (each has two seats) and each against three random
players. Luck is told by a third net, which `--algo=control_variate` has fitted to other games of the two. From the
spread of the results follows the number of games after which the 95 % interval of a difference of one point in a
hundred does not hold 0: n = (1.96 s / 1 point)² games, where s is the spread of one game's result (of a group of games
with the same dice, times its games). Plain, with duplicate dice, without luck, and both. Coverage: how often the 95 %
intervals of repeated matches hold the mean of all of them.
"""

from __future__ import annotations

import functools
import math
import pathlib
from collections.abc import Mapping, Sequence
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
FITTING: dict[str, Any] = {"games": 36_000, "hidden": "192+32"}  # of the net that tells the luck of their games
QUICKER = 20  # times fewer of all of them for a first look
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
REPEATED_GAMES = 200  # of each of them


class Nets(NamedTuple):
    strong: Player
    weak: Player
    control: Control


def nets(games: int, seed: int, item: str) -> Nets:
    """The two nets and the control, trained once and kept; with fewer games than an item's own, for a first look."""
    game, share = registry.make(GAME), 1 if games >= ITEMS[item].games else QUICKER

    def trained_by(name: str, algo: str, count: int, **flags: Any) -> pathlib.Path:
        schedule = {"evaluate_every": count, "evaluate_games": 100, "final_games": 400, "evaluate_against": "random"}
        return trained.run(name, seed, {"game": GAME, "algo": algo, "games": count, **schedule, **flags})

    paths = [
        trained_by(name, "td_lambda", full // share)
        for full, name in zip(TRAINING, ("arena-strong", "arena-weak"), strict=True)
    ]
    fitting = FITTING | {"opponents": ",".join(map(str, paths))}
    control = trained_by("arena-control", "control_variate", fitting.pop("games") // share, **fitting)
    strong, weak = (players.make(str(path), game) for path in paths)
    return Nets(strong, weak, luck.make(str(control), game))


def games_needed(games: np.ndarray, played: Played) -> float:
    """Games until an edge of one point shows: (1.96 s / 0.01)² groups of games, with s the spread of a group's mean."""
    size = 1 if played.group is None else len(games) // len(np.unique(played.group))
    return size * observations.mean(observations.grouped(games, played.group)).variance * (NORMAL / POINT) ** 2


def each_way(
    seated: Sequence[Player], arrangements: np.ndarray, games: int, seed: int, control: Control
) -> dict[str, Played]:
    """The match played in each way."""
    found = {}
    for way, (duplicate, adjusts) in WAYS.items():
        with progress.track(way, games, "games") as bar:
            found[way] = arena.play(
                registry.make(GAME), seated, arrangements, num_games=games, seed=seed, tick=bar.update,
                duplicate=duplicate, control=control if adjusts else None,
            )  # fmt: skip
    return found


@functools.lru_cache(maxsize=1)
def net_against_net(games: int, seed: int) -> dict[str, Played]:
    """The match of the two nets in each way, for both items that look at it."""
    strong, weak, control = nets(games, seed, "head_to_head")
    return each_way([strong, weak], HEAD_TO_HEAD, games, seed, control)


def measured(matches: Mapping[str, Played]) -> list[Any]:
    """(way, games needed, its interval) of each way to play a match; the first player is looked at.

    Of a chi-squared spread over n observations the interval of its variance is about ± 1.96 √(2/n) of it.
    """
    spec, found = registry.make(GAME).spec, []
    for way, played in matches.items():
        wins = _wins(played, spec)
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
    return _cells("net v net", measured(net_against_net(games, seed)))


def against_random(games: int, seed: int) -> Sequence[Cell]:
    """The stronger net against three random players, and the weaker one with the same dice: the difference."""
    strong, weak, control = nets(games, seed, "against_random")
    game = registry.make(GAME)
    cells = []
    for name, net in (("strong", strong), ("weak", weak)):
        seated = [net, *players.make_lineup("random,random,random", game)]
        cells += _cells(f"{name} v 3 random", measured(each_way(seated, ROTATIONS, games, seed, control)))
    return cells


def of_slices(wins: np.ndarray, group: np.ndarray | None, repeats: int) -> list[observations.Mean]:
    """The mean of each of so many matches, which are disjoint slices of [N] games in the order of their numbers."""
    groups = np.split(group, repeats) if group is not None else [None] * repeats
    return [
        observations.mean(observations.grouped(*match)) for match in zip(np.split(wins, repeats), groups, strict=True)
    ]


def coverage(games: int, seed: int) -> Sequence[Cell]:
    """Repeated matches of the two nets: how often a 95 % interval holds the mean of all matches.

    All are played at once, as one long match whose slices share no game and no dice: the one of `head_to_head`.
    """
    repeats, cells = max(20, games // REPEATED_GAMES), []
    for way, played in net_against_net(repeats * REPEATED_GAMES, seed).items():
        found = of_slices(_wins(played, registry.make(GAME).spec), played.group, repeats)
        truth = float(np.mean([one.mean for one in found]))
        held = sum(one.low <= truth <= one.high for one in found)
        cells.append(Cell("net v net", way, "% of intervals", *share(held, repeats), expected=95.0, tolerance=2.0))
    return cells


ITEMS = {
    "head_to_head": Item(
        "Games needed to see an edge of one point, net against net on Ludo",
        REPEATS * REPEATED_GAMES,
        head_to_head,
        notes=(f"bar: at least {BAR:g} times fewer than plain, luck-adjusted",),
        unit="games a way",
    ),
    "against_random": Item(
        "Games needed to see one point, a net against three random players", 4_000, against_random, unit="games a way"
    ),
    "coverage": Item(
        "Coverage of the 95 % intervals over repeated matches of two nets",
        REPEATS * REPEATED_GAMES,
        coverage,
        unit="games a way",
        quick=20 * REPEATED_GAMES,
    ),
}
