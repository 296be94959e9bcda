"""Figure 1 of Brunton and Cohney (2013): every player of Jumper against every other, as White and as Black."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from boardrl import registry
from boardrl.matches import arena
from boardrl.runs import progress
from boardrl.runs.saved_results import Kept
from launch.console import named_players
from launch.papers import trained
from launch.papers.cell import Cell, share

OPENING = 4  # random moves at the start, because deterministic players would repeat one game

# White's wins in % as printed; in each row the opponents in the same order.
PRINTED: Mapping[str, Sequence[float]] = {
    "random": (56.2, 100, 0, 0, 0),
    "MLP": (100, 47, 100, 100, 0),
    "minimax": (100, 100, 100, 100, 0),
    "Negascout": (100, 100, 0, 100, 0),
    "alpha-beta, learned": (100, 100, 100, 100, 74),
}


def cells(players: Mapping[str, str], games: int, seed: int) -> Sequence[Cell]:
    """White's win rate in each pair; players by the names of PRINTED, with their texts."""
    game = registry.make("jumper:size=6")
    kept = Kept(trained.FOLDER / f"brunton2013-fig1-{games}-s{seed}.jsonl")
    print(f"pairs     {kept.path}")
    result = []
    for white, printed in PRINTED.items():
        for black, paper in zip(PRINTED, printed, strict=True):
            key = f"{players[white]} : {players[black]}"
            if key not in kept.rows:
                pair = named_players.make(f"{players[white]},{players[black]}", game)
                with progress.track(f"{white} against {black}", games, "games") as bar:
                    played = arena.play(
                        game, pair, np.array([[0, 1]]), num_games=games, seed=seed, opening=OPENING, tick=bar.update
                    )
                kept.add(key, [int((sign * played.returns[:, 0] > 0).sum()) for sign in (1, -1)])
            won, lost = kept.rows[key]
            row = f"{white} (White) against {black}: {won}-{lost}, {games - won - lost} drawn"
            result.append(Cell(row, "White", "% won", *share(won, games), paper))
    return result
