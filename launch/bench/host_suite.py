"""Suite `host`: random play with lowered rules, compared with OpenSpiel's C++ states."""

from __future__ import annotations

import functools
import itertools
import random
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from jax import Array

from boardrl import host, registry
from boardrl.errors import UserError
from boardrl.host import masks
from boardrl.lowering import lower
from launch.bench import host_kernel
from launch.bench.row import Row

SECONDS = 0.3  # of each measurement
HOPS = 200  # in the mask that represents the rules of a board game


def rows(batch: int) -> Sequence[Row]:
    """Random play of each game on one core, ours with rules lowered from JAX; the host has no batches."""
    try:
        import pyspiel
    except ImportError:
        raise UserError(
            "suite host compares with open_spiel, which is not installed: pip install -e '.[bench]'"
        ) from None
    shared = [
        Row(name, "steps/s", our_play(name), "OpenSpiel", _timed(play_openspiel, pyspiel.load_game(name), 2_000))
        for name in ("tic_tac_toe", "pig", "connect_four")
    ]
    alone = [Row(name, "steps/s", our_play(name)) for name in ("ludo", "jumper")]
    mask = Row(f"legal mask of {HOPS} hops", "calls/s", lambda: 1e9 / mask_time(repeats=1).nanoseconds)
    return [*shared, *alone, mask]


def our_play(name: str) -> Callable[[], float]:
    """Steps per second of a game with lowered rules, even if it has faster hand-written ones."""
    kernel = host.specialise(host_kernel, host.of(registry.make(name)))
    kernel.play(1, 1)  # compiles
    return _timed(play_ours, kernel, 200_000)


def _timed(play: Callable[[Any, int, int], int], game: Any, num_steps: int) -> Callable[[], float]:
    seeds = itertools.count(1)
    return lambda: _rate(functools.partial(play, game, num_steps), next(seeds), SECONDS)


def _rate(play: Callable[[int], int], seed: int, seconds: float) -> float:
    """Steps per second, measured over at least `seconds`."""
    steps, start = 0, time.perf_counter()
    while True:
        seed += 1_000_003
        steps += play(seed)
        spent = time.perf_counter() - start
        if spent >= seconds:
            return steps / spent


def play_ours(kernel: Any, num_steps: int, seed: int) -> int:
    """Whole random games in compiled code until `num_steps` steps are made."""
    return int(kernel.play(num_steps, seed)[0])


def play_openspiel(game: Any, num_steps: int, seed: int) -> int:
    """Whole random games on OpenSpiel's states until `num_steps` steps are made."""
    rng = random.Random(seed)
    steps = 0
    while steps < num_steps:
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes, weights = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(rng.choices(outcomes, weights)[0])
            else:
                actions = state.legal_actions()
                state.apply_action(actions[int(rng.random() * len(actions))])
            steps += 1
        state.returns()
    return steps


def call_times(game: Any, *, repeats: int = 60, calls: int = 20_000) -> dict[str, float]:
    """Nanoseconds per call of a game's compiled functions at its decisions, without the loop around them.

    The minimum over the repetitions; the game must not have chance nodes.
    """
    facet = host.of(game)
    kernel = host.specialise(host_kernel, facet)
    rows, moves = facet.rows(1000), np.zeros(1000, np.int64)
    kernel.sample_rows(rows, moves, 7)
    times = []
    for function in range(5):
        kernel.repeat(function, rows, moves, 1)
        spent = []
        for _ in range(repeats):
            start = time.perf_counter()
            kernel.repeat(function, rows, moves, calls)
            spent.append((time.perf_counter() - start) / calls * 1e9)
        times.append(min(spent))
    *found, empty = times
    return {name: t - empty for name, t in zip(("actor", "legal", "step", "returns"), found, strict=True)}


class MaskTime(NamedTuple):
    """The time of a mask of hops."""

    hops: int
    nanoseconds: float  # per call


def jumper_like_mask(size: int = 6, num_hops: int = HOPS) -> Callable[[Array, Array], Array]:
    """mask(board, colour) -> [num_hops] bool: whether an own piece can hop over any piece to an empty cell.

    Cells are 0 empty, 1 white, 2 black, 3 dead, as in Jumper; a hop is two cells in one of eight directions. The hops
    of the board are repeated until there are `num_hops`.
    """
    hops = [
        (r * size + c, (r + dr) * size + c + dc, (r + 2 * dr) * size + c + 2 * dc)
        for r in range(size) for c in range(size) for dr in (-1, 0, 1) for dc in (-1, 0, 1)
        if (dr or dc) and 0 <= r + 2 * dr < size and 0 <= c + 2 * dc < size
    ]  # fmt: skip
    start, middle, end = (np.resize(np.array(cells, np.int32), num_hops) for cells in zip(*hops, strict=True))

    def mask(board: Array, colour: Array) -> Array:
        jumped = board[middle]
        return (board[start] == colour) & ((jumped == 1) | (jumped == 2)) & (board[end] == 0)

    return mask


def mask_time(*, repeats: int = 5, calls: int = 200_000) -> MaskTime:
    """The least time of the compiled mask over the repetitions."""
    from numba import njit

    mask = jumper_like_mask(num_hops=HOPS)
    rng = np.random.default_rng(0)
    boards = rng.integers(0, 4, (64, 36)).astype(np.int8)
    lowered = lower(mask, boards[0], np.int8(1), name="jumper_mask")
    function = lowered.function
    out, work = np.zeros(masks.num_words(HOPS), np.uint64), np.zeros(lowered.work_words, np.uint64)

    @njit
    def repeat(boards: np.ndarray, out: np.ndarray, work: np.ndarray, calls: int) -> int:
        found = 0
        for k in range(calls):
            function(boards[k % 64], 1 + k % 2, out, work)
            found += out[k % 3]
        return found

    repeat(boards, out, work, 1)
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        repeat(boards, out, work, calls)
        times.append((time.perf_counter() - start) / calls)
    return MaskTime(HOPS, min(times) * 1e9)
