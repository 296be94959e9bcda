"""The finished games of a match: in memory, so that a stopped match has a result, and optionally in a file."""

from __future__ import annotations

import base64
import contextlib
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from boardrl.errors import UserError
from boardrl.matches import distinct_games
from boardrl.play import rollout
from boardrl.runs.log_rows import is_count, is_number
from boardrl.runs.saved_results import Kept
from boardrl.system import machine

SAVE_SECONDS = 2.0  # least time between two saves of the running batch
SAVE_SHARE = 0.05  # time between two saves as a fraction of the time so far, which keeps the file small
MOST_SAVE_SECONDS = 60.0  # longest time between two saves
GAME_BYTES = 100  # memory of a finished game and its derived data, besides two numbers for each seat
SEAT_BYTES = 40
LOOKS = 50  # a rule that may stop a match looks again after a further 50th of the games so far


class Decision(NamedTuple):
    """Why a match ended before all its games were played."""

    observations: int  # rounds of R games that it rests on
    verdict: str  # a sentence


class Played(NamedTuple):
    """Finished games in the order of their index."""

    returns: np.ndarray  # [N, P] by seat
    seating: np.ndarray  # [N, P] the player in each seat
    cut: np.ndarray  # [N] bool
    course: np.ndarray  # [N] uint64: hash of the moves and the seating
    copies: np.ndarray  # [N] int: how many games form one observation with this one (boardrl.matches.distinct_games)
    group: np.ndarray | None = None  # [N] int: games with the same dice (boardrl.matches.duplicate); None: each its own
    luck: np.ndarray | None = None  # [N, P] by seat (boardrl.matches.luck); None: not known

    @property
    def distinct(self) -> int:
        """Number of different games."""
        course = np.sort(self.course)  # many times faster than np.unique
        return int((course[1:] != course[:-1]).sum()) + bool(len(course))


Rule = Callable[[Played], Decision | None]


class Result(NamedTuple):
    """One finished game."""

    returns: Sequence[float]  # [P] by seat
    cut: bool
    moves: int  # 64-bit hash of all actions and outcomes
    drawn: bool  # a move was drawn at random from several possible ones
    asked: bool  # a host player used random numbers
    luck: Sequence[float] = ()  # [P] by seat, where it was asked for


class Batch(NamedTuple):
    """State of a batch of games between two calls on the device."""

    lanes: rollout.Lanes
    done: np.ndarray  # [B] int: games that each lane has finished, at most its quota
    chunk: int  # calls so far


