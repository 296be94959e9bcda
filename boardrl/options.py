"""`name:key=value,...` and `name(key=value,...)`: the syntax of games and players on the command line."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

from boardrl.errors import UserError, did_you_mean

QUOTE = '"'  # around a text that contains commas or parentheses
BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
MOST_SHOWN = 80  # characters of the user's text in a message


class Option(NamedTuple):
    """One option of a game, a player or a config."""

    name: str
    type: Any
    default: Any
    help: str = ""

    def describe(self) -> str:
        return f"{self.name} ({type_name(self.type)}, default {self.default!r})"


def of_dataclass(cls: type) -> list[Option]:
    """The options of a dataclass are its fields."""
    hints = typing.get_type_hints(cls)
    options = []
    for field in dataclasses.fields(cls):
        default = field.default_factory() if callable(field.default_factory) else field.default
        options.append(Option(field.name, hints[field.name], default, field.metadata.get("help", "")))
    return options


def of_function(function: Any) -> list[Option]:
    """The options of a function are its keyword-only parameters."""
    hints = typing.get_type_hints(function)
    defaults = function.__kwdefaults__ or {}
    return [Option(name, hints.get(name, type(default)), default) for name, default in defaults.items()]


def parse(text: str, options: Iterable[Option], owner: str) -> dict[str, Any]:
    """Parses `key=value,...` into typed values; raises UserError that names a wrong option and lists the right ones."""
    known = {option.name: option for option in options}
    values: dict[str, Any] = {}
    for part in split(text):
        key, equals, value = part.partition("=")
        key = key.strip()
        if not equals:
            raise UserError(f"bad option {_shown(part)} of {owner}: expected key=value; {_listing(owner, known)}")
        if key not in known:
            hint = did_you_mean(key, known)
            raise UserError(f"unknown option {_shown(key)} of {owner}{hint}; {_listing(owner, known)}")
        if key in values:
            raise UserError(f"option {key!r} of {owner} is given twice; give it once")
        try:
            values[key] = convert(_unquoted(value.strip()), known[key].type)
        except ValueError:
            wanted = type_name(known[key].type)
            raise UserError(
                f"bad value {key}={_shown(value.strip())} of {owner}: expected {wanted}; {_listing(owner, known)}"
            ) from None
    return values


def split_call(text: str) -> tuple[str, str]:
    """Splits `name(key=value,...)`, or `name` alone, into the name and the text between the parentheses."""
    name, parenthesis, rest = text.strip().partition("(")
    if parenthesis and not rest.endswith(")"):
        raise UserError(f"bad text {text!r}: expected name or name(key=value,...), closed by ')'")
    return name.strip(), rest[:-1]


def format_options(values: Mapping[str, Any]) -> str:
    """Formats options as text; the inverse of `parse`."""
    return ",".join(f"{key}={_format_value(value)}" for key, value in values.items())


def split(text: str) -> list[str]:
    """Splits a text at commas outside parentheses and quotes; an empty text has no parts.

    A part in double quotes is taken literally, such as a path with a comma: `"runs/a,b",random`.
    """
    parts, depth, start, quoted = [], 0, 0, False
    for index, character in enumerate(text):
        quoted ^= character == QUOTE
        if quoted:
            continue
        depth += (character == "(") - (character == ")")
        if depth < 0:
            break
        if character == "," and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    if quoted:
        raise UserError(f"a quote in {text!r} is not closed; expected an even number of {QUOTE}")
    if depth != 0:
        raise UserError(f"unbalanced parentheses in {text!r}; expected as many ')' as '('")
    parts.append(text[start:])
    parts = [part.strip() for part in parts]
    if parts == [""]:
        return []
    if "" in parts:
        raise UserError(f"empty part between commas in {text!r}; remove the comma or fill it in")
    return [_unquoted(part) for part in parts]


def join(parts: Iterable[str]) -> str:
    """Joins parts with commas; the inverse of `split`."""
    return ",".join(part if _is_whole(part) else _quoted(part) for part in parts)


def _is_whole(part: str) -> bool:
    try:
        return split(part) == [part]
    except UserError:
        return False


def _quoted(text: str) -> str:
    return QUOTE + text.replace(QUOTE, 2 * QUOTE) + QUOTE


def _unquoted(text: str) -> str:
    inner = text[1:-1].replace(2 * QUOTE, QUOTE)
    return inner if len(text) > 1 and _quoted(inner) == text else text


def convert(text: str, kind: Any) -> Any:
    """Parses one value of a declared type; raises ValueError if the text is not one."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is Literal:
        if text not in arguments:
            raise ValueError(text)
        return text
    if origin in (typing.Union, types.UnionType):
        if text.lower() == "none" and type(None) in arguments:
            return None
        return convert(text, next(a for a in arguments if a is not type(None)))
    if origin is tuple:
        return tuple(convert(part, arguments[0]) for part in text.strip("()").split("+") if part)
    if kind is bool:
        if text.lower() not in BOOLEANS:
            raise ValueError(text)
        return BOOLEANS[text.lower()]
    if kind in (int, float, str):
        return kind(text)
    raise TypeError(f"options of type {kind!r} cannot be written on the command line")


def type_name(kind: Any) -> str:
    """A type as described to a user."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is Literal:
        return "one of " + ", ".join(arguments)
    if origin in (typing.Union, types.UnionType):
        return " or ".join("none" if a is type(None) else type_name(a) for a in arguments)
    if origin is tuple:
        return {int: "integers", float: "numbers", str: "texts"}[arguments[0]] + " joined by +"
    return {int: "an integer", float: "a number", bool: "true or false", str: "a text"}.get(kind, str(kind))


def _format_value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):  # JSON turns tuples into lists
        return "+".join(map(_format_value, value))
    return "none" if value is None else str(value)


def _shown(text: str) -> str:
    """A text as shown in messages, shortened if it is long."""
    return repr(text) if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]!r}…"


def _listing(owner: str, known: Mapping[str, Option]) -> str:
    if not known:
        return f"{owner} takes no options"
    return f"{owner} takes " + ", ".join(option.describe() for option in known.values())
