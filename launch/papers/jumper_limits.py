"""The shipped player of Jumper under the limits of Brunton and Cohney (2013): 15 s a game and 1024 KB.

Each game is saved to a file when it is over, so that an interrupted command continues with the next one. Time is the
wall-clock time of everything the player does in its turns, whatever else runs on the machine.
"""

from __future__ import annotations

import concurrent.futures
import hashlib
import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from boardrl import registry
from boardrl.game import Game, State
from boardrl.matches import host_match
from boardrl.play import players
from boardrl.play.players import Player
from boardrl.runs import progress
from boardrl.runs.saved_results import Kept
from boardrl.system import machine
from launch.console import named_players
from launch.papers import trained
from launch.papers.cell import Cell, mean, share
from search.player import SearchPlayer

GAME = "jumper:size=6"
OPENING = 4  # random moves at the start; two games share them, with colours swapped
GAME_MS, KILOBYTES = 15_000, 1024


class Timed:
    """A search player and the resources it uses in a game, measured from outside."""

    def __init__(self, player: Player) -> None:
        assert isinstance(player.host, SearchPlayer)
        self.player = player.host
        self.ms = 0.0

    def reset(self) -> None:
        self.player.reset()
        self.ms = 0.0

    def choose(self, game: Game[State], state: State, rng: np.random.Generator) -> int:
        began = time.monotonic()
        try:
            return self.player.choose(game, state, rng)
        finally:
            self.ms += 1e3 * (time.monotonic() - began)

    @property
    def num_bytes(self) -> int:
        return self.player.searcher.num_bytes


def cells(mine: str, other: str, games: int, seed: int) -> Sequence[Cell]:
    """The player's score, and how often it exceeded a limit."""
    kept = Kept(trained.FOLDER / f"brunton2013-limits-{_digest(mine, other)}-s{seed}.jsonl")
    print(f"games     {kept.path}")
    rows = play(mine, other, games, seed, kept)
    won, lost = (sum(row["return"] == sign for row in rows) for sign in (1, -1))
    ms = np.array([row["ms"] for row in rows])
    over = {
        f"games of more than {GAME_MS / 1000:g} s": int((ms > GAME_MS).sum()),
        f"games with more than {KILOBYTES} KB": sum(row["bytes"] > 1024 * KILOBYTES for row in rows),
    }
    match = f"against {other}: {won}-{lost}, {games - won - lost} drawn"
    largest = max(row["bytes"] for row in rows) / 1024
    return [
        Cell(match, mine, "% of decided", *share(won, max(won + lost, 1))),
        Cell("seconds a game", mine, "s", *mean(ms / 1000)),
        Cell("the longest game", mine, "s", *[float(ms.max()) / 1000] * 3),
        Cell("memory", mine, "KB", largest, largest, largest),
        *(Cell(what, mine, "games", count, count, count) for what, count in over.items()),
    ]


def play(mine: str, other: str, games: int, seed: int, kept: Kept) -> list[dict[str, Any]]:
    """The games of a file; missing games are played on all cores."""
    missing = [number for number in range(games) if str(number) not in kept.rows]
    local = threading.local()
    game = registry.make(GAME)

    def one(number: int) -> None:
        if not hasattr(local, "pair"):
            local.pair = named_players.make(f"{mine},{other}", game)
            local.timed = Timed(local.pair[0])
        pair = [players.Player(mine, host=local.timed), local.pair[1]]
        seated = pair if number % 2 == 0 else pair[::-1]
        result = host_match.play_game(game, seated, seed=seed, index=number // 2, opening=OPENING)
        found = {"return": int(result.returns[number % 2]), "ms": local.timed.ms, "bytes": local.timed.num_bytes}
        kept.add(str(number), found)

    done = games - len(missing)
    with (
        concurrent.futures.ThreadPoolExecutor(machine.num_cores()) as threads,
        progress.track("under the limits", games, "games", done=done) as bar,
    ):
        waiting = [threads.submit(one, number) for number in missing]
        try:
            for count, future in enumerate(concurrent.futures.as_completed(waiting), 1):
                future.result()
                bar.update(done + count)
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)
            raise
    return [kept.rows[str(number)] for number in range(games)]


def _digest(*texts: str) -> str:
    """A key of the players, from their texts and weights, so that games of other players are never mixed in."""
    game, digest = registry.make(GAME), hashlib.sha256()
    for player in named_players.make(",".join(texts), game):
        assert isinstance(player.host, SearchPlayer)
        digest.update(player.text.encode() + player.host.searcher.memory.weights.tobytes())
    return digest.hexdigest()[:8]
