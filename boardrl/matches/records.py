"""Games of a match as they finish: in memory, so that a stopped match has a result, and if wanted in a file."""

from __future__ import annotations

import base64
import contextlib
import time
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from boardrl.errors import UserError
from boardrl.matches import distinct_games
from boardrl.play import rollout
from boardrl.runs.log_rows import is_count, is_number
from boardrl.runs.saved_results import Kept
from boardrl.system import machine

SAVE_SECONDS = 2.0  # after which the games under way are saved first, and again ...
SAVE_SHARE = 0.05  # ... after this share of the time so far, so that the file stays small, ...
MOST_SAVE_SECONDS = 60.0  # ... but no later than that
GAME_BYTES = 100  # of a finished game, and of what is worked out from it, besides two numbers for each seat
SEAT_BYTES = 32


class Played(NamedTuple):
    """Single games in the order of their index."""

    returns: np.ndarray  # [N, P] by seat
    seating: np.ndarray  # [N, P] which player sat where
    cut: np.ndarray  # [N] bool
    course: np.ndarray  # [N] uint64: the same number for the same moves with the same seating
    copies: np.ndarray  # [N] int: how many games are the same observation as this one (boardrl.matches.distinct_games)

    @property
    def distinct(self) -> int:
        """How many different games there are."""
        course = np.sort(self.course)  # many times faster than np.unique
        return int((course[1:] != course[:-1]).sum()) + bool(len(course))


class Result(NamedTuple):
    """One finished game."""

    returns: Sequence[float]  # [P] by seat
    cut: bool
    moves: int  # 64 bits: a hash of all moves, actions and outcomes
    drawn: bool  # a move was drawn at random where others were possible
    asked: bool  # a host player took random numbers


class Batch(NamedTuple):
    """Games that are played side by side, between two calls on the device."""

    lanes: rollout.Lanes
    done: np.ndarray  # [B] int: games that each lane has finished, at most its quota
    chunk: int  # calls so far


