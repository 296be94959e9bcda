"""How much better than an evolved truth table any other of the same inputs is: all of its neighbours, measured.

Of a table only the order of its entries matters, so that a table of K combinations is a ranking of them. A neighbour
has one combination at another rank.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from algorithms.genomes import climb, matches
from algorithms.genomes.truth_table import ByTable, TruthTable
from boardrl.play.players import Player
from boardrl.play.policy import Policy
from boardrl.runs import progress
from games.ludo import Ludo
from launch.papers import sdu_matches
from launch.papers.cell import Cell, mean
from launch.papers.sdu_matches import MATCH_GAMES

MEASURED = 0.2  # games in which the evolved table and the best neighbour are measured, as a part of all others


def neighbours(order: Sequence[int]) -> list[tuple[int, ...]]:
    """All rankings that come from one by moving one entry to another rank."""
    found = []
    for index, entry in enumerate(order):
        others = [*order[:index], *order[index + 1 :]]
        found += [(*others[:rank], entry, *others[rank:]) for rank in range(len(order))]
    return sorted(set(found) - {tuple(order)})


def cells(player: Player, games: int, seed: int) -> Sequence[Cell]:
    """An evolved player beside the best of its neighbours, which is chosen and measured on different games."""
    assert player.policy is not None
    game, made = Ludo(rules="sdu_java"), TruthTable(encoding="saederup")
    codes = made.combinations(game) @ (1 << np.arange(made.combinations(game).shape[1]))
    start = tuple(np.argsort(np.asarray(player.policy.params)[codes], kind="stable").tolist())
    apply = player.policy.apply
    assert isinstance(apply, ByTable)
    tried = [_policy(apply, codes, order) for order in (start, *neighbours(start))]
    with progress.track(f"{len(tried) - 1} rankings", games, "games") as bar:

        def returns(candidate: int, each: int, number: int) -> np.ndarray:
            bar.update(each)
            return _points(game, tried[candidate], each, seed + 1 + number)

        best = climb.best(len(tried), games, returns)
    ours, theirs = (
        MATCH_GAMES * _points(game, tried[candidate], int(MEASURED * games), seed) for candidate in (0, best.challenger)
    )
    row = f"best of {len(tried) - 1} neighbours"
    what = "two against two SemiSmart"
    return [
        Cell("evolved", what, "points", *mean(ours)),
        Cell(row, what, "points", *mean(theirs)),
        Cell(row, "more than the evolved one", "points", *mean(theirs - ours)),
    ]


def _policy(apply: ByTable, codes: np.ndarray, order: Sequence[int]) -> Policy:
    """The player of a ranking, the least wanted combination first."""
    table = np.zeros(1 << int(codes.max()).bit_length(), np.float32)
    table[codes[list(order)]] = np.arange(1, len(order) + 1)
    return Policy(apply, table)


def _points(game: Ludo, policy: Policy, games: int, seed: int) -> np.ndarray:
    """[G] float64: points of two copies against two SemiSmart; the same dice for the same seed."""
    opponent = sdu_matches.opponent().policy
    assert opponent is not None
    seating = climb.seating(games, game.spec.num_players, 2)
    returns = matches.play(game, [policy], [opponent] * 2, seating, seed=seed)
    return returns.sum(1, where=seating == 0).astype(np.float64)
