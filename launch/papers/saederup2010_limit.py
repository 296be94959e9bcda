"""How much better than an evolved truth table any other of the same inputs is: all of its neighbours, measured.

Of a table only the order of its entries matters, so that a table of K combinations is a ranking of them. A neighbour
has one combination at another rank.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from algorithms.genomes import matches
from algorithms.genomes.truth_table import ByTable, TruthTable
from boardrl.play.players import Player
from boardrl.play.policy import Policy
from boardrl.runs import progress
from games.ludo import Ludo
from launch.papers import sdu_matches
from launch.papers.cell import Cell

FINALISTS, TIMES = 8, 20  # of the neighbours with the most points, and how many times as many games they then play


def neighbours(order: Sequence[int]) -> list[tuple[int, ...]]:
    """All rankings that come from one by moving one entry to another rank."""
    found = []
    for index, entry in enumerate(order):
        others = [*order[:index], *order[index + 1 :]]
        found += [(*others[:rank], entry, *others[rank:]) for rank in range(len(order))]
    return sorted(set(found) - {tuple(order)})


def cells(player: Player, games: int, seed: int) -> Sequence[Cell]:
    """An evolved player beside the best of its neighbours, which are chosen and measured on different games."""
    assert player.policy is not None
    game, made = Ludo(rules="sdu_java"), TruthTable(encoding="saederup")
    codes = made.combinations(game) @ (1 << np.arange(made.combinations(game).shape[1]))
    start = tuple(np.argsort(np.asarray(player.policy.params)[codes], kind="stable").tolist())
    tried = neighbours(start)
    apply = player.policy.apply
    assert isinstance(apply, ByTable)
    first = _points(game, [_policy(apply, codes, order) for order in tried], games, seed)
    best = [tried[index] for index in np.argsort(-first.mean(1), kind="stable")[:FINALISTS]]
    second = _points(game, [_policy(apply, codes, order) for order in (start, *best)], TIMES * games, seed + 1)
    lead = second[1:].mean(1).argmax() + 1
    spread = sdu_matches.PER * 1.96 * np.sqrt(sum(second[one].var() / second.shape[1] for one in (0, lead)))
    gain = sdu_matches.PER * float(second[lead].mean() - second[0].mean())
    row = f"best of {len(tried)} neighbours"
    return [
        Cell("evolved", "seats rotated", "points", *sdu_matches.points(second[0])),
        Cell(row, "seats rotated", "points", *sdu_matches.points(second[lead])),
        Cell(row, "more than the evolved one", "points", gain, gain - spread, gain + spread),
    ]


def _policy(apply: ByTable, codes: np.ndarray, order: Sequence[int]) -> Policy:
    """The player of a ranking, the least wanted combination first."""
    table = np.zeros(1 << int(codes.max()).bit_length(), np.float32)
    table[codes[list(order)]] = np.arange(1, len(order) + 1)
    return Policy(apply, table)


def _points(game: Ludo, policies: Sequence[Policy], games: int, seed: int) -> np.ndarray:
    """[N, G] points of each against three SemiSmart, seats in turn."""
    opponent = sdu_matches.opponent().policy
    assert opponent is not None
    who, number = np.divmod(np.arange(len(policies) * games), games)
    seating = np.full((len(who), 4), -1, np.int32)
    seating[np.arange(len(who)), number % 4] = who
    with progress.track(f"{len(policies)} rankings", len(who), "games") as bar:
        returns = matches.play(game, policies, [opponent], seating, seed=seed)
        bar.update(len(who))
    return np.take_along_axis(returns, (number % 4)[:, None], 1).reshape(len(policies), games)
