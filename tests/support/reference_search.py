"""Games and minimax once more in plain Python: what the compiled searchers are tested against."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import plain_jumper

from boardrl.game import CHANCE, TERMINAL
from games import pig, tic_tac_toe
from games.jumper import rules

LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


class TicTacToe:
    """A position is (cells, seat to move)."""

    first = ((0,) * 9, 0)

    def moves(self, position: Any) -> list[Any]:
        cells, seat = position
        return [((*cells[:i], seat + 1, *cells[i + 1 :]), 1 - seat) for i in range(9) if not cells[i]]

    def over(self, position: Any) -> float | None:
        """What seat 0 has got, or None while the game goes on."""
        cells, _ = position
        for a, b, c in LINES:
            if cells[a] and cells[a] == cells[b] == cells[c]:
                return 1.0 if cells[a] == 1 else -1.0
        return 0.0 if all(cells) else None

    def states(self, positions: list[Any]) -> Any:
        boards = np.array([cells for cells, _ in positions], np.int8)
        return tic_tac_toe.of_board(boards, seats(positions), np.full(len(boards), -1, np.int32))


class Jumper:
    def __init__(self, size: int) -> None:
        self.first = (plain_jumper.empty_board(size), 0)

    def moves(self, position: Any) -> list[Any]:
        board, seat = position
        return [(after, 1 - seat) for after in sorted({after for _, after in plain_jumper.turns(board, seat + 1)})]

    def over(self, position: Any) -> float | None:
        cells = [cell for row in position[0] for cell in row]
        return None if plain_jumper.EMPTY in cells else float(np.sign(cells.count(1) - cells.count(2)))

    def states(self, positions: list[Any]) -> Any:
        boards = np.array([board for board, _ in positions], np.int8).reshape(len(positions), -1)
        return rules.of_board(boards, seats(positions), np.full(len(boards), rules.NO_CHAIN, np.int32))

    def lead(self, position: Any, weight: float) -> float:
        """The linear evaluation of the lead in pieces, to seat 0."""
        cells = [cell for row in position[0] for cell in row]
        return math.tanh(weight * (cells.count(1) - cells.count(2)) / len(cells))


class Pig:
    """A position is (scores, total at stake, seat, whether the die is in the air)."""

    def __init__(self, players: int, target: int) -> None:
        self.players, self.target = players, target
        self.first = ((0,) * players, 0, 0, False)

    def actor(self, position: Any) -> int:
        scores, _, seat, rolling = position
        return TERMINAL if max(scores) >= self.target else CHANCE if rolling else seat

    def over(self, position: Any) -> float | None:
        return 0.0 if self.actor(position) == TERMINAL else None

    def returns(self, position: Any) -> list[float]:
        if max(position[0]) < self.target:
            return [0.0] * self.players
        return [1.0 if score >= self.target else -1 / (self.players - 1) for score in position[0]]

    def moves(self, position: Any) -> list[Any]:
        """Positions after each action, or after each of the six faces."""
        scores, total, seat, rolling = position
        after = (seat + 1) % self.players
        if rolling:
            most = self.target - scores[seat]
            return [(scores, 0, after, False)] + [(scores, min(total + n, most), seat, False) for n in range(2, 7)]
        held = tuple(score + total * (player == seat) for player, score in enumerate(scores))
        return [(scores, total, seat, True)] + ([(held, 0, after, False)] if total else [])

    def states(self, positions: list[Any]) -> Any:
        scores, totals, seats, rolling = zip(*positions, strict=True)
        return pig.State(*(np.array(part, np.int32) for part in (scores, totals, seats)), np.array(rolling))


class OnRows:
    """Any game whose outcomes are equally likely; a position is the bytes of a row, stepped by the compiled rules."""

    def __init__(self, facet: Any) -> None:
        self.facet, self.work = facet, facet.work()
        row = facet.rows()
        facet.init(row)
        self.first = row.tobytes()

    def row(self, position: bytes) -> np.ndarray:
        return np.frombuffer(position, np.uint64).copy()

    def actor(self, position: bytes) -> int:
        return int(self.facet.actor(self.row(position), self.work))

    def over(self, position: bytes) -> float | None:
        return 0.0 if self.actor(position) == TERMINAL else None

    def returns(self, position: bytes) -> np.ndarray:
        result = np.zeros(self.facet.game.spec.num_players, np.float32)
        self.facet.returns(self.row(position), result, self.work)
        return result

    def moves(self, position: bytes) -> list[bytes]:
        spec, row = self.facet.game.spec, self.row(position)
        if self.actor(position) == CHANCE:
            mask = np.zeros(spec.num_outcomes, np.float32)
            self.facet.chance(row, mask, self.work)
            assert len(set(mask[mask > 0].tolist())) == 1
        else:
            mask = np.isin(np.arange(spec.num_actions), self.facet.actions(row))
        afters = self.facet.rows(len(mask))
        for move in np.flatnonzero(mask):
            self.facet.step(row, int(move), afters[move], self.work)
        return [afters[move].tobytes() for move in np.flatnonzero(mask)]


def expectation(
    game: Any,
    combine: Callable[[Any, int, list[np.ndarray]], np.ndarray],
    evaluate: Callable[[Any], np.ndarray] | None = None,
) -> Callable[[Any, int], np.ndarray]:
    """A function of a position and a depth: [P] values; `combine` picks from those of a player's moves.

    Args:
      evaluate: [P] what a position at the depth limit is worth; none: what it returns as it stands.
    """

    @functools.cache
    def value(position: Any, depth: int) -> np.ndarray:
        who = game.actor(position)
        if who == TERMINAL or depth == 0:
            return np.array(evaluate(position) if evaluate and who != TERMINAL else game.returns(position))
        below = []
        for after in game.moves(position):
            then = game.actor(after)
            below.append(value(after, depth - (then == CHANCE if who == CHANCE else then != who)))
        return np.mean(below, 0) if who == CHANCE else combine(position, who, below)

    return value


def seats(positions: list[Any]) -> np.ndarray:
    return np.array([seat for _, seat in positions], np.int32)


def minimax(game: Any, evaluate: Callable[[Any], float] = lambda position: 0.0) -> Callable[[Any, int], float]:
    """A function of a position and a depth: what seat 0 gets."""

    @functools.cache
    def value(position: Any, depth: int) -> float:
        result = game.over(position)
        if result is not None:
            return result
        if depth == 0:
            return evaluate(position)
        below = [value(after, depth - 1) for after in game.moves(position)]
        return max(below) if position[1] == 0 else min(below)

    return value


def random_positions(game: Any, number: int, *, after: int = 0, seed: int) -> list[Any]:
    """Positions of random games in which somebody is to move, from the one after that many moves on."""
    rng = np.random.default_rng(seed)
    positions: list[Any] = []
    while len(positions) < number:
        position, played = game.first, 0
        while game.over(position) is None and len(positions) < number:
            if played >= after:
                positions.append(position)
            played += 1
            moves = game.moves(position)
            position = moves[rng.integers(len(moves))]
    return positions
