"""Matches: win rates by player and seat, with confidence intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from boardrl.errors import UserError
from boardrl.game import Game, Spec
from boardrl.matches import distinct_games, host_match, intervals, luck, observations, sequential
from boardrl.matches import duplicate as duplicates
from boardrl.matches.compiled import policy_match
from boardrl.matches.luck import Control
from boardrl.matches.observations import Adjusted
from boardrl.matches.records import Batch, Played, Record
from boardrl.matches.replay_file import Recorder
from boardrl.play import rollout
from boardrl.play.players import Playable, Player, make_all
from boardrl.play.policy import Policy, distinct
from boardrl.runs import progress
from boardrl.system import machine

MAX_LANES = 2048  # games played in one batch
STOPPING_LANES = 512  # fewer, where a test may stop the match after the first round
TURNS = 32  # per call on the device; the progress bar is updated between calls

Tick = Callable[[int], None]  # called with the number of finished games


class SeatScore(NamedTuple):
    """A player's results from one seat."""

    games: int
    wins: int
    win_rate: float
    low: float  # 95 % Wilson interval of the win rate, from games that do not repeat others
    high: float


class Score(NamedTuple):
    """A player's results in a match; a win is the sole best return, a draw a shared best return."""

    name: str
    games: int
    wins: int
    draws: int
    losses: int
    win_rate: float
    low: float  # 95 % Wilson interval of the win rate, from games that do not repeat others
    high: float
    points: float  # mean return
    places: tuple[int, ...]  # [P] number of 1st, 2nd, ... places; tied players all get the best place they share
    seats: tuple[SeatScore, ...]  # [P]
    adjusted: Adjusted | None = None  # without luck, where a control was given


class Match(NamedTuple):
    """The scores of a match, in the order of its `players` argument."""

    players: tuple[Score, ...]
    num_games: int
    seed: int
    cut: int  # games that reached `max_steps` and were scored in their last position
    distinct: int  # number of games that differ in their moves or seating
    observations: float  # number of independent games or groups of games behind the intervals
    verdict: str = ""  # why the match ended early, if a test has stopped it


def match(
    game: Game[Any],
    players: Sequence[Playable],
    *,
    num_games: int,
    seed: int,
    opening: int = 0,
    bar: progress.Bar | None = None,
    processes: int | None = None,
    record: Record | None = None,
    duplicate: bool = False,
    control: Control | str | None = None,
    test: sequential.Test | None = None,
    recorder: Recorder | None = None,
) -> Match:
    """Plays one lineup with the seats rotated: every player sits in every seat equally often.

    If the number of games is not a multiple of P, a player's seat counts differ by at most one.

    Args:
      players: Players, or texts, classes and functions that `players.make` accepts.
      opening: number of uniformly random actions at the start of each game; without them, deterministic players
        repeat the same game in a game without dice.
      record: receives the games as they finish; games that it already holds are not played again.
      duplicate: whether the P games of a round of seats have the same dice (boardrl.matches.duplicate); the number of
        games is then rounded up to whole rounds.
      control: the value function that luck is taken out by, or its text (boardrl.matches.luck.make).
      test: ends the match before `num_games` (boardrl.matches.sequential).
      recorder: writes a replay of every game.
    """
    num_players = game.spec.num_players
    if len(players) != num_players:
        more = "; a tournament takes any number from two on" if len(players) > num_players else ""
        raise UserError(f"{game.spec.name} is played by {num_players}, but {len(players)} players were given{more}")
    lineup = make_all(players, game)
    seats = np.arange(num_players)
    rotations = (seats[None, :] - seats[:, None]) % num_players
    control = luck.make(control, game) if isinstance(control, str) else control
    record = record or Record()
    played = play(
        game,
        lineup,
        rotations,
        num_games=num_games,
        seed=seed,
        opening=opening,
        tick=bar.update if bar else None,
        resumed=bar.restart if bar else None,
        processes=processes,
        record=record,
        duplicate=duplicate,
        control=control,
        test=test,
        recorder=recorder,
    )
    return score(lineup, played, seed=seed, spec=game.spec, control=control, record=record)


