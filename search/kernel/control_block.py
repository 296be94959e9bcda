"""The control block of a search: counters, limits and options, read and written by compiled code.

One int64 vector, so that a search has one array in place of many arguments. Times are nanoseconds of the monotonic
clock, that of `time.monotonic_ns`, or of the processor time of the thread, `time.thread_time_ns`.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from boardrl.host.compile_options import compiled

# Words of the control block.
NODES, NODE_LIMIT = 0, 1  # positions visited, the root and all leaves included; 0: no limit
DEADLINE = 2  # 0: none
STOPPED = 3  # a limit was reached: the search returns no valid value
CUTS = 4  # leaves that are not the end of the game, and table values that depend on such leaves
NEXT_POLL, LAST_POLL, LAST_NODES = 5, 6, 7
VIEW = 8  # the seat that searches: positions are evaluated for it
SALT = 9  # xored to every key of the table
AGE = 10  # of this search, for the table
CHANCE_MET = 11  # chance nodes in a search that does not handle them
OVERFLOWS = 12  # positions that were not expanded because memory ran out
BEGAN = 13
STALL = 14  # longest recent wait for a core
WORKED = 15  # processor time of the thread at the last look at the clock before the deadline, if there is one
OPTIONS = 16  # from here on: the options, as each searcher numbers them
ARRAYS = 24  # from here on: where the arrays are, see `search.kernel.addresses`
WORDS = 52

FIRST_POLL = 1  # nodes before the first poll: an evaluation may take milliseconds
POLL_NS = 100_000  # between two polls, about
STALL_NS = 1_000_000  # the shortest wait for a core that is remembered
TOLERATED_NS = 1_000_000  # of waiting for a core, for which a search does not end earlier
FORGET = 32  # searches after which about two thirds of a long wait are forgotten
MOST_GROWTH = 4  # of the nodes between two polls: the rate may change


def _clock(kind: int) -> Any:
    """A clock in nanoseconds: a call of the C library's clock_gettime."""

    def clock(typing: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            word, half = ir.IntType(64), ir.IntType(32)
            # A symbol, not an address: the linker finds it anew in every process, so that the code can be cached.
            function = ir.FunctionType(half, [half, word.as_pointer()])
            call = cgutils.get_or_insert_function(builder.module, function, "clock_gettime")
            time = cgutils.alloca_once(builder, word, 2)
            builder.call(call, [ir.Constant(half, kind), time])
            seconds = builder.load(time)
            rest = builder.load(builder.gep(time, [ir.Constant(half, 1)]))
            return builder.add(builder.mul(seconds, ir.Constant(word, 1_000_000_000)), rest)

        return types.int64(), generate

    return intrinsic(clock)


now = _clock(time.CLOCK_MONOTONIC)
thread_time = _clock(time.CLOCK_THREAD_CPUTIME_ID)


@compiled
def start(control: np.ndarray, node_limit: int, deadline: int) -> None:
    """Resets the counters; the options stay."""
    control[:VIEW] = 0
    control[CHANCE_MET] = control[OVERFLOWS] = 0
    control[NODE_LIMIT] = node_limit
    control[DEADLINE] = deadline
    control[BEGAN] = control[LAST_POLL] = now()
    if deadline:
        control[WORKED] = thread_time()  # a call of the kernel, unlike `now`
    control[STALL] -= control[STALL] // FORGET
    control[NEXT_POLL] = FIRST_POLL
    if node_limit and node_limit < FIRST_POLL:
        control[NEXT_POLL] = node_limit


@compiled
def count(control: np.ndarray) -> None:
    """Counts a node, and polls the clock when it is time to."""
    control[NODES] += 1
    if control[NODES] >= control[NEXT_POLL]:
        poll(control)


@compiled
def poll(control: np.ndarray) -> None:
    """Stops the search if a limit is reached; else sets after how many nodes to poll again.

    Slow evaluations make it look more often: the nodes of POLL_NS at the rate since the last look. Where other
    processes take turns on the processor, the next wait is expected to be like the last ones: of a wait longer than
    TOLERATED_NS a search ends as much earlier, after half of its time at the earliest. A wait is what the monotonic
    clock counts beyond the thread's processor time; without a deadline nothing depends on it.
    """
    nodes = control[NODES]
    if control[NODE_LIMIT] and nodes >= control[NODE_LIMIT]:
        control[STOPPED] = 1
    moment = now()
    since = nodes - control[LAST_NODES]
    spent = max(moment - control[LAST_POLL], 1)
    if control[DEADLINE]:
        worked = thread_time()
        waited = spent - (worked - control[WORKED])
        if waited > STALL_NS:
            control[STALL] = max(control[STALL], waited)
        early = min(max(control[STALL] - TOLERATED_NS, 0), (control[DEADLINE] - control[BEGAN]) // 2)
        if moment >= control[DEADLINE] - early:
            control[STOPPED] = 1
        if moment < control[DEADLINE]:
            control[WORKED] = worked
    gap = min(max(since * POLL_NS // spent, 1), MOST_GROWTH * since)
    control[NEXT_POLL] = nodes + gap
    if control[NODE_LIMIT]:
        control[NEXT_POLL] = min(control[NEXT_POLL], control[NODE_LIMIT])
    control[LAST_POLL] = moment
    control[LAST_NODES] = nodes
