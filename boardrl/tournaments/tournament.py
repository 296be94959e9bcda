"""Tournaments: any number of players, a fair schedule of lineups, ratings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.matches import arena, distinct_games, intervals
from boardrl.matches.records import Played, Record
from boardrl.play.players import Playable, Player, make_all
from boardrl.runs import progress
from boardrl.runs.saved_results import Kept
from boardrl.tournaments import ratings, schedules
from boardrl.tournaments.finishing_orders import Finishes
from boardrl.tournaments.schedules import Schedule

AT_A_TIME = 1 << 16  # games compared in one batch


class Pair(NamedTuple):
    """Results of the first of two players in the games that both played."""

    first: int  # index of the player
    second: int
    games: int
    wins: int  # games in which the first got more than the second; with several seats, a player's best one counts
    draws: int
    losses: int
    win_rate: float
    low: float  # 95 % Wilson interval of the win rate, from games that do not repeat others
    high: float
    score: float  # (wins + draws / 2) / games
    observations: float  # number of independent games behind the interval (boardrl.matches.distinct_games)


class Ranked(NamedTuple):
    """A player's rating with its 95 % interval (boardrl.tournaments.ratings), and its results over all its games."""

    name: str
    rating: float
    low: float
    high: float
    games: int
    points: float  # mean return
    score: float  # fraction of its opponents that it beat, a tie counting half
    cut: int  # games that reached `max_steps`


class Tournament(NamedTuple):
    """Results of a tournament; players that no games connect to the others have no rating."""

    players: tuple[Ranked, ...]  # in the order given
    pairs: tuple[Pair, ...]  # of players who have met
    num_games: int
    cut: int  # games that reached `max_steps` and were scored in their last position
    distinct: int  # number of games that differ in their moves or seating
    observations: float  # number of independent games


class _Part(NamedTuple):
    """Games that are played in the same way: on the device, or with host players."""

    name: str
    members: np.ndarray  # [M] the participating players
    arrangements: np.ndarray  # [R, P] indices into `members`


class Records:
    """The finished games of a tournament."""

    def __init__(self, kept: Kept | None = None) -> None:
        self._kept = kept
        self._parts: list[tuple[_Part, Record]] = []

    def begin(self, part: _Part) -> Record:
        """Starts and returns the record of a part."""
        record = Record(self._kept, f"{part.name} ")
        self._parts.append((part, record))
        return record

    @property
    def num_over(self) -> int:
        """Number of finished games, whether they count or not."""
        return sum(record.num_over for _, record in list(self._parts))

    def played(self) -> Played | None:
        """The games that count so far, with players by their index in the tournament; None if there are none."""
        found = [(part, record.played()) for part, record in list(self._parts) if record.num_counted]
        if not found:
            return None
        games = [played._replace(seating=part.members[played.seating]) for part, played in found]
        return Played(*(np.concatenate(columns) for columns in zip(*(game[:5] for game in games), strict=True)))

    def save(self) -> None:
        for _, record in list(self._parts):
            record.save()


def schedule(game: Game[Any], num_players: int, *, games: int) -> Schedule:
    """A fair schedule of at least `games` games for each player."""
    if num_players < 2:
        raise UserError(f"a tournament needs at least 2 players, but {num_players} were given")
    if games < 1:
        raise UserError(f"games={games} is too few for a tournament; expected at least 1 game of each player")
    return schedules.schedule(num_players, game.spec.num_players, games=games, most=arena.MAX_LANES)


def play(
    game: Game[Any],
    players: Sequence[Playable],
    *,
    games: int,
    seed: int,
    opening: int = 0,
    bar: progress.Bar | None = None,
    processes: int | None = None,
    records: Records | None = None,
) -> Tournament:
    """Plays at least `games` games of every player, in every seat and against every other player equally often.

    Games between policies run in batches on the device; games with host players follow, in several processes.

    Args:
      records: receives the games as they finish; games that it already holds are not played again.
    """
    arena.check_seed(seed)
    plan = schedule(game, len(players), games=games)
    lineup = make_all(players, game)
    records, before = records or Records(), 0
    for number, part in enumerate(_parts(lineup, plan)):
        rest = bar.rest(before) if bar else None
        num_games = len(part.arrangements) * plan.repeats
        arena.play(
            game,
            [lineup[member] for member in part.members],
            part.arrangements,
            num_games=num_games,
            seed=int(np.random.SeedSequence([seed, number]).generate_state(1)[0]),  # each part has its own dice
            opening=opening,
            tick=rest.update if rest else None,
            resumed=rest.restart if rest else None,
            processes=processes,
            record=records.begin(part),
        )
        before += num_games
    return rank(lineup, records.played())