def score(
    players: Sequence[Player],
    played: Played,
    *,
    seed: int,
    spec: Spec | None = None,
    control: Control | None = None,
    record: Record | None = None,
) -> Match:
    """Scores of the games played so far in a match.

    Args:
      spec, control: of the game, and what its luck was told by, for the results without luck.
      record: has the decision of the match's test, if there is one.
    """
    scores = []
    for index, player in enumerate(players):
        adjusted = None
        if control and spec and len(played.cut):
            adjusted = observations.adjusted(control.name, observations.of_player(index, played), played, spec)
        scores.append(_score(player.name, index, played, adjusted))
    effective = distinct_games.effective(played.copies)
    if played.group is not None:
        effective = float(len(np.unique(played.group)))
    decision = record.decision if record else None
    verdict = decision.verdict if decision else ""
    return Match(tuple(scores), len(played.cut), seed, int(played.cut.sum()), played.distinct, effective, verdict)


def play(
    game: Game[Any],
    players: Sequence[Player],
    arrangements: np.ndarray,
    *,
    num_games: int,
    seed: int,
    opening: int = 0,
    tick: Tick | None = None,
    resumed: Tick | None = None,
    processes: int | None = None,
    record: Record | None = None,
    duplicate: bool = False,
    control: Control | None = None,
    test: sequential.Test | None = None,
    recorder: Recorder | None = None,
) -> Played:
    """Plays games with the given seatings: game g uses arrangement g mod R.

    Games between policies run in batches on the device, long matches of value nets with a control in compiled code.
    Games with a host player are spread over processes.

    Args:
      arrangements: [R, P] the index of the player in each seat.
      record: receives the games as they finish; `resumed` is called with the number that it already holds, if any.
      duplicate, control, test, recorder: as in `match`.
    """
    if num_games < 1:
        raise UserError(f"games={num_games} is too few for a match; expected at least 1")
    check_seed(seed)
    if not 0 <= opening <= game.spec.max_steps:
        most = f"{game.spec.max_steps:,}, the length of the longest game"
        raise UserError(f"opening={opening} is not a valid number of opening moves; expected 0 to {most}")
    if duplicate:
        duplicates.check(game, opening=opening)
        num_games = duplicates.whole_groups(num_games, len(arrangements))
    if control is not None:
        luck.check_chance(game)
    record = record or Record()
    rule = sequential.rule(test, game) if test else None
    record.begin(arrangements, num_games, duplicate=duplicate, luck=control is not None, rule=rule)
    tick, resumed = tick or (lambda done: None), resumed or (lambda done: None)
    policies = [player.policy for player in players if player.policy]
    compiled = None
    if control is not None and recorder is None and len(policies) == len(players):
        compiled = policy_match.find(game, policies, control, num_games=num_games)
    if compiled is not None:
        if known := record.restore_games():
            resumed(len(known))
        num_shared = len(arrangements) if duplicate else 0
        compiled.play(record, seed=seed, opening=opening, num_shared=num_shared, tick=tick)
    elif len(policies) == len(players):
        most_lanes = STOPPING_LANES if test else MAX_LANES
        lanes = _Lanes(game, policies, arrangements, num_games=num_games, opening=opening, most=most_lanes)
        lanes.duplicate, lanes.control, lanes.recorder = duplicate, control, recorder
        batch = record.restore_batch(lanes.start(), lanes.quota)
        if batch.chunk:
            resumed(record.num_over)
        lanes.play(batch, seed=seed, tick=tick, record=record)
    else:
        if known := record.restore_games():
            resumed(len(known))
        host_match.play(
            game,
            players,
            seed=seed,
            opening=opening,
            tick=tick,
            processes=processes,
            record=record,
            num_shared=len(arrangements) if duplicate else 0,
            control=control,
            recorder=recorder,
        )
    return record.played()


def check_seed(seed: int) -> None:
    """Raises UserError for a seed out of range."""
    if not 0 <= seed < 2**32:
        raise UserError(f"seed={seed} is out of range; expected 0 to {2**32 - 1}")


