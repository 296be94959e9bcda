"""Round robins: every pair meets, and all are rated."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from boardrl import arena, intervals, observations, progress, ratings
from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.kept import Kept
from boardrl.match_record import Played, Record
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
    low: float  # 95 % Wilson interval of the win rate, from games that do not repeat others
    high: float
    score: float  # (wins + draws / 2) / games
    cut: int  # games that reached `max_steps` and were scored as they stood
    distinct: int  # different games: other moves, or other seats
    observations: float  # how many independent games the interval rests on (boardrl.observations)


class Ranked(NamedTuple):
    """A player's rating with its 95 % interval (boardrl.ratings), and its mean score over all games."""

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


class Records:
    """The games of every pair as they finish."""

    def __init__(self, kept: Kept | None = None) -> None:
        self._kept = kept
        self._pairs: dict[tuple[int, int], Record] = {}

    def of(self, first: int, second: int) -> Record:
        """The games of one pair, from now on."""
        return self._pairs.setdefault((first, second), Record(self._kept, f"{first}:{second} "))

    @property
    def num_over(self) -> int:
        """How many games are over, whether they count or not."""
        return sum(record.num_over for record in list(self._pairs.values()))

    def played(self) -> dict[tuple[int, int], Played]:
        """The games that count so far, of the pairs that have any."""
        return {pair: record.played() for pair, record in list(self._pairs.items()) if record.num_counted}

    def save(self) -> None:
        for record in list(self._pairs.values()):
            record.save()


def play(
    game: Game[Any],
    players: Sequence[Playable],
    *,
    num_games: int,
    seed: int,
    opening: int = 0,
    bar: progress.Bar | None = None,
    processes: int | None = None,
    records: Records | None = None,
) -> RoundRobin:
    """Every pair plays `num_games` games, as first and as second equally often.

    With more than two seats the two players take turns round the table: one has the seats 0, 2, ... and the other
    1, 3, ..., then the other way round. The better of the two best returns wins.

    Args:
      records: get the games as they finish, and may have some already.
    """
    if len(players) < 2:
        raise UserError(f"a round robin needs at least 2 players, but {len(players)} were given")
    lineup = make_all(players, game)
    records = records or Records()
    for number, (first, second) in enumerate(itertools.combinations(range(len(players)), 2)):
        arena.play(
            game,
            [lineup[first], lineup[second]],
            (np.arange(2)[:, None] + np.arange(game.spec.num_players)[None, :]) % 2,
            num_games=num_games,
            seed=_seed(seed, first, second),
            opening=opening,
            tick=_from(number * num_games, bar.update) if bar else None,
            resumed=_from(number * num_games, bar.restart) if bar else None,
            processes=processes,
            record=records.of(first, second),
        )
    return rank(lineup, records.played(), num_games=num_games, seed=seed)


def rank(
    players: Sequence[Player], played: Mapping[tuple[int, int], Played], *, num_games: int, seed: int
) -> RoundRobin:
    """The table of a round robin, or of the pairs that have met so far."""
    pairs = [_pair(first, second, games) for (first, second), games in played.items()]
    return RoundRobin(_rank(players, pairs), tuple(pairs), num_games, seed)


def _seed(*parts: int) -> int:
    """Dice of its own for every pair."""
    return int(np.random.SeedSequence(parts).generate_state(1)[0])


def _from(before: int, tell: arena.Tick) -> arena.Tick:
    return lambda done: tell(before + done)


def _pair(first: int, second: int, played: Played) -> Pair:
    best = [np.where(played.seating == number, played.returns, -np.inf).max(axis=1) for number in (0, 1)]
    games, effective = len(played.cut), observations.effective(played.copies)
    wins, draws = int((best[0] > best[1]).sum()), int((best[0] == best[1]).sum())
    return Pair(
        first,
        second,
        games,
        wins,
        draws,
        games - wins - draws,
        wins / games,
        *intervals.of_games(wins, games, effective),
        score=(wins + draws / 2) / games,
        cut=int(played.cut.sum()),
        distinct=played.distinct,
        observations=effective,
    )


def _rank(players: Sequence[Player], pairs: Sequence[Pair]) -> tuple[Ranked, ...]:
    """The ratings of all; of a player who has met nobody yet nothing is known."""
    wins, draws, share = np.zeros((3, len(players), len(players)))
    for pair in pairs:
        wins[pair.first, pair.second], wins[pair.second, pair.first] = pair.wins, pair.losses
        draws[pair.first, pair.second] = draws[pair.second, pair.first] = pair.draws
        # Games that repeat others count as often as they are observations.
        share[pair.first, pair.second] = share[pair.second, pair.first] = pair.observations / pair.games
    games = (wins + wins.T + draws).sum(axis=1)
    points = (wins + draws / 2).sum(axis=1)
    met = games.nonzero()[0]
    rated = ratings.rate((wins * share)[np.ix_(met, met)], (draws * share)[np.ix_(met, met)]) if len(met) else []
    ranked = [Ranked(player.name, ratings.MEAN, -math.inf, math.inf, 0, 0.0) for player in players]
    for number, rating in zip(met, rated, strict=True):
        ranked[number] = Ranked(players[number].name, *rating, int(games[number]), points[number] / games[number])
    return tuple(ranked)
