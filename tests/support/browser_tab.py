"""A browser tab as the server sees it, for tests of the page's protocol."""

from __future__ import annotations

import contextlib
import json

WAIT = 60  # messages that are read until the one that is looked for


class Browser:
    """A tab as the server sees it."""

    def __init__(self, socket, **hello):
        self.socket, self.errors = socket, []
        self.send("hello", **hello)
        self.game = self.until("game")
        self.session = self.game["session"]
        self.step = self.until("step")

    def send(self, kind, **content):
        self.socket.send_text(json.dumps({"type": kind, **content}))

    def until(self, kind, **wanted):
        for _ in range(WAIT * 10):
            message = json.loads(self.socket.receive_text())
            if message["type"] == kind and all(message.get(name) == value for name, value in wanted.items()):
                return message
            if message["type"] == "error":
                self.errors.append(message["text"])
                if kind != "error":
                    raise AssertionError(message["text"])
        raise AssertionError(f"no {kind}")

    def refused(self, text):
        self.socket.send_text(text if isinstance(text, str) else json.dumps(text))
        return self.until("error")["text"]

    def move(self, action):
        self.send("move", step=self.step["step"], action=action, session=self.session)

    def my_turn(self):
        """The next position in which a person is to move, or the end."""
        while True:
            self.step = self.until("step")
            if self.step["actions"] or self.step["actor"] == -2:
                return self.step


def connected(client, **headers):
    """A socket; the test client would connect to a host of its own."""
    return client.websocket_connect(f"ws://{client.base_url.netloc.decode()}/socket", headers=headers)


@contextlib.contextmanager
def opened(client, **hello):
    with connected(client) as socket:
        yield Browser(socket, **hello)
