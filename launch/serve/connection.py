"""The socket of one browser tab: reads messages one after the other, runs tasks whose work on threads can be ended."""

from __future__ import annotations

import asyncio
import contextlib
import json
import traceback
from collections.abc import Callable, Coroutine
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from boardrl.errors import UserError
from launch.serve import messages, security

BUG = "something went wrong on the server, which has printed what"
TOO_FAST = 1008  # the code with which a tab is cut off
GONE = (WebSocketDisconnect, RuntimeError)  # what sending raises once the socket is closed


class Connection:
    """A socket without knowledge of games; `answer` is called with every message that is well formed."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._stops: dict[str, Callable[[], None]] = {}  # end the work of a task on its thread
        self._pace = security.Pace(security.PER_SECOND, security.BURST)
        self._sending = asyncio.Lock()

    async def answer(self, message: dict[str, Any]) -> None:
        raise NotImplementedError

    async def read(self) -> None:
        """Answers messages until the tab is closed."""
        with contextlib.suppress(*GONE):
            while (received := await self._socket.receive())["type"] != "websocket.disconnect":
                text = received.get("text") if received.get("text") is not None else received.get("bytes")
                if self._pace.allows():
                    await self._receive(text or b"")
                elif self._pace.excess > security.MOST_EXCESS:
                    await self._socket.close(TOO_FAST)
                    return
                else:
                    await self.error("too many messages at once; wait a moment")

    async def _receive(self, text: str | bytes) -> None:
        try:
            await self.answer(messages.parse(text))
        except UserError as error:
            await self.error(str(error))
        except GONE:
            raise
        except Exception:  # a bug, of an outside game too, must not end the tab
            traceback.print_exc()
            await self.error(BUG)

    async def send(self, kind: str, /, **content: Any) -> None:
        if self._socket.application_state is not WebSocketState.CONNECTED:
            raise WebSocketDisconnect(1006)
        async with self._sending:
            await self._socket.send_text(json.dumps({"type": kind, **content}, separators=(",", ":"), allow_nan=False))

    async def error(self, text: str, **content: Any) -> None:
        await self.send("error", text=" ".join(text.split()), **content)

    def start(self, name: str, work: Coroutine[Any, Any, None], stop: Callable[[], None] | None = None) -> None:
        """Runs a task in place of the one of that name; `stop` ends its work on a thread."""

        async def guarded() -> None:
            with contextlib.suppress(*GONE):
                try:
                    await work
                except UserError as error:
                    await self.error(str(error), of=name)
                except GONE:
                    raise
                except Exception:
                    traceback.print_exc()
                    await self.error(BUG, of=name)

        self.stop(name)
        self._tasks[name] = task = asyncio.create_task(guarded())
        task.add_done_callback(lambda _: work.close())  # one that was stopped at once has not begun
        if stop is not None:
            self._stops[name] = stop

    def stop(self, name: str) -> None:
        """Ends a task and its work."""
        task, stop = self._tasks.pop(name, None), self._stops.pop(name, None)
        if stop is not None:
            stop()
        if task is not None:
            task.cancel()

    def stop_work(self) -> None:
        """Ends all tasks."""
        for name in list(self._tasks):
            self.stop(name)