def _parts(players: Sequence[Player], plan: Schedule) -> list[_Part]:
    """Games between policies only, and games with a host player."""
    on_host = np.array([player.host is not None for player in players])[plan.arrangements].any(axis=1)  # [R]
    found = []
    for name, mine in (("device", ~on_host), ("host", on_host)):
        if mine.any():
            members, numbers = np.unique(plan.arrangements[mine], return_inverse=True)
            found.append(_Part(name, members, numbers.reshape(-1, plan.arrangements.shape[1])))
    return found


def rank(players: Sequence[Player], played: Played | None) -> Tournament:
    """The results of the games played so far in a tournament."""
    ranked = [Ranked(player.name, ratings.MEAN, -math.inf, math.inf, 0, 0.0, 0.0, 0) for player in players]
    if played is None:
        return Tournament(tuple(ranked), (), 0, 0, 0, 0.0)
    pairs = _pairs(played, len(players))
    scores, met = np.zeros((2, len(players)))
    for pair in pairs:
        scores[[pair.first, pair.second]] += pair.games * pair.score, pair.games * (1 - pair.score)
        met[[pair.first, pair.second]] += pair.games
    rated = _rated(played, pairs, len(players))
    for number, player in enumerate(players):
        sits = played.seating == number  # [N, P]
        if (games := int(sits.any(axis=1).sum())) == 0:
            continue
        points = float(played.returns[sits].mean(dtype=np.float64))
        rating = rated.get(number, ratings.Rating(ratings.MEAN, -math.inf, math.inf))
        score, cut = float(scores[number] / max(met[number], 1)), int(played.cut[sits.any(axis=1)].sum())
        ranked[number] = Ranked(player.name, *rating, games, points, score, cut)
    return Tournament(
        tuple(ranked),
        tuple(pairs),
        len(played.cut),
        int(played.cut.sum()),
        played.distinct,
        distinct_games.effective(played.copies),
    )


def _pairs(played: Played, num_players: int) -> list[Pair]:
    """The results of all pairs of players who have met."""
    wins, games, copies = np.zeros((3, num_players, num_players), np.int64)
    for first in range(0, len(played.cut), AT_A_TIME):
        some = slice(first, first + AT_A_TIME)
        seating, returns = played.seating[some], played.returns[some]
        best = np.full((len(seating), num_players), -np.inf, np.float32)  # [N, K]
        np.maximum.at(best, (np.arange(len(seating))[:, None], seating), returns)
        sits = best > -np.inf
        for player in range(num_players):
            mine = sits[:, player]
            wins[player] += ((best[mine, player, None] > best[mine]) & sits[mine]).sum(axis=0)
            games[player] += sits[mine].sum(axis=0)
            copies[player] += played.copies[some][mine] @ sits[mine]
    found = []
    for one, other in zip(*np.triu_indices(num_players, 1), strict=True):
        if not (count := int(games[one, other])):
            continue
        won, lost = int(wins[one, other]), int(wins[other, one])
        effective = count**2 / int(copies[one, other])  # as observations.effective has it
        interval = intervals.of_games(won, count, effective)
        score = (won + (count - won - lost) / 2) / count
        found.append(
            Pair(int(one), int(other), count, won, count - won - lost, lost, won / count, *interval, score, effective)
        )
    return found


def _rated(played: Played, pairs: Sequence[Pair], num_players: int) -> dict[int, ratings.Rating]:
    """Ratings of the largest set of players connected by games."""
    group = np.arange(num_players)
    for pair in pairs:
        group[group == group[pair.second]] = group[pair.first]
    seen = np.bincount(group[np.unique(played.seating)], minlength=num_players)
    members = (group == seen.argmax()).nonzero()[0]
    if len(members) < 2:
        return {}
    mine = np.isin(played.seating, members).all(axis=1)
    number = np.zeros(num_players, np.int64)
    number[members] = np.arange(len(members))
    finishes = Finishes.of_returns(
        len(members), number[played.seating[mine]], played.returns[mine], _weights(played)[mine]
    )
    return dict(zip(members.tolist(), ratings.rate(finishes), strict=True))


def _weights(played: Played) -> np.ndarray:
    """[N] weight of each game: the observations of its lineup, divided evenly among the lineup's games."""
    if (played.copies == 1).all():
        return np.ones(len(played.copies))
    _, lineup = np.unique(np.sort(played.seating, axis=1), axis=0, return_inverse=True)
    games, copies = np.bincount(lineup.reshape(-1)), np.bincount(lineup.reshape(-1), played.copies)
    return (games / copies)[lineup.reshape(-1)]
