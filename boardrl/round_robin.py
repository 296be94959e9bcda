"""Round robins: every pair meets, and all are rated."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from boardrl import arena, intervals, progress, ratings
from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.players import Playable, Player, make_all


class Pair(NamedTuple):
    """How the first of two players did against the second."""

    first: int  # among the players given
    second: int
    games: int
    wins: int
    draws: int
    losses: int
    win_rate: float
    low: float  # 95 % Wilson interval of the win rate
    high: float
    score: float  # (wins + draws / 2) / games
    cut: int  # games that reached `max_steps` and were scored as they stood


class Ranked(NamedTuple):
    """A player's rating with its 95 % bootstrap interval, and its mean score over all games."""

    name: str
    rating: float
    low: float
    high: float
    games: int
    score: float


class RoundRobin(NamedTuple):
    players: tuple[Ranked, ...]  # in the order given
    pairs: tuple[Pair, ...]
    num_games: int  # of each pair
    seed: int


def play(
    game: Game[Any],
    players: Sequence[Playable],
    *,
    num_games: int,
    seed: int,
    opening: int = 0,
    bar: progress.Bar | None = None,
    processes: int | None = None,
) -> RoundRobin:
    """Every pair plays `num_games` games, as first and as second equally often.

    With more than two seats the two players take turns round the table: one has the seats 0, 2, ... and the other
    1, 3, ..., then the other way round. The better of the two best returns wins.
    """
    if len(players) < 2:
        raise UserError(f"a round robin needs at least 2 players, but {len(players)} were given")
    lineup = make_all(players, game)
    pairs: list[Pair] = []
    for first, second in itertools.combinations(range(len(players)), 2):
        played = arena.play(
            game,
            [lineup[first], lineup[second]],
            (np.arange(2)[:, None] + np.arange(game.spec.num_players)[None, :]) % 2,
            num_games=num_games,
            seed=_seed(seed, first, second),
            opening=opening,
            tick=_tick(bar, len(pairs) * num_games),
            processes=processes,
        )
        pairs.append(_pair(first, second, played))
    return RoundRobin(_rank(lineup, pairs, seed), tuple(pairs), num_games, seed)


def _seed(*parts: int) -> int:
    """Dice of its own for every pair."""
    return int(np.random.SeedSequence(parts).generate_state(1)[0])


def _tick(bar: progress.Bar | None, before: int) -> arena.Tick | None:
    return None if bar is None else lambda done: bar.update(before + done)


def _pair(first: int, second: int, played: arena.Played) -> Pair:
    best = [np.where(played.seating == number, played.returns, -np.inf).max(axis=1) for number in (0, 1)]
    games = len(played.cut)
    wins, draws = int((best[0] > best[1]).sum()), int((best[0] == best[1]).sum())
    return Pair(
        first,
        second,
        games,
        wins,
        draws,
        games - wins - draws,
        wins / games,
        *intervals.wilson(wins, games),
        score=(wins + draws / 2) / games,
        cut=int(played.cut.sum()),
    )


def _rank(players: Sequence[Player], pairs: Sequence[Pair], seed: int) -> tuple[Ranked, ...]:
    wins, draws = np.zeros((2, len(players), len(players)))
    for pair in pairs:
        wins[pair.first, pair.second], wins[pair.second, pair.first] = pair.wins, pair.losses
        draws[pair.first, pair.second] = draws[pair.second, pair.first] = pair.draws
    games = (wins + wins.T + draws).sum(axis=1)
    scores = (wins + draws / 2).sum(axis=1) / games
    rated = ratings.rate(wins, draws, seed=seed)
    return tuple(
        Ranked(player.name, *rating, int(count), float(score))
        for player, rating, count, score in zip(players, rated, games, scores, strict=True)
    )
