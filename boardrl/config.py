"""Flags made from frozen dataclasses: a setting is written once, with its type, default and help."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

from absl import flags

from boardrl import options
from boardrl.errors import UserError

ConfigType = TypeVar("ConfigType")
MOST_SHOWN = 60  # characters of a stored value in a message


def setting(default: Any, help: str, *, formerly: str = "") -> Any:
    """A dataclass field that becomes a flag.

    Args:
      formerly: its name in stored settings of earlier versions.
    """
    return dataclasses.field(default=default, metadata={"help": help, "formerly": formerly})


def renamed(config: type, stored: Mapping[str, Any]) -> dict[str, Any]:
    """Stored settings under today's names."""
    fields = dataclasses.fields(config)
    now = {field.metadata["formerly"]: field.name for field in fields if field.metadata.get("formerly")}
    return {name if now.get(name, name) in stored else now.get(name, name): value for name, value in stored.items()}


def define(config: type, values: flags.FlagValues, defaults: Mapping[str, Any] | None = None) -> None:
    """Defines one flag per field; `defaults` replace those of the dataclass, such as a game's own."""
    defaults = dict(defaults or {})
    for option in options.of_dataclass(config):
        default = defaults.pop(option.name, option.default)
        if option.type is bool:
            flags.DEFINE_flag(_BoolFlag(option.name, default, option.help), values)
        else:
            flags.DEFINE(_Parser(option.type), option.name, default, option.help, values, _Serializer())
    if defaults:
        raise UserError(
            f"{config.__module__} has no setting {', '.join(map(repr, defaults))}; expected one of its fields"
        )


def from_flags(config: type[ConfigType], values: flags.FlagValues) -> ConfigType:
    """The dataclass with the values of the flags."""
    return config(**{field.name: values[field.name].value for field in dataclasses.fields(config)})  # type: ignore[arg-type]


def from_dict(config: type[ConfigType], stored: Mapping[str, Any], *, written_by: str = "") -> ConfigType:
    """The dataclass of a config.json, with values checked against the types of the fields.

    A missing setting was added after the file was written, and gets its default. A setting that was renamed since is
    read under its former name.

    Args:
      written_by: the version that wrote the file, for the message about unknown settings.
    """
    known = {option.name: option for option in options.of_dataclass(config)}
    stored = renamed(config, stored)
    if odd := sorted(set(stored) - set(known)):
        then = f"; {written_by} wrote them: use that version" if written_by else ""
        shown = ", ".join(odd)[:MOST_SHOWN]
        raise UserError(f"stored settings do not fit {config.__module__}: {shown}; expected {', '.join(known)}{then}")
    values = {}
    for name, value in stored.items():
        value = tuple(value) if isinstance(value, list) else value
        if not _fits(value, known[name].type):
            shown = repr(value)[:MOST_SHOWN]
            raise UserError(f"stored setting {name}={shown} is not {options.type_name(known[name].type)}")
        values[name] = value
    return config(**values)


def _fits(value: Any, kind: Any) -> bool:
    try:
        text = "none" if value is None else "+".join(map(str, value)) if isinstance(value, tuple) else str(value)
        return bool(options.convert(text, kind) == value) and isinstance(value, bool) == (kind is bool)
    except (ValueError, TypeError, OverflowError):
        return False


class _Parser(flags.ArgumentParser[Any]):
    """Reads a flag's text as the field's declared type."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind
        self.syntactic_help = options.type_name(kind)

    def parse(self, argument: Any) -> Any:
        if not isinstance(argument, str) or (typing.get_origin(self.kind) is None and self.kind is str):
            return argument
        try:
            return options.convert(argument, self.kind)
        except ValueError:
            raise ValueError(f"expected {options.type_name(self.kind)}") from None

    def flag_type(self) -> str:
        return options.type_name(self.kind)


class _BoolParser(flags.BooleanParser):
    def parse(self, argument: Any) -> bool:
        try:
            return super().parse(argument)
        except ValueError:
            raise ValueError("expected true or false") from None


class _BoolFlag(flags.BooleanFlag):
    """`--name`, `--noname` and `--name=true`."""

    def __init__(self, name: str, default: bool, help: str) -> None:
        super().__init__(name, default, help)
        self.parser = _BoolParser()


class _Serializer(flags.ArgumentSerializer[Any]):
    def serialize(self, value: Any) -> str:
        return options.format_options({"": value})[1:]
