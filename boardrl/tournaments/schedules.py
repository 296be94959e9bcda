"""Fair schedules: the seating of each game of a tournament."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse

POOL = 5_000  # up to this number of blocks all are enumerated; beyond it, candidates are sampled
CANDIDATES = 300  # sampled candidates for each next block

Block = tuple[int, ...]  # [P] seating of one game


class Schedule(NamedTuple):
    """Games in which all players sit equally often in every seat."""

    num_players: int
    arrangements: np.ndarray  # [R, P] the player in each seat
    repeats: int  # how often each arrangement is played

    @property
    def num_games(self) -> int:
        return len(self.arrangements) * self.repeats

    def games_of(self) -> np.ndarray:
        """[K] number of games of each player."""
        return np.bincount(_members(self.arrangements)[1], minlength=self.num_players) * self.repeats

    def meetings(self) -> np.ndarray:
        """[K, K] number of games in which two players meet; 0 on the diagonal."""
        game, player = _members(self.arrangements)
        sits = scipy.sparse.coo_array((np.ones(len(game), np.int64), (game, player))).tocsr()
        found = (sits.T @ sits).toarray() * self.repeats
        np.fill_diagonal(found, 0)
        return found


def _members(arrangements: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(game, player) index pairs, one for each participant, however many seats it has."""
    found = np.sort(arrangements, axis=1)
    new = np.ones(found.shape, bool)
    new[:, 1:] = found[:, 1:] != found[:, :-1]
    return new.nonzero()[0], found[new]


def schedule(num_players: int, num_seats: int, *, games: int, most: int) -> Schedule:
    """A schedule in which each of K players plays at least `games` games.

    A cyclic design: a block is one game between some of the players, numbered 0 to K - 1, together with its K - 1
    cyclic shifts, in which every player i is replaced by i + 1 mod K. So every player sits in every seat once in each
    block. How often two players meet depends on the difference of their numbers; blocks are chosen one by one so that
    all differences are equally frequent, and then every difference equally frequent at every distance of seats. If all
    possible blocks can be played, all are, and everybody meets everybody equally often.

    With fewer players than seats, each player has several seats, distributed as evenly as possible.

    Args:
      most: number of arrangements after which they repeat, unless more are needed for all players to meet.
    """
    wanted = -(-games // min(num_players, num_seats))  # blocks
    pool = _num_blocks(num_players, num_seats)
    room = max(most // num_players, num_players - 1)
    if wanted >= pool and pool <= room:
        count, repeats = pool, -(-wanted // pool)
    else:
        repeats = -(-wanted // min(pool, room))
        count = -(-wanted // repeats)
    blocks = np.array(list(itertools.islice(_blocks(num_players, num_seats), count)))  # [T, P]
    shifts = np.arange(num_players)
    arrangements = (blocks[:, None, :] + shifts[None, :, None]) % num_players
    return Schedule(num_players, arrangements.reshape(-1, num_seats), repeats)


def _num_blocks(num_players: int, num_seats: int) -> int:
    """Number of different blocks."""
    if num_players >= num_seats:
        return math.perm(num_players - 1, num_seats - 1)
    each, more = divmod(num_seats, num_players)
    seatings = math.factorial(num_seats) // (math.factorial(each) ** (num_players - more))
    return seatings // math.factorial(each + 1) ** more * math.comb(num_players, more) // num_players


def _blocks(num_players: int, num_seats: int) -> Iterator[Block]:
    """Blocks with player 0 in seat 0, each chosen to balance the previous ones.

    In the first block players sit in the order of their numbers, which connects all players.
    """
    rng = np.random.default_rng([num_players, num_seats])
    whole = _num_blocks(num_players, num_seats) <= POOL
    left = sorted(_all_blocks(num_players, num_seats)) if whole else []
    met = np.zeros((num_players, num_seats), np.int64)  # [K, P] by difference of the numbers and of the seats
    taken: set[Block] = set()
    while not whole or left:
        drawn = left or sorted({_draw(num_players, num_seats, rng) for _ in range(CANDIDATES)} - taken)
        candidates = drawn if taken else [(0, 1, *block[2:]) for block in drawn if 1 not in block[2:]] or drawn
        block = candidates[_best(np.array(candidates), met, num_players)]
        met += _differences(np.array([block]), num_players)[0]
        taken.add(block)
        if whole:
            left.remove(block)
        yield block


def _best(candidates: np.ndarray, met: np.ndarray, num_players: int) -> int:
    """The index of the one of [C, P] candidates that makes the meetings most even."""
    after = met + _differences(candidates, num_players)  # [C, K, P]
    by_pair = (after.sum(axis=2) ** 2).sum(axis=1)
    by_seat = (after**2).sum(axis=(1, 2))
    return int(np.lexsort((by_seat, by_pair))[0])


def _differences(blocks: np.ndarray, num_players: int) -> np.ndarray:
    """[C, K, P] for each of [C, P] blocks: pairs of players by the difference of their numbers and of their seats."""
    count, num_seats = blocks.shape
    found = np.zeros((count, num_players, num_seats), np.int64)
    for first, second in itertools.permutations(range(num_seats), 2):
        apart = (blocks[:, second] - blocks[:, first]) % num_players
        found[np.arange(count), apart, (second - first) % num_seats] += apart > 0
    return found


def _all_blocks(num_players: int, num_seats: int) -> set[Block]:
    if num_players >= num_seats:
        return {(0, *rest) for rest in itertools.permutations(range(1, num_players), num_seats - 1)}
    return {
        block
        for block in itertools.product(range(num_players), repeat=num_seats)
        if block[0] == 0 and _is_even(block, num_players)
    }


def _is_even(block: Block, num_players: int) -> bool:
    """Whether the players' seat counts differ by at most one."""
    counts = [block.count(player) for player in range(num_players)]
    return max(counts) - min(counts) <= 1


def _draw(num_players: int, num_seats: int, rng: np.random.Generator) -> Block:
    """A random block."""
    each, more = divmod(num_seats, num_players)
    seated = np.concatenate([np.arange(num_players)] * each + [rng.permutation(num_players)[:more]])
    rng.shuffle(seated)
    return tuple(((seated - seated[0]) % num_players).tolist())
