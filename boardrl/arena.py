"""Matches: who wins how often, from which seat, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from boardrl import host_match, intervals, progress, rollout
from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.players import Playable, Player, make_all
from boardrl.policy import Policy, distinct

MAX_LANES = 2048  # games side by side
TURNS = 32  # in one call on the device; the progress bar moves in between

Tick = Callable[[int], None]  # is told how many games are done


class SeatScore(NamedTuple):
    """How a player did from one seat."""

    games: int
    wins: int
    win_rate: float
    low: float  # 95 % Wilson interval of the win rate
    high: float


class Score(NamedTuple):
    """How a player did in a match; a win is the sole best return, a draw a shared best one."""

    name: str
    games: int
    wins: int
    draws: int
    losses: int
    win_rate: float
    low: float  # 95 % Wilson interval of the win rate
    high: float
    points: float  # mean return
    places: tuple[int, ...]  # [P] how often 1st, 2nd, ...; those who share places all get the best of them
    seats: tuple[SeatScore, ...]  # [P]


class Match(NamedTuple):
    """The scores of a match, in the order in which the players were given."""

    players: tuple[Score, ...]
    num_games: int
    seed: int
    cut: int  # games that reached `max_steps` and were scored as they stood


class Played(NamedTuple):
    """Single games in the order of their index."""

    returns: np.ndarray  # [N, P] by seat
    seating: np.ndarray  # [N, P] which player sat where
    cut: np.ndarray  # [N] bool


def match(
    game: Game[Any],
    players: Sequence[Playable],
    *,
    num_games: int,
    seed: int,
    opening: int = 0,
    bar: progress.Bar | None = None,
    processes: int | None = None,
) -> Match:
    """Plays one lineup with the seats rotated: every player sits in every seat equally often.

    If the number of games is not a multiple of P, no seat is taken more than once more than another.

    Args:
      players: Players, or texts, classes and functions that `players.make` takes.
      opening: how many steps each game begins with in which any legal action is as likely; without them players
        who leave nothing to chance play the same game again and again, where there are no dice.
    """
    num_players = game.spec.num_players
    if len(players) != num_players:
        raise UserError(f"{game.spec.name} is played by {num_players}, but {len(players)} players were given")
    lineup = make_all(players, game)
    seats = np.arange(num_players)
    rotations = (seats[None, :] - seats[:, None]) % num_players
    tick = bar.update if bar else None
    played = play(
        game, lineup, rotations, num_games=num_games, seed=seed, opening=opening, tick=tick, processes=processes
    )
    scores = tuple(_score(player.name, index, played) for index, player in enumerate(lineup))
    return Match(scores, num_games, seed, int(played.cut.sum()))


def play(
    game: Game[Any],
    players: Sequence[Player],
    arrangements: np.ndarray,
    *,
    num_games: int,
    seed: int,
    opening: int = 0,
    tick: Tick | None = None,
    processes: int | None = None,
) -> Played:
    """Plays games in which players sit as the arrangements say, which take turns: game g has number g mod R.

    Policies alone play in batches on device. Where a host player takes part, games are spread over processes.

    Args:
      arrangements: [R, P] which of the players sits where.
    """
    if num_games < 1:
        raise UserError(f"games={num_games} is no match; expected at least 1")
    if not 0 <= seed < 2**32:
        raise UserError(f"seed={seed} is out of range; expected 0 to {2**32 - 1}")
    if opening < 0:
        raise UserError(f"opening={opening} is no number of moves; expected 0 or more")
    seating = arrangements[np.arange(num_games) % len(arrangements)]
    tick = tick or (lambda done: None)
    policies = [player.policy for player in players if player.policy]
    if len(policies) == len(players):
        returns, cut = _play_batched(
            game, policies, arrangements, num_games=num_games, seed=seed, opening=opening, tick=tick
        )
    else:
        returns, cut = host_match.play(
            game, players, seating, seed=seed, opening=opening, tick=tick, processes=processes
        )
    return Played(returns, seating, cut)


def _play_batched(
    game: Game[Any],
    policies: Sequence[Policy],
    arrangements: np.ndarray,
    *,
    num_games: int,
    seed: int,
    opening: int,
    tick: Tick,
) -> tuple[np.ndarray, np.ndarray]:
    """([N, P] returns, [N] cut) of games played side by side.

    Every lane is given the number of its games beforehand, and all of them count. To stop at the first N games
    that finish would favour short ones.
    """
    num_lanes = _num_lanes(num_games, len(arrangements))
    quota = num_games // num_lanes + (np.arange(num_lanes) < num_games % num_lanes)  # [B]
    different, policy_of = distinct(policies)
    seats = None
    if len(different) > 1:
        lane_seating = arrangements[np.arange(num_lanes) % len(arrangements)]
        seats = rollout.spread(jnp.asarray(policy_of[lane_seating], jnp.int32))

    returns = np.empty((num_games, game.spec.num_players), np.float32)
    cut = np.empty(num_games, bool)
    done = np.zeros(num_lanes, int)  # [B] games, at most the quota
    lanes = rollout.start(game, num_lanes)
    key, chunk = jax.random.key(seed), 0
    while (done < quota).any():
        key_chunk = jax.random.fold_in(key, chunk)
        lanes, ended = rollout.play(game, different, seats, lanes, key_chunk, num_turns=TURNS, opening=opening)
        over = np.asarray(ended.over)  # [T, B]
        nth = done + np.cumsum(over, axis=0) - 1  # [T, B] of a lane's games
        turn, lane = (over & (nth < quota)).nonzero()
        index = lane + nth[turn, lane] * num_lanes
        returns[index] = np.asarray(ended.returns)[turn, lane]
        cut[index] = np.asarray(ended.cut)[turn, lane]
        done = np.minimum(done + over.sum(axis=0), quota)
        tick(int(done.sum()))
        chunk += 1
    return returns, cut


def _num_lanes(num_games: int, num_arrangements: int) -> int:
    """R times a power of 2, so that few sizes are ever compiled and a lane keeps its arrangement."""
    lanes = num_arrangements
    while lanes < num_games and 2 * lanes <= MAX_LANES:
        lanes *= 2
    return lanes


def _score(name: str, index: int, played: Played) -> Score:
    """How one of the players did."""
    num_games, num_players = played.seating.shape
    seat = (played.seating == index).argmax(axis=1)  # [N]
    mine = played.returns[np.arange(num_games), seat]
    better = (played.returns > mine[:, None]).sum(axis=1)
    equal = (played.returns == mine[:, None]).sum(axis=1)
    won = (better == 0) & (equal == 1)
    draws = int(((better == 0) & (equal > 1)).sum())
    total = _seat_score(won)
    return Score(
        name,
        num_games,
        total.wins,
        draws,
        num_games - total.wins - draws,
        total.win_rate,
        total.low,
        total.high,
        points=float(mine.mean(dtype=np.float64)),
        places=tuple(int(n) for n in np.bincount(better, minlength=num_players)),
        seats=tuple(_seat_score(won[seat == s]) for s in range(num_players)),
    )


def _seat_score(won: np.ndarray) -> SeatScore:
    games, wins = len(won), int(won.sum())
    return SeatScore(games, wins, wins / games if games else 0.0, *intervals.wilson(wins, games))
