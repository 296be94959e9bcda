"""Fair schedules: who sits where in each game of a tournament."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse

POOL = 5_000  # blocks up to which all are known; of more some are drawn
CANDIDATES = 300  # of which each next block is chosen, where they are drawn

Block = tuple[int, ...]  # [P] who sits where in one game


class Schedule(NamedTuple):
    """Games in which all players sit equally often in every seat."""

    num_players: int
    arrangements: np.ndarray  # [R, P] who sits where
    repeats: int  # how often all arrangements are played

    @property
    def num_games(self) -> int:
        return len(self.arrangements) * self.repeats

    def games_of(self) -> np.ndarray:
        """[K] in how many games each player takes part."""
        return np.bincount(_members(self.arrangements)[1], minlength=self.num_players) * self.repeats

    def meetings(self) -> np.ndarray:
        """[K, K] in how many games two players sit together; 0 for a player and itself."""
        game, player = _members(self.arrangements)
        sits = scipy.sparse.coo_array((np.ones(len(game), np.int64), (game, player))).tocsr()
        found = (sits.T @ sits).toarray() * self.repeats
        np.fill_diagonal(found, 0)
        return found


def _members(arrangements: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of a game's and a player's number, one for each who takes part, however many seats it has."""
    found = np.sort(arrangements, axis=1)
    new = np.ones(found.shape, bool)
    new[:, 1:] = found[:, 1:] != found[:, :-1]
    return new.nonzero()[0], found[new]


def schedule(num_players: int, num_seats: int, *, games: int, most: int) -> Schedule:
    """A schedule in which each of K players takes part in at least so many games.

    A cyclic design: a block is one game between some of the players, numbered 0 to K - 1, and with it go the K - 1
    games in which everybody is replaced by the next, the last by the first. So every player sits in every seat once
    in each block. How often two players meet depends on the difference of their numbers; blocks are chosen one after
    another such that all differences are as frequent, and beyond that every difference as frequent at every distance
    of seats. Where all blocks that there are can be played, all are, and everybody meets everybody equally often.

    With fewer players than seats each has several seats, as evenly as possible.

    Args:
      most: arrangements after which they repeat, unless it takes more until everybody can have met everybody.
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
    """How many different blocks there are."""
    if num_players >= num_seats:
        return math.perm(num_players - 1, num_seats - 1)
    each, more = divmod(num_seats, num_players)
    seatings = math.factorial(num_seats) // (math.factorial(each) ** (num_players - more))
    return seatings // math.factorial(each + 1) ** more * math.comb(num_players, more) // num_players


def _blocks(num_players: int, num_seats: int) -> Iterator[Block]:
    """Blocks in which player 0 has seat 0, each chosen to balance those before it.

    In the first the next player has the next seat, so that it connects all players.
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
    """The number of that of [C, P] candidates which leaves the evenest meetings."""
    after = met + _differences(candidates, num_players)  # [C, K, P]
    by_pair = (after.sum(axis=2) ** 2).sum(axis=1)
    by_seat = (after**2).sum(axis=(1, 2))
    return int(np.lexsort((by_seat, by_pair))[0])


def _differences(blocks: np.ndarray, num_players: int) -> np.ndarray:
    """[C, K, P] how often each of [C, P] blocks seats two players whose numbers and seats differ by so much."""
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
    """Whether no player has two seats more than another."""
    counts = [block.count(player) for player in range(num_players)]
    return max(counts) - min(counts) <= 1


def _draw(num_players: int, num_seats: int, rng: np.random.Generator) -> Block:
    """A block at random."""
    each, more = divmod(num_seats, num_players)
    seated = np.concatenate([np.arange(num_players)] * each + [rng.permutation(num_players)[:more]])
    rng.shuffle(seated)
    return tuple(((seated - seated[0]) % num_players).tolist())