class _Lanes:
    """A batch of games on the device.

    Every lane has a fixed quota of games, and all of them count: stopping at the first N finished games would favour
    short games.
    """

    def __init__(
        self,
        game: Game[Any],
        policies: Sequence[Policy],
        arrangements: np.ndarray,
        *,
        num_games: int,
        opening: int,
        most: int,
    ) -> None:
        self.game, self.opening, self.num_seatings = game, opening, len(arrangements)
        self.duplicate, self.control, self.recorder = False, None, None
        num_lanes = _num_lanes(num_games, len(arrangements), most)
        self.quota = num_games // num_lanes + (np.arange(num_lanes) < num_games % num_lanes)  # [B]
        self.policies, policy_of = distinct(policies)
        self.seats = None
        if len(self.policies) > 1:
            seating = arrangements[np.arange(num_lanes) % len(arrangements)]
            self.seats = rollout.spread(jnp.asarray(policy_of[seating], jnp.int32))

    duplicate: bool
    control: Control | None
    recorder: Recorder | None

    def start(self) -> Batch:
        num_lanes = len(self.quota)
        lanes = rollout.start(self.game, num_lanes, courses=True)
        if self.duplicate:
            lanes = lanes._replace(dice=rollout.spread(duplicates.first_dice(num_lanes, self.num_seatings)))
        if self.control is not None:
            first = luck.none_yet(self.game)
            tally = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (num_lanes, *leaf.shape)), first)
            lanes = lanes._replace(tally=rollout.spread(tally))
        return Batch(lanes, np.zeros(num_lanes, int), 0)

    def play(self, batch: Batch, *, seed: int, tick: Tick, record: Record) -> None:
        """Plays until every lane has met its quota, and fills the record."""
        lanes, done, chunk = batch
        key = jax.random.key(seed)
        options: dict[str, Any] = {"num_turns": TURNS, "opening": self.opening, "moves": self.recorder is not None}
        if self.duplicate:
            options["key_dice"] = duplicates.key_of(key)
        if self.control is not None:
            options["tally"] = self.control.tally(self.game)
        while (done < self.quota).any() and not record.decided():
            arguments = (self.game, self.policies, self.seats, lanes, jax.random.fold_in(key, chunk))
            if chunk == batch.chunk:
                what = f"a match of {len(self.quota):,} games of {self.game.spec.name} at a time"
                remedy = "give fewer games, or players with smaller nets"
                machine.require_for(rollout.play, *arguments, what=what, remedy=remedy, **options)
            lanes, ended = rollout.play(*arguments, **options)
            over = np.asarray(ended.over)  # [T, B]
            nth = done + np.cumsum(over, axis=0) - 1  # [T, B] of a lane's games
            turn, lane = (over & (nth < self.quota)).nonzero()
            record.finish_many(lane + nth[turn, lane] * len(self.quota), ended, (turn, lane))
            if self.recorder is not None:
                self.recorder.take(ended, np.where(nth < self.quota, nth, -1), record.seating)
            done = np.minimum(done + over.sum(axis=0), self.quota)
            chunk += 1
            record.advance(Batch(lanes, done, chunk))
            tick(int(done.sum()))
        record.save()


def _num_lanes(num_games: int, num_arrangements: int, most: int = MAX_LANES) -> int:
    """R times a power of 2, so that few batch sizes are compiled and a lane keeps its arrangement."""
    lanes = num_arrangements
    while lanes < num_games and 2 * lanes <= most:
        lanes *= 2
    return lanes


def _score(name: str, index: int, played: Played, adjusted: Adjusted | None) -> Score:
    """The score of one player."""
    num_games, num_players = played.seating.shape
    seat = (played.seating == index).argmax(axis=1)  # [N]
    mine = played.returns[np.arange(num_games), seat]
    better = (played.returns > mine[:, None]).sum(axis=1)
    equal = (played.returns == mine[:, None]).sum(axis=1)
    won = (better == 0) & (equal == 1)
    draws = int(((better == 0) & (equal > 1)).sum())
    total = _seat_score(won, played.copies)
    if played.group is not None:
        low, high = observations.win_rate_interval(won, played.group)
        total = total._replace(low=low, high=high)
    return Score(
        name,
        num_games,
        total.wins,
        draws,
        num_games - total.wins - draws,
        total.win_rate,
        total.low,
        total.high,
        points=float(mine.mean(dtype=np.float64)) if num_games else 0.0,
        places=tuple(int(n) for n in np.bincount(better, minlength=num_players)),
        seats=tuple(_seat_score(won[seat == s], played.copies[seat == s]) for s in range(num_players)),
        adjusted=adjusted,
    )


def _seat_score(won: np.ndarray, copies: np.ndarray) -> SeatScore:
    games, wins, effective = len(won), int(won.sum()), distinct_games.effective(copies)
    return SeatScore(games, wins, wins / games if games else 0.0, *intervals.of_games(wins, games, effective))
