"""Suite `guests`: games of pgx through the adapter, searched beside OpenSpiel and played at random beside pgx itself.

Every row compiles when it is first measured, so that --only=othello compiles othello alone. What compiling takes is a
row of its own: the processor time of `launch.analyse` in a process that begins without a cache.
"""

from __future__ import annotations

import functools
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from typing import NamedTuple

from boardrl import host, registry
from boardrl.host import random_games
from launch.bench.row import Row, processor_seconds
from launch.bench.search_suite import LEAST_SECONDS, PLAIN, open_spiel_rate
from launch.bench.simulate_suite import our_steps, pgx_steps
from search import evaluators, searchers
from search.budget import Budget
from search.searcher import Searcher

KILOBYTES = 262_144  # of a search; a position of chess takes 5
STEPS = 2_000  # of a measurement of compiled random play


class Guest(NamedTuple):
    """A game of pgx, the depth to search it to, and the same game of OpenSpiel, if it has it."""

    name: str
    depth: int
    open_spiel: str = ""
    batch: int = 4096  # games side by side in JAX, at most


GUESTS = (
    Guest("tic_tac_toe", 9, "tic_tac_toe"),
    Guest("connect_four", 7, "connect_four"),
    Guest("othello", 9, "othello"),
    Guest("hex", 3, "hex(board_size=11)"),
    Guest("go_9x9", 3, "go(board_size=9,komi=7.5)", batch=512),
    Guest("go_19x19", 2, "go(board_size=19,komi=7.5)", batch=64),
    Guest("animal_shogi", 5, batch=512),
    Guest("gardner_chess", 4, batch=128),
    Guest("chess", 3, "chess", batch=128),
    Guest("shogi", 3, batch=128),
)


def rows(batch: int) -> Sequence[Row]:
    """For each game seconds to compile, nodes of search, steps of random play in JAX, and of compiled random play."""
    result = []
    for guest in GUESTS:
        name, games = f"pgx_{guest.name}", min(batch, guest.batch)
        first = _later(functools.partial(seconds_to_first_search, name))
        result.append(Row(f"{name}, first search without a cache", "processor s", first))
        search = _later(functools.partial(node_rate, name, guest.depth))
        work = f"{name}, Negascout to depth {guest.depth}"
        if guest.open_spiel:
            peer = _later(functools.partial(open_spiel_rate, guest.open_spiel, guest.depth))
            result.append(Row(work, "nodes/s", search, "OpenSpiel alpha-beta (Python)", peer))
        else:
            result.append(Row(work, "nodes/s", search))
        theirs = _later(functools.partial(pgx_steps, guest.name, games))
        in_jax = _later(functools.partial(our_steps, name, games))
        result.append(Row(f"{name}, {games} games in JAX", "steps/s", in_jax, "pgx", theirs))
        compiled = _later(functools.partial(compiled_steps, name))
        result.append(Row(f"{name}, compiled, one game", "steps/s", compiled, f"pgx, {games} games", theirs))
    return result


def seconds_to_first_search(name: str) -> Callable[[], float]:
    """Processor seconds of a command that compiles a game's rules and a search for it, and searches one turn."""
    flags = [f"--game={name}", "--searcher=negascout", "--depth=1", "--evaluation=none"]
    command = [sys.executable, "-m", "launch.analyse", *flags]
    with tempfile.TemporaryDirectory() as cache:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, env={**os.environ, "BOARDRL_CACHE": cache}, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return lambda: seconds


def node_rate(name: str, depth: int) -> Callable[[], float]:
    """Nodes per second of Negascout from the first position, without evaluation, as the peer's."""
    game = registry.make(name)
    facet = host.of(game)
    options = searchers.find("negascout").options(**PLAIN)
    search = Searcher(
        game, "negascout", options, budget=Budget(depth=depth, kilobytes=KILOBYTES), evaluator=evaluators.none(facet)
    )
    row = facet.row(game.init())

    def run() -> float:
        nodes, seconds = 0, 0.0
        while seconds < LEAST_SECONDS:
            search.reset()  # what an earlier search has stored would leave little to search
            found: list[int] = []
            seconds += processor_seconds(lambda found=found: found.append(search.search_row(row).nodes))  # type: ignore[misc]
            nodes += found[0]
        return nodes / seconds

    return run


def compiled_steps(name: str) -> Callable[[], float]:
    """Steps per second of random play in compiled code, one game after the other on one core."""
    kernel = host.specialise(random_games, host.of(registry.make(name)))
    kernel.count(10, 0)  # compiles
    return lambda: STEPS / processor_seconds(lambda: kernel.count(STEPS, 1))


def _later(prepare: Callable[[], Callable[[], float]]) -> Callable[[], float]:
    """A measurement that is prepared when it is first made."""
    prepared = functools.cache(prepare)
    return lambda: prepared()()
