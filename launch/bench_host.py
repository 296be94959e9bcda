"""The host suite of the benchmarks: random play through lowered rules, beside OpenSpiel's C++ states."""

from __future__ import annotations

import dataclasses
import functools
import random
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from boardrl import host, registry
from boardrl.game import TERMINAL, Spec
from boardrl.lowering import lower
from launch import bench_host_kernel


class Row(NamedTuple):
    """One line of the suite: medians over the repetitions, and how far the ratio strayed."""

    name: str
    ours: float  # steps a second, on one core
    peer: float  # OpenSpiel's, in the same run; nan where there is none
    ratio: float
    low: float  # the least and the largest ratio of a repetition
    high: float


def run(*, repeats: int = 5, seconds: float = 0.3) -> Iterator[Row]:
    """Random play of each game, ours and OpenSpiel's by turns."""
    import pyspiel

    games: dict[str, Callable[[], Any]] = {
        "tic_tac_toe": lambda: registry.make("tic_tac_toe"),
        "pig": lambda: registry.make("pig"),
        "connect_four": ConnectFour,
    }
    for name, make in games.items():
        kernel = host.specialise(bench_host_kernel, host.of(make()))
        kernel.play(1, 1)  # compiles
        peer_game = pyspiel.load_game(name)
        pairs = []
        for repeat in range(repeats):
            ours = _rate(functools.partial(play_ours, kernel, 200_000), repeat, seconds)
            peer = _rate(functools.partial(play_openspiel, peer_game, 2_000), repeat, seconds)
            pairs.append((ours, peer))
        yield _row(name, pairs)


def _rate(play: Callable[[int], int], seed: int, seconds: float) -> float:
    """Steps a second, over at least so many seconds."""
    steps, start = 0, time.perf_counter()
    while True:
        seed += 1_000_003
        steps += play(seed)
        spent = time.perf_counter() - start
        if spent >= seconds:
            return steps / spent


def _row(name: str, pairs: list[tuple[float, float]]) -> Row:
    ratios = [ours / peer for ours, peer in pairs]
    ours, peer = (statistics.median(side) for side in zip(*pairs, strict=True))
    return Row(name, ours, peer, statistics.median(ratios), min(ratios), max(ratios))


def play_ours(kernel: Any, num_steps: int, seed: int) -> int:
    """Whole random games in compiled code until so many steps are made."""
    return int(kernel.play(num_steps, seed)[0])


def play_openspiel(game: Any, num_steps: int, seed: int) -> int:
    """Whole random games on OpenSpiel's states until so many steps are made."""
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


@dataclasses.dataclass(frozen=True)
class ConnectFour:
    """pgx's rules of connect four as a game of ours, so that both sides of the benchmark play the same."""

    @property
    def spec(self) -> Spec:
        return Spec("connect_four", num_players=2, num_actions=7, num_outcomes=0, obs_shape=(6, 7, 2), max_steps=42)

    def init(self) -> Any:
        return jax.tree.map(jnp.asarray, _connect_four().init(jax.random.key(0)))

    def actor(self, state: Any) -> Array:
        return jnp.where(state.terminated, TERMINAL, state.current_player)

    def legal(self, state: Any) -> Array:
        return state.legal_action_mask & ~state.terminated

    def chance(self, state: Any) -> Array:
        return jnp.zeros(0, jnp.float32)

    def step(self, state: Any, move: Array) -> Any:
        return _connect_four().step(state, move)

    def returns(self, state: Any) -> Array:
        return state.rewards

    def observe(self, state: Any, player: Array) -> Array:
        return state.observation.astype(jnp.float32)


def _connect_four() -> Any:
    import pgx

    return pgx.make("connect_four")


def call_times(game: Any, *, repeats: int = 60, calls: int = 20_000) -> dict[str, float]:
    """Nanoseconds a call of a game's compiled functions at its decisions, less the loop around them.

    The least over the repetitions; the game must be without chance.
    """
    facet = host.of(game)
    kernel = host.specialise(bench_host_kernel, facet)
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
    """How long a mask of hops takes."""

    hops: int
    nanoseconds: float  # a call


def jumper_like_mask(size: int = 6, num_hops: int = 200) -> Callable[[Array, Array], Array]:
    """mask(board, colour) -> [num_hops] bool: whether an own piece can hop over any piece to an empty cell.

    Cells are 0 empty, 1 white, 2 black, 3 dead, as in Jumper; a hop is two cells in one of eight directions. The
    board's hops are taken over again until there are so many.
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

    num_hops = 200
    mask = jumper_like_mask(num_hops=num_hops)
    rng = np.random.default_rng(0)
    boards = rng.integers(0, 4, (64, 36)).astype(np.int8)
    lowered = lower(mask, boards[0], np.int8(1), name="jumper_mask")
    function = lowered.function
    out, work = np.zeros(num_hops, np.bool_), np.zeros(lowered.work_words, np.uint64)

    @njit
    def repeat(boards, out, work, calls):
        found = 0
        for k in range(calls):
            function(boards[k % 64], 1 + k % 2, out, work)
            found += out[k % 100]
        return found

    repeat(boards, out, work, 1)
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        repeat(boards, out, work, calls)
        times.append((time.perf_counter() - start) / calls)
    return MaskTime(num_hops, min(times) * 1e9)
