"""Messages of the page: JSON objects with a type and its fields, checked before anything is done.

Every message of a browser names one of TYPES. A message that is too long, is no JSON, names another type, or has a
field that is missing, unknown or of another kind is refused, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from boardrl.errors import UserError
from boardrl.system import untrusted_files

MOST_BYTES = 1 << 18
MOST_TEXT = 4000  # characters of a position
MOST_NAME = 300  # characters of a game or a player
MOST_SEATS = 64
MOST_STEPS = 1 << 20
MOST_DELAY = 10_000  # milliseconds between two steps

Check = Callable[[Any], bool]


class Refused(UserError):
    """A message that is not acted upon; the sentence says why."""


def is_flag(value: Any) -> bool:
    return type(value) is bool


def is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < MOST_STEPS


def is_seed(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**32


def is_delay(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MOST_DELAY


def is_name(value: Any) -> bool:
    return type(value) is str and 0 < len(value) <= MOST_NAME and value.isprintable()


def is_position(value: Any) -> bool:
    return type(value) is str and len(value) <= MOST_TEXT and all(one.isprintable() or one == "\n" for one in value)


def are_seats(value: Any) -> bool:
    return type(value) is list and len(value) <= MOST_SEATS and all(map(is_name, value))


def are_moves(value: Any) -> bool:
    return type(value) is list and all(type(one) is int and 0 <= one < 2**31 for one in value)


def is_record(value: Any) -> bool:
    """A game that the browser has kept; its moves are checked by the rules."""
    fields: dict[str, Check] = {
        "game": is_name,
        "position": is_position,
        "seats": are_seats,
        "seed": is_seed,
        "moves": are_moves,
        "outcomes": are_moves,
    }
    return type(value) is dict and value.keys() == fields.keys() and all(fields[name](value[name]) for name in fields)


def is_replay(value: Any) -> bool:
    """The content of a replay file, which its reader checks."""
    return type(value) is dict


class Fields(NamedTuple):
    required: Mapping[str, Check] = {}
    optional: Mapping[str, Check] = {}


TYPES: Mapping[str, Fields] = {
    "hello": Fields({}, {"session": is_name, "record": is_record, "game": is_name, "position": is_position}),
    "new": Fields({"game": is_name}, {"seats": are_seats, "rest": is_name, "seed": is_seed, "position": is_position}),
    "seats": Fields({"seats": are_seats}),
    "move": Fields({"step": is_count, "action": is_count}),
    "undo": Fields(),
    "show": Fields({"step": is_count}),
    "line": Fields({"step": is_count, "actions": are_moves}),
    "pace": Fields({"delay": is_delay, "paused": is_flag, "again": is_flag}),
    "think": Fields({"player": is_name, "step": is_count}),
    "judge": Fields({"player": is_name}),
    "quiet": Fields({"what": lambda value: value in ("think", "judge", "run")}),
    "runs": Fields(),
    "run": Fields({"run": is_name}),
    "save": Fields(),
    "open": Fields({"replay": is_replay}),
}
SESSION = "session"  # may be given with every message, and must be the tab's own


def parse(text: str | bytes) -> dict[str, Any]:
    """The message of a text from a browser."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if len(data) > MOST_BYTES:
        raise Refused(f"a message of {len(data):,} bytes is too long; expected at most {MOST_BYTES:,}")
    try:
        found = untrusted_files.parse(data)
    except ValueError:
        raise Refused("a message is no JSON") from None
    if type(found) is not dict or type(found.get("type")) is not str or found["type"] not in TYPES:
        raise Refused(f"a message has no known type; expected an object with one of {', '.join(TYPES)}")
    name = found["type"]
    required, more = TYPES[name]
    known = {**required, **more}
    if SESSION in found and not is_name(found[SESSION]):
        raise Refused(f"the field {SESSION!r} of {name!r} is not what it should be")
    for field in required:
        if field not in found:
            raise Refused(f"the field {field!r} of {name!r} is missing")
    for field, value in found.items():
        if field in ("type", SESSION):
            continue
        if field not in known:
            raise Refused(f"{name!r} has an unknown field; expected {', '.join(known) or 'none'}")
        if not known[field](value):
            raise Refused(f"the field {field!r} of {name!r} is not what it should be")
    return found
