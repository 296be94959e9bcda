"""A user's own classes and functions as players that run on the host."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import sys
import typing
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from boardrl import options, trust
from boardrl.errors import UserError
from boardrl.game import Game, State

Choose = Callable[..., Any]  # f(game, state, rng, **options) -> a legal action


class Bot:
    """A user's own class, made anew for every game, or a function, as a host player.

    All that is asked of a class: `choose(game, state, rng) -> action` (see boardrl.play.players.HostPlayer), and that
    its options, if any, are keyword arguments with defaults: `my_bots:Careful(depth=3)`. A function is
    `f(game, state, rng) -> action`, its options likewise arguments with defaults.
    """

    def __init__(self, made: Callable[..., Any], given: Mapping[str, Any] | None = None) -> None:
        self._made, self._given = made, dict(given or {})
        self.reset()

    @classmethod
    def load(cls, text: str) -> Bot:
        """The bot of a text like `package.module:Class(depth=3)` or `package.module:function`."""
        name, rest = options.split_call(text)
        module_name, _, attribute = name.partition(":")
        trust.check(name)
        try:
            found = getattr(importlib.import_module(module_name), attribute)
        except (ImportError, AttributeError) as error:
            raise UserError(f"player {name!r} cannot be loaded: {error}; is its file on the PYTHONPATH?") from error
        return cls(found, options.parse(rest, takes(found, name), f"player {name!r}"))

    def reset(self) -> None:
        self._choose: Choose
        if isinstance(self._made, type):
            self._choose = self._made(**self._given).choose
        else:
            self._choose = self._made

    def choose(self, game: Game[State], state: State, rng: np.random.Generator) -> Any:
        given = {} if isinstance(self._made, type) else self._given
        action = self._choose(game, state, rng, **given)
        if getattr(action, "shape", None) == () and not isinstance(action, np.generic):
            return np.asarray(action)[()]  # as of jnp.argmax
        return action


def takes(made: Any, name: str) -> list[options.Option]:
    """The options of a class or a function that is to play, after a check that it can."""
    if isinstance(made, type):
        if not callable(getattr(made, "choose", None)):
            raise UserError(f"player {name!r} has no method choose(game, state, rng) -> action; add one")
        if dataclasses.is_dataclass(made):
            return options.of_dataclass(made)
        init = inspect.getattr_static(made, "__init__")
        return options.of_function(init) if inspect.isfunction(init) else []
    if not callable(made):
        raise UserError(f"player {name!r} is neither a class nor a function; expected f(game, state, rng) -> action")
    signature = inspect.signature(made)
    try:
        signature.bind(None, None, None)
    except TypeError as error:
        raise UserError(
            f"player {name!r} cannot be called as f(game, state, rng): {error}; further arguments need defaults"
        ) from None
    try:
        hints = typing.get_type_hints(made)
    except (NameError, TypeError):  # a type that is imported for type checkers alone
        hints = {}
    return [
        options.Option(one.name, hints.get(one.name, type(one.default)), one.default)
        for one in list(signature.parameters.values())[3:]
        if one.default is not one.empty
    ]


def address(made: Any) -> str:
    """`module:name` of a class or a function, by which other processes find it; empty where they cannot."""
    module, name = getattr(made, "__module__", None), getattr(made, "__qualname__", "")
    if not module or module == "__main__" or not name.isidentifier():
        return ""
    return f"{module}:{name}" if getattr(sys.modules.get(module), name, None) is made else ""