class Record:
    """N games of one lineup, filled in as they finish."""

    def __init__(self, kept: Kept | None = None, part: str = "") -> None:
        """Makes an empty record.

        Args:
          kept: file that stores the games and provides those it already has; None: memory only.
          part: key of these games in that file.
        """
        self._kept, self._part = kept, part
        self._batch: Batch | None = None
        self._saved: Batch  # as the file has it
        self.begin(np.zeros((1, 0), int), 0)

    def begin(
        self,
        arrangements: np.ndarray,
        num_games: int,
        *,
        duplicate: bool = False,
        luck: bool = False,
        rule: Rule | None = None,
    ) -> None:
        """Allocates N games with the [R, P] seatings; game g uses arrangement g mod R.

        Args:
          duplicate: whether R games in a row have the same dice and are one observation.
          luck: whether the games tell their luck.
          rule: looks at all games so far in whole rounds of R, and says when the match is decided.
        """
        size = GAME_BYTES + SEAT_BYTES * arrangements.shape[1]
        machine.require(num_games * size, f"a match of {num_games:,} games", "give fewer games")
        arrangement = np.arange(num_games) % len(arrangements)
        self.seating = arrangements.astype(np.int16)[arrangement]  # [N, P]
        _, number = np.unique(arrangements, axis=0, return_inverse=True)
        self._arrangement = number.reshape(-1).astype(np.int32)[arrangement]  # [N]
        self._returns = np.zeros(self.seating.shape, np.float32)
        self._cut, self._drawn, self._asked, self._counts = np.zeros((4, num_games), bool)
        self._moves = np.zeros(num_games, np.uint64)
        self._luck = np.zeros(self.seating.shape, np.float32) if luck else None
        self._num_seatings, self._duplicate, self._rule = len(arrangements), duplicate, rule
        self._first_missing, self._looked = 0, 0  # games: all before it count; all before it have been looked at
        self.decision: Decision | None = None

    def decided(self) -> bool:
        """Whether the rule has decided the match: then only the games up to there count.

        The rule looks at the games in the order of their index, whichever ends first, so that the decision depends on
        the seed alone.
        """
        if self._rule is None or self.decision is not None:
            return self.decision is not None
        while self._first_missing < len(self._counts) and self._counts[self._first_missing]:
            self._first_missing += 1
        whole = self._first_missing // self._num_seatings * self._num_seatings
        if whole >= self._looked + max(1, self._looked // LOOKS) or whole == len(self._counts):
            self._looked = whole
            found = self._played(np.arange(len(self._counts)) < whole)
            self.decision = self._rule(found._replace(group=np.arange(whole) // self._num_seatings))
        return self.decision is not None

    @property
    def num_counted(self) -> int:
        """Number of games that count so far: see `played`."""
        return int(self._counts.sum())

    @property
    def num_over(self) -> int:
        """Number of finished games, whether they count or not."""
        return int(self._batch.done.sum()) if self._batch else self.num_counted

    def played(self) -> Played:
        """The games that count so far; all of them when the match is over.

        Of games played one after another, every finished one counts. Of games played in a batch, only whole rounds
        count, a round being one game of every lane: at any moment more short games than long ones have finished, so
        counting all finished games would favour the short ones.
        """
        counts = self._counts.copy()
        if self.decision is not None:
            counts[self.decision.observations * self._num_seatings :] = False
        if self._duplicate:  # whole groups only
            counts &= np.repeat(counts.reshape(-1, self._num_seatings).all(axis=1), self._num_seatings)
        return self._played(counts)

    def _played(self, counts: np.ndarray) -> Played:
        """The games of an [N] mask."""
        arrangement = self._arrangement[counts]
        course = distinct_games.courses(arrangement, self._moves[counts])
        copies = distinct_games.copies(arrangement, course, self._drawn[counts], self._asked[counts])
        group = counts.nonzero()[0] // self._num_seatings if self._duplicate else None
        luck = None if self._luck is None else self._luck[counts]
        return Played(self._returns[counts], self.seating[counts], self._cut[counts], course, copies, group, luck)

    def save(self) -> None:
        """Saves the running batch if there is a file; safe in any thread."""
        batch = self._batch
        if self._kept is None or batch is None or batch.chunk == self._saved.chunk:
            return
        new = self._between(self._saved.done, batch.done)
        games = [_packed(column[new]) for column in self._columns()]
        row: dict[str, Any] = {"chunk": batch.chunk, "done": _packed(batch.done), "games": games}
        row["lanes"] = [_packed(np.asarray(leaf)) for leaf in jax.tree.leaves(batch.lanes)]
        self._kept.add(f"{self._part}lanes {batch.chunk}", row)
        self._saved = batch

    # --- games one after another ---

    def restore_games(self) -> list[int]:
        """Loads the games of the file and returns their indices."""
        rows = self._kept.rows if self._kept else {}
        found = [index for index in range(len(self._counts)) if f"{self._part}game {index}" in rows]
        with self._reading():
            for index in found:
                self._fill(index, self._result(rows[f"{self._part}game {index}"]))
        return found

    def _result(self, row: Any) -> Result:
        """A finished game from its row in the file; ValueError if the row is malformed."""
        found = Result(*row)
        returns_fit = len(found.returns) == self.seating.shape[1] and all(map(is_number, found.returns))
        luck_fits = len(found.luck) == (0 if self._luck is None else self.seating.shape[1])
        returns_fit = returns_fit and luck_fits and all(map(is_number, found.luck))
        truths_fit = all(type(value) is bool for value in (found.cut, found.drawn, found.asked))
        if not returns_fit or not truths_fit or not is_count(found.moves >> 1):
            raise ValueError(row)
        return found

    def left(self) -> list[tuple[int, np.ndarray]]:
        """The games still to play, each with its [P] seating."""
        return [(int(index), self.seating[index]) for index in (~self._counts).nonzero()[0]]

    def finish(self, index: int, result: Result) -> None:
        """Stores the result of a finished game."""
        self._fill(index, result)
        if self._kept:
            self._kept.add(f"{self._part}game {index}", list(result))

    def _fill(self, index: int, result: Result) -> None:
        self._returns[index], self._cut[index], self._moves[index] = result.returns, result.cut, result.moves
        self._drawn[index], self._asked[index] = result.drawn, result.asked
        if self._luck is not None:
            self._luck[index] = result.luck
        self._counts[index] = True

    # --- games in a batch ---

    def restore_batch(self, start: Batch, quota: np.ndarray) -> Batch:
        """Loads the finished games of the file and returns its running batch; `start` if the file has none.

        Args:
          quota: [B] the number of games that each lane plays.
        """
        self._quota = quota
        self._saved, self._began = start, time.monotonic()
        self._save_at = self._began + SAVE_SECONDS
        kept = self._kept.rows if self._kept else {}
        rows = [row for key, row in kept.items() if key.startswith(f"{self._part}lanes ")]
        with self._reading():
            for row in sorted(rows, key=lambda row: row["chunk"]):
                self._saved = self._taken_over(row, start)
        self.advance(self._saved)
        return self._saved

    def _taken_over(self, row: dict[str, Any], start: Batch) -> Batch:
        done = _unpacked(row["done"], start.done)
        if (done < self._saved.done).any() or (done > self._quota).any() or not is_count(row["chunk"]):
            raise ValueError(row["chunk"])
        new = self._between(self._saved.done, done)
        for column, text in zip(self._columns(), row["games"], strict=True):
            column[new] = _unpacked(text, column[new])
        if not np.isfinite(self._returns).all() or not (self._luck is None or np.isfinite(self._luck).all()):
            raise ValueError("returns")
        leaves, structure = jax.tree.flatten(start.lanes)
        leaves = [_unpacked(text, np.asarray(leaf)) for text, leaf in zip(row["lanes"], leaves, strict=True)]
        return Batch(rollout.spread(jax.tree.unflatten(structure, leaves)), done, int(row["chunk"]))

    def _columns(self) -> list[np.ndarray]:
        """What is kept of games played in a batch."""
        return [self._returns, self._cut, self._moves, self._drawn] + ([] if self._luck is None else [self._luck])

    def finish_many(self, index: np.ndarray, ended: rollout.Ended, where: tuple[np.ndarray, ...]) -> None:
        """Stores the games with these indices; `where` indexes them in `ended`."""
        assert ended.course is not None
        self._returns[index] = np.asarray(ended.returns)[where]
        self._cut[index] = np.asarray(ended.cut)[where]
        first, second = (np.asarray(hashed)[where].astype(np.uint64) for hashed in ended.course.moves)
        self._moves[index] = first << np.uint64(32) | second
        self._drawn[index] = np.asarray(ended.course.drawn)[where]
        if self._luck is not None:
            self._luck[index] = np.asarray(ended.tally.total)[where]

    def advance(self, batch: Batch) -> None:
        """Records the progress of the batch, after its finished games were passed to `finish_many`."""
        self._batch = batch
        under_way = batch.done[batch.done < self._quota]
        rounds = int(under_way.min()) if len(under_way) else int(self._quota.max())
        self._counts[: rounds * len(self._quota)] = True
        now = time.monotonic()
        if now >= self._save_at or not len(under_way):
            self.save()
            self._save_at = now + min(max(SAVE_SECONDS, SAVE_SHARE * (now - self._began)), MOST_SAVE_SECONDS)

    def _between(self, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        """Indices of the games that finished between two [B] counts of finished games per lane."""
        lane, nth = np.arange(len(self._counts)) % len(before), np.arange(len(self._counts)) // len(before)
        return ((before[lane] <= nth) & (nth < after[lane])).nonzero()[0]

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, zlib.error):
            assert self._kept is not None
            raise UserError(
                f"{str(self._kept.path)!r} is damaged, or was written by another version of boardrl; "
                "name another file, or remove it"
            ) from None


def _packed(array: np.ndarray) -> str:
    return base64.b64encode(zlib.compress(np.ascontiguousarray(array).tobytes(), 1)).decode()


def _unpacked(text: str, like: np.ndarray) -> np.ndarray:
    packed = base64.b64decode(text, validate=True)
    reader = zlib.decompressobj()
    content = reader.decompress(packed, like.nbytes + 1)  # bounded, however large the content would be
    if not reader.eof:
        raise ValueError("truncated, or too long")
    array = np.frombuffer(content, like.dtype).reshape(like.shape).copy()
    if array.dtype == bool and (array.view(np.uint8) > 1).any():
        raise ValueError("neither true nor false")
    return array
