"""Players that think on another thread, so that Ctrl-C works at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np

from boardrl.game import Game, State
from boardrl.play.players import HostPlayer

LOOK_SECONDS = 0.2
GRACE_SECONDS = 1.0  # time to wait for a player after asking it to stop

Tell = Callable[[float], None]  # called regularly with the seconds that a player has been thinking


class Thinking:
    """A host player that wraps another and can be interrupted with Ctrl-C.

    Search runs in compiled code that does not hold the GIL and can be stopped. Code that cannot be stopped, such as a
    user's own loop, keeps running on a thread that ends with the process.
    """

    def __init__(self, host: HostPlayer, tell: Tell) -> None:
        self.host, self._tell = host, tell

    def reset(self) -> None:
        self.host.reset()

    def choose(self, game: Game[State], state: State, rng: np.random.Generator) -> int:
        found: list[int] = []
        failed: list[BaseException] = []
        done = threading.Event()

        def think() -> None:
            try:
                found.append(self.host.choose(game, state, rng))
            except BaseException as error:
                failed.append(error)
            finally:
                done.set()

        began = time.monotonic()
        threading.Thread(target=think, daemon=True).start()
        try:
            while not done.wait(LOOK_SECONDS):
                self._tell(time.monotonic() - began)
        except KeyboardInterrupt:
            if hasattr(self.host, "stop"):
                self.host.stop()
                done.wait(GRACE_SECONDS)
            raise
        if failed:
            raise failed[0]
        return found[0]
