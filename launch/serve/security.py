"""Who may talk to the server: the token, the origin of a page, the pace of messages, headers of every answer."""

from __future__ import annotations

import hmac
import ipaddress
import time
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

COOKIE = "boardrl_token"
# Nothing but our own files is loaded, and nothing inline runs.
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
}
PER_SECOND = 25.0  # messages that a tab may send on average
BURST = 100.0  # and at once
MOST_EXCESS = 200  # refused messages after which a tab is cut off


def is_local(host: str) -> bool:
    """Whether a server that listens there is reached from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Gate:
    """Decides which requests are answered.

    Without a token only names of this machine itself are answered, so that a foreign page cannot reach the server by a
    name of its own that it points here (DNS rebinding). A page of another origin never may open a socket.
    """

    def __init__(self, host: str, token: str = "") -> None:
        self.host, self.token = host, token

    def refusal(self, headers: Mapping[str, str], query: Mapping[str, str], *, socket: bool) -> str:
        """Why a request is refused, or an empty text."""
        where = _host_of(headers.get("host", ""))
        if not self.token and where is not None and not is_local(where) and where != self.host:
            return f"the server answers to the names of this machine alone, not to {where!r}"
        origin = headers.get("origin")
        if socket and origin is not None and urlsplit(origin).netloc != headers.get("host", ""):
            return "another web page may not talk to this server"
        if self.token and not self._knows(headers, query):
            return "the token is missing or wrong: open the address that the server printed when it started"
        return ""

    def _knows(self, headers: Mapping[str, str], query: Mapping[str, str]) -> bool:
        given = [query.get("token", "")]
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            cookies = SimpleCookie()
        given += [cookies[COOKIE].value] if COOKIE in cookies else []
        return any(hmac.compare_digest(one.encode(), self.token.encode()) for one in given)


def _host_of(header: str) -> str | None:
    """The name in a Host header, without the port."""
    try:
        return urlsplit(f"//{header}").hostname
    except ValueError:
        return header


class Pace:
    """Limits how many messages a tab sends (a token bucket)."""

    def __init__(self, per_second: float, burst: float) -> None:
        self._per_second, self._burst = per_second, burst
        self._left, self._at = burst, time.monotonic()
        self.excess = 0

    def allows(self, now: float | None = None) -> bool:
        """Whether one more message may be acted upon."""
        now = time.monotonic() if now is None else now
        self._left = min(self._burst, self._left + (now - self._at) * self._per_second)
        self._at = now
        if self._left < 1:
            self.excess += 1
            return False
        self._left -= 1
        return True
