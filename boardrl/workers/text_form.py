"""Workers by their text: `local`, `local:4`, `ray`, `ray:192.168.1.5:6379`."""

from __future__ import annotations

from typing import NamedTuple

from boardrl.errors import UserError, did_you_mean

HELP = (
    "who does the work: local (this machine's cores), local:N, ray (a Ray that is started on this machine), or "
    "ray:HOST:PORT (a running cluster); changes the time alone, not the result (docs/scaling.md)"
)
FORMS = "expected local, local:N, ray or ray:HOST:PORT"
MOST_LOCAL = 1024  # threads and processes of one machine


class Form(NamedTuple):
    kind: str  # local or ray
    number: int | None = None  # of local workers; None: one for each core
    address: str = ""  # of a cluster; empty: one is started


def parse(text: str) -> Form:
    """The form of a text; raises UserError if it is none."""
    kind, colon, rest = text.strip().partition(":")
    if kind not in ("local", "ray"):
        raise UserError(f"--workers={text}{did_you_mean(kind, ('local', 'ray'))}: {FORMS}")
    if not colon:
        return Form(kind)
    if kind == "local":
        if not (rest.isascii() and rest.isdigit()) or not 1 <= int(rest) <= MOST_LOCAL:
            raise UserError(f"--workers={text} has no number of workers: expected 1 to {MOST_LOCAL} after local:")
        return Form(kind, number=int(rest))
    if rest == "auto":
        return Form(kind, address=rest)
    host, _, port = rest.rpartition(":")
    if not host or any(char.isspace() for char in host) or not (port.isascii() and port.isdigit()):
        raise UserError(f"--workers={text} has no address of a cluster: expected ray:HOST:PORT, like ray:10.0.0.1:6379")
    if not 1 <= int(port) <= 65535:
        raise UserError(f"--workers={text} has port {port}: expected 1 to 65535")
    return Form(kind, address=rest)
