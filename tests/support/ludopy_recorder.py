"""Plays ludopy's own Game and writes down every roll, choice and position.

`python tests/support/ludopy_recorder.py OUT.npz --games=40` in an environment with ludopy 1.3.1 made
tests/data/ludopy131_games.npz; the installed version is recorded afresh by test_ludo_ludopy.py.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np

SEATS = {2: (0, 2), 3: (0, 1, 2), 4: (0, 1, 2, 3)}  # ludopy's players that take part; the others are its ghosts


class Games(NamedTuple):
    """Rolls of G games, padded with die 0 to the longest, T rolls."""

    die: np.ndarray  # [G, T] int8: 1 to 6
    choice: np.ndarray  # [G, T] int8: the piece moved, or -1 if none could be
    seat: np.ndarray  # [G, T] int8: who rolled
    movable: np.ndarray  # [G, T, 4] bool
    pieces: np.ndarray  # [G, T, P, 4] int8: after the roll was played
    winner: np.ndarray  # [G] int8: the first to finish
    order: np.ndarray  # [G, P] int8: seats in the order of finishing, -1 if the game ended before


def record(num_games: int, *, players: int = 4, ranked: bool = False, seed: int = 0) -> Games:
    """Games of random moves, to the first winner or, `ranked`, until one player is left.

    A player who has finished still rolls in ludopy, without effect: such rolls are left out.
    """
    import ludopy

    np.random.seed(seed)  # noqa: NPY002  ludopy throws its dice with numpy's global generator
    choices = np.random.default_rng(seed)
    games = [_record_one(ludopy, SEATS[players], ranked, choices) for _ in range(num_games)]
    longest = max(len(rolls) for rolls, _ in games)
    stacked = Games(
        die=np.zeros((num_games, longest), np.int8),
        choice=np.full((num_games, longest), -1, np.int8),
        seat=np.zeros((num_games, longest), np.int8),
        movable=np.zeros((num_games, longest, 4), bool),
        pieces=np.zeros((num_games, longest, players, 4), np.int8),
        winner=np.array([order[0] for _, order in games], np.int8),
        order=np.full((num_games, players), -1, np.int8),
    )
    for index, (rolls, order) in enumerate(games):
        for field, column in zip(stacked[:5], zip(*rolls, strict=True), strict=True):
            field[index, : len(rolls)] = column
        stacked.order[index, : len(order)] = order
    return stacked


def _record_one(ludopy, seats, ranked, choices):
    game = ludopy.Game(ghost_players=[ghost for ghost in range(4) if ghost not in seats])
    rolls, needed = [], len(seats) - 1 if ranked else 1
    while len(game.get_winners_of_game()) < needed:
        (die, movable, *_), player = game.get_observation()
        finished = player in game.get_winners_of_game()
        choice = int(choices.choice(movable)) if len(movable) else -1
        game.answer_observation(choice)
        if not finished:
            pieces = [game.players[seat].get_pieces() for seat in seats]
            rolls.append((die, choice, seats.index(player), [piece in movable for piece in range(4)], pieces))
    return rolls, [seats.index(winner) for winner in game.get_winners_of_game()]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out")
    parser.add_argument("--games", type=int, default=40)
    arguments = parser.parse_args()
    np.savez_compressed(arguments.out, **record(arguments.games, seed=131)._asdict())