class Record:
    """N games of one lineup; those that are over are filled in."""

    def __init__(self, kept: Kept | None = None, part: str = "") -> None:
        """Makes an empty record.

        Args:
          kept: a file that keeps the games, and gives those that it has; none: they are in memory only.
          part: which games of that file these are.
        """
        self._kept, self._part = kept, part
        self._batch: Batch | None = None
        self._saved: Batch  # as the file has it
        self.begin(np.zeros((1, 0), int), 0)

    def begin(self, arrangements: np.ndarray, num_games: int) -> None:
        """Makes room for N games in which players sit as the [R, P] arrangements say, which take turns."""
        size = GAME_BYTES + SEAT_BYTES * arrangements.shape[1]
        machine.require(num_games * size, f"a match of {num_games:,} games", "give fewer games")
        arrangement = np.arange(num_games) % len(arrangements)
        self.seating = arrangements.astype(np.int16)[arrangement]  # [N, P]
        _, number = np.unique(arrangements, axis=0, return_inverse=True)
        self._arrangement = number.reshape(-1).astype(np.int32)[arrangement]  # [N]
        self._returns = np.zeros(self.seating.shape, np.float32)
        self._cut, self._drawn, self._asked, self._counts = np.zeros((4, num_games), bool)
        self._moves = np.zeros(num_games, np.uint64)

    @property
    def num_counted(self) -> int:
        """How many games count so far: see `played`."""
        return int(self._counts.sum())

    @property
    def num_over(self) -> int:
        """How many games are over, whether they count or not."""
        return int(self._batch.done.sum()) if self._batch else self.num_counted

    def played(self) -> Played:
        """The games that count so far; all of them when the match is over.

        Of games that are played one after another every finished one counts: only those under way are missing. Of games
        side by side whole rounds count, a round being one game of every lane. At any moment more short games are over
        than long ones, and to count all that are over would favour the short ones.
        """
        counts = self._counts.copy()
        arrangement = self._arrangement[counts]
        course = distinct_games.courses(arrangement, self._moves[counts])
        copies = distinct_games.copies(arrangement, course, self._drawn[counts], self._asked[counts])
        return Played(self._returns[counts], self.seating[counts], self._cut[counts], course, copies)

    def save(self) -> None:
        """Writes down games side by side as far as they have come, if a file keeps them; safe in any thread."""
        batch = self._batch
        if self._kept is None or batch is None or batch.chunk == self._saved.chunk:
            return
        new = self._between(self._saved.done, batch.done)
        games = (self._returns[new], self._cut[new], self._moves[new], self._drawn[new])
        row = {"chunk": batch.chunk, "done": _packed(batch.done), "games": [_packed(column) for column in games]}
        row["lanes"] = [_packed(np.asarray(leaf)) for leaf in jax.tree.leaves(batch.lanes)]
        self._kept.add(f"{self._part}lanes {batch.chunk}", row)
        self._saved = batch

    # --- games one after another ---

    def restore_games(self) -> list[int]:
        """Takes over the games that the file has; their indices."""
        rows = self._kept.rows if self._kept else {}
        found = [index for index in range(len(self._counts)) if f"{self._part}game {index}" in rows]
        with self._reading():
            for index in found:
                self._fill(index, self._result(rows[f"{self._part}game {index}"]))
        return found

    def _result(self, row: Any) -> Result:
        """A finished game as the file has it; ValueError if it is none."""
        found = Result(*row)
        returns_fit = len(found.returns) == self.seating.shape[1] and all(map(is_number, found.returns))
        truths_fit = all(type(value) is bool for value in (found.cut, found.drawn, found.asked))
        if not returns_fit or not truths_fit or not is_count(found.moves >> 1):
            raise ValueError(row)
        return found

    def left(self) -> list[tuple[int, np.ndarray]]:
        """The games that are not over, each with [P] who sits where."""
        return [(int(index), self.seating[index]) for index in (~self._counts).nonzero()[0]]

    def finish(self, index: int, result: Result) -> None:
        """A game is over."""
        self._fill(index, result)
        if self._kept:
            self._kept.add(f"{self._part}game {index}", list(result))

    def _fill(self, index: int, result: Result) -> None:
        self._returns[index], self._cut[index], self._moves[index] = result.returns, result.cut, result.moves
        self._drawn[index], self._asked[index] = result.drawn, result.asked
        self._counts[index] = True

    # --- games side by side ---

    def restore_batch(self, start: Batch, quota: np.ndarray) -> Batch:
        """The games under way as the file has them, and takes over those that are over; else those at the start.

        Args:
          quota: [B] how many games each lane plays.
        """
        self._quota = quota
        self._saved, self._began = start, time.monotonic()
        self._save_at = self._began + SAVE_SECONDS
        kept = self._kept.rows if self._kept else {}
        rows = [row for key, row in kept.items() if key.startswith(f"{self._part}lanes ")]
        with self._reading():
            for row in sorted(rows, key=lambda row: row["chunk"]):
                self._saved = self._taken_over(row, start)
        self.reach(self._saved)
        return self._saved

    def _taken_over(self, row: dict[str, Any], start: Batch) -> Batch:
        done = _unpacked(row["done"], start.done)
        if (done < self._saved.done).any() or (done > self._quota).any() or not is_count(row["chunk"]):
            raise ValueError(row["chunk"])
        new = self._between(self._saved.done, done)
        columns: list[np.ndarray] = [self._returns, self._cut, self._moves, self._drawn]
        for column, text in zip(columns, row["games"], strict=True):
            column[new] = _unpacked(text, column[new])
        if not np.isfinite(self._returns).all():
            raise ValueError("returns")
        leaves, structure = jax.tree.flatten(start.lanes)
        leaves = [_unpacked(text, np.asarray(leaf)) for text, leaf in zip(row["lanes"], leaves, strict=True)]
        return Batch(rollout.spread(jax.tree.unflatten(structure, leaves)), done, int(row["chunk"]))

    def finish_many(self, index: np.ndarray, ended: rollout.Ended, where: tuple[np.ndarray, ...]) -> None:
        """The games with these indices are over; `where` they are in what ended."""
        assert ended.course is not None
        self._returns[index] = np.asarray(ended.returns)[where]
        self._cut[index] = np.asarray(ended.cut)[where]
        first, second = (np.asarray(hashed)[where].astype(np.uint64) for hashed in ended.course.moves)
        self._moves[index] = first << np.uint64(32) | second
        self._drawn[index] = np.asarray(ended.course.drawn)[where]

    def reach(self, batch: Batch) -> None:
        """The games have come so far: those that are over have been given to `finish_many`."""
        self._batch = batch
        under_way = batch.done[batch.done < self._quota]
        rounds = int(under_way.min()) if len(under_way) else int(self._quota.max())
        self._counts[: rounds * len(self._quota)] = True
        now = time.monotonic()
        if now >= self._save_at or not len(under_way):
            self.save()
            self._save_at = now + min(max(SAVE_SECONDS, SAVE_SHARE * (now - self._began)), MOST_SAVE_SECONDS)

    def _between(self, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        """Indices of the games that were finished between two counts [B] of each lane's games."""
        lane, nth = np.arange(len(self._counts)) % len(before), np.arange(len(self._counts)) // len(before)
        return ((before[lane] <= nth) & (nth < after[lane])).nonzero()[0]

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, zlib.error):
            assert self._kept is not None
            raise UserError(
                f"{str(self._kept.path)!r} is damaged, or comes from another version of boardrl; "
                "name another file, or remove it"
            ) from None


def _packed(array: np.ndarray) -> str:
    return base64.b64encode(zlib.compress(np.ascontiguousarray(array).tobytes(), 1)).decode()


def _unpacked(text: str, like: np.ndarray) -> np.ndarray:
    packed = base64.b64decode(text, validate=True)
    reader = zlib.decompressobj()
    content = reader.decompress(packed, like.nbytes + 1)  # no more than fits, whatever it would grow to
    if not reader.eof:
        raise ValueError("cut off, or too long")
    array = np.frombuffer(content, like.dtype).reshape(like.shape).copy()
    if array.dtype == bool and (array.view(np.uint8) > 1).any():
        raise ValueError("neither true nor false")
    return array
