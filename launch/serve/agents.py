"""Players that are not people, shared by all tabs: made once for each text, and used by one tab at a time.

A policy has no state, and all tabs share it. A searcher has tables and a clock: a text has as many as moves are thought
about at once, and one that last played for another game forgets it first. Idle ones beyond MOST_HOSTS are given up, so
that memory stays bounded however many tabs there are.
"""

from __future__ import annotations

import contextlib
import functools
import pathlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

from boardrl import options, registry
from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.play import players, rollout
from boardrl.play.players import Player
from boardrl.runs import checkpoint, run_directory
from launch.serve.permitted import Permitted

MOST_POLICIES = 64
MOST_HOSTS = 12
Stop = Callable[[], None]


class Host:
    """A player that runs on the host, and whose game it last was."""

    def __init__(self, key: str, player: Player) -> None:
        self.key, self.player = key, player
        self.owner: object = None

    def stop(self) -> None:
        """Makes its thought end soon, where it can."""
        if (stop := getattr(self.player.host, "stop", None)) is not None:
            stop()


class Agents:
    """All players of a server."""

    def __init__(self, permitted: Permitted) -> None:
        self._permitted = permitted
        self._lock = threading.Lock()
        self._policies: dict[str, Player] = {}  # the least recently used first
        self._idle: list[Host] = []  # likewise

    def check(self, text: str, game: Game[Any]) -> None:
        """Raises UserError if there is no such player; makes it, so that its first move needs no waiting."""
        with self._player(text, game, owner=None):
            pass

    def choose(
        self, text: str, game: Game[Any], state: Any, legal: np.ndarray, rng: np.random.Generator, *, owner: object
    ) -> tuple[Callable[[], int], Stop]:
        """(a function that chooses the action, a function that ends it from another thread)."""
        stopping = threading.Event()
        thinking: list[Host] = []

        def choose() -> int:
            with self._player(text, game, owner=owner) as found:
                if isinstance(found, Host):
                    thinking.append(found)
                    action = None if stopping.is_set() else found.player.host.choose(game, state, rng)  # type: ignore[union-attr]
                    thinking.clear()
                else:
                    action = _sampled(game, found, state, rng)
            if action is None or int(action) not in np.flatnonzero(legal):
                raise UserError(f"player {text!r} chose {action!r}; expected one of the legal actions")
            return int(action)

        def stop() -> None:
            stopping.set()
            for host in list(thinking):
                host.stop()

        return choose, stop

    @contextlib.contextmanager
    def _player(self, text: str, game: Game[Any], *, owner: object) -> Iterator[Player | Host]:
        """The player of a text; a host player is this caller's alone for the duration of the block."""
        key = self._key(text, game)
        with self._lock:
            policy = self._policies.pop(key, None)
            if policy is not None:
                self._policies[key] = policy
            mine = [host for host in self._idle if host.key == key]
            mine.sort(key=lambda host: host.owner is not owner)  # one that knows this game comes first
            if mine:
                self._idle.remove(mine[0])
        if policy is not None:
            yield policy
            return
        host = mine[0] if mine else self._make(key, text, game)
        if isinstance(host, Player):
            yield host
            return
        try:
            if host.owner is not owner:
                assert host.player.host is not None
                host.player.host.reset()
                host.owner = owner
            yield host
        finally:
            with self._lock:
                self._idle.append(host)
                del self._idle[:-MOST_HOSTS]

    def _make(self, key: str, text: str, game: Game[Any]) -> Player | Host:
        made = players.make(self._permitted.player_text(text, game), game)
        if made.host is not None:
            return Host(key, made)
        with self._lock:
            self._policies[key] = made
            while len(self._policies) > MOST_POLICIES:
                del self._policies[next(iter(self._policies))]
        return made

    def _key(self, text: str, game: Game[Any]) -> str:
        """By what a player is found again: its text, the game, and the newest checkpoint of every run it names."""
        placed = self._permitted.player_text(text, game)
        newest = []
        for part in [placed, *(one.partition("=")[2] for one in options.split(options.split_call(placed)[1]))]:
            folder = pathlib.Path(part) / run_directory.CHECKPOINTS
            if part and folder.is_dir():
                newest += [str(step) for step in checkpoint.steps(folder)[-1:]]
        described = _described(game)  # type: ignore[arg-type]  # the protocol does not declare games hashable
        return "\n".join([described, placed, *newest])


@functools.lru_cache(maxsize=256)
def _described(game: Game[Any]) -> str:
    return registry.describe(game)


def _sampled(game: Game[Any], player: Player, state: Any, rng: np.random.Generator) -> int:
    """An action of a policy."""
    assert player.policy is not None
    weights = jax.device_get(_weights(game, player.policy, state)).astype(np.float64)
    return int(rng.choice(len(weights), p=weights / weights.sum()))


@functools.partial(jax.jit, static_argnames="game")
def _weights(game: Game[Any], policy: Any, state: Any) -> jax.Array:
    return rollout.action_weights(game, policy.apply(policy.params, state), state)
