"""Players by name: `random`, `hold(total=15)`, `greedy(value=lines)`, `perfect`, a run, `package.module:Class`."""

from __future__ import annotations

import dataclasses
import difflib
import importlib
import inspect
import pathlib
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
from jax import Array

from boardrl import options, registry, solve
from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.policy import Greedy, Policy, Strategy, Uniform

BOT = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*(\(.*\))?")


class HostPlayer(Protocol):
    """A player that runs on the host, one state at a time, as search does."""

    def reset(self) -> None:
        """Forgets everything: called before each game, so that no game depends on those before it."""

    def choose(self, game: Game[Any], state: Any, rng: np.random.Generator) -> int:
        """A legal action in one unbatched state with numpy leaves; all randomness comes from `rng`."""


@dataclasses.dataclass(frozen=True, eq=False)
class Player:
    """Somebody who can sit at the table: either a policy, played in batches on device, or a host player.

    `text` and `makers` say how another process makes the same player, as nothing is ever pickled; without a
    text the player lives in this process alone.
    """

    name: str
    policy: Policy | None = None
    host: HostPlayer | None = None
    text: str = ""
    makers: str = ""  # where the table of makers is found, as `module:NAME`

    def __post_init__(self) -> None:
        if (self.policy is None) == (self.host is None):
            raise ValueError(f"player {self.name!r} needs a policy or a host player, one of the two")


Maker = Callable[[str, Game[Any]], Player | None]  # None: the text is not one of its players


class Makers(NamedTuple):
    """Kinds of players that this package cannot know: those of searches, of algorithms and of runs.

    A maker is given the player's whole text, and decides whether it is one of its own. It may give the player a
    more exact text, such as the one checkpoint that it has loaded from a run under way.
    """

    where: str = ""  # `module:NAME` of this very object, by which another process finds it
    table: Mapping[str, Maker] = {}  # by how the kind is written, for the list of known players


NONE = Makers()


def make(text: str, game: Game[Any], makers: Makers = NONE) -> Player:
    """The player of a text, for one game; what the game itself offers comes before the makers' kinds."""
    text = text.strip()
    if (meant := _meant(text, game)) != text:
        return dataclasses.replace(make(meant, game, makers), name=text, text=text)
    player = _own(text, game)
    for maker in makers.table.values():
        player = player or maker(text, game)
    if player is None and BOT.fullmatch(text):
        player = Player(text, host=Bot.load(text))
    if player is None:
        near = difflib.get_close_matches(options.split_call(text)[0], known(game, makers), 1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise UserError(
            f"unknown player {text!r}{hint}; {game.spec.name} knows {', '.join(known(game, makers))} "
            "and package.module:Class"
        )
    return dataclasses.replace(player, text=player.text or text, makers=makers.where)


def make_lineup(text: str, game: Game[Any], makers: Makers = NONE) -> list[Player]:
    """The players of a text like `random,hold(total=15)`."""
    return [make(part, game, makers) for part in options.split(text)]


def remake(player: Player, game: Game[Any]) -> Player:
    """The same player anew, from its text."""
    return make(player.text, game, load_makers(player.makers))


def load_makers(where: str) -> Makers:
    """The table of makers at `module:NAME`; the empty one for an empty text."""
    if not where:
        return NONE
    module, _, name = where.partition(":")
    return getattr(importlib.import_module(module), name)


def known(game: Game[Any], makers: Makers = NONE) -> list[str]:
    """How the players of a game are written."""
    greedy = ["greedy"] if _values(game) else []
    return list(dict.fromkeys(["random", "perfect", *greedy, *_strategies(game), *_named(game), *makers.table]))


class Learned(Protocol):
    """What loading a run gives."""

    @property
    def game(self) -> Game[Any]: ...

    @property
    def policy(self) -> Policy: ...

    @property
    def path(self) -> pathlib.Path: ...  # of the checkpoint

    @property
    def host(self) -> HostPlayer | None: ...  # who plays in place of the policy


def learned(text: str, game: Game[Any], *, load: Callable[[pathlib.Path], Learned]) -> Player | None:
    """A maker of players from run directories and their checkpoints: texts that are existing paths."""
    path = pathlib.Path(text)
    if not path.exists():
        return None
    found = load(path)
    if found.game != game:
        raise UserError(
            f"player {text!r} learned {registry.describe(found.game)}, not {registry.describe(game)}; "
            "choose that game or another player"
        )
    # The very checkpoint, as a run under way has a newer one soon.
    return Player(text, None if found.host else found.policy, found.host, text=str(found.path))


def _own(text: str, game: Game[Any]) -> Player | None:
    """The players that this game offers, of which one may be its own idea of `random`, and those of every game."""
    name, rest = options.split_call(text)
    if name in _strategies(game):
        strategy = _strategies(game)[name]
        given = options.parse(rest, options.of_function(strategy), f"player {name!r}")
        return Player(text, Policy(Strategy(game, name, tuple(sorted(given.items())))))
    if name == "random":
        options.parse(rest, [], "player 'random'")
        return Player(text, Policy(Uniform(game)))
    if name == "perfect":
        options.parse(rest, [], "player 'perfect'")
        return Player(text, solve.perfect(game))  # type: ignore[arg-type]
    if name == "greedy" and _values(game):
        return Player(text, Policy(Greedy(game, _named_value(rest, game))))
    return None


def _meant(text: str, game: Game[Any]) -> str:
    """What a player that the game has given a name stands for; options take the place of those that it has."""
    name, rest = options.split_call(text)
    if name not in _named(game):
        return text
    kind, own = options.split_call(_named(game)[name])
    chosen = {part.partition("=")[0].strip(): part for part in (*options.split(own), *options.split(rest))}
    return f"{kind}({','.join(chosen.values())})"


def _named(game: Game[Any]) -> Mapping[str, str]:
    return getattr(game, "named_players", {})


def _strategies(game: Game[Any]) -> Mapping[str, Callable[..., Array]]:
    return getattr(game, "strategies", {})


def _values(game: Game[Any]) -> Mapping[str, Callable[..., Array]]:
    return getattr(game, "values", {})


@dataclasses.dataclass(frozen=True)
class NamedValue:
    """A value that a game offers under `values`."""

    game: Game[Any]
    name: str

    def __call__(self, params: Any, state: Any, player: Array) -> Array:
        return _values(self.game)[self.name](self.game, state, player)


def _named_value(rest: str, game: Game[Any]) -> NamedValue:
    names = list(_values(game))
    name = options.parse(rest, [options.Option("value", str, names[0])], "player 'greedy'").get("value", names[0])
    if name not in names:
        raise UserError(f"unknown value {name!r} of player 'greedy'; {game.spec.name} offers {', '.join(names)}")
    return NamedValue(game, name)


class Bot:
    """A user's own class as a host player, made anew for every game.

    All that is asked of the class: `choose(game, state, rng) -> int` (see HostPlayer), and that its options,
    if any, are keyword arguments with defaults: `my_bots:Careful(depth=3)`.
    """

    def __init__(self, cls: Callable[..., Any], given: Mapping[str, Any]) -> None:
        self._cls, self._given = cls, dict(given)
        self.reset()

    @classmethod
    def load(cls, text: str) -> Bot:
        """The bot of a text like `package.module:Class(depth=3)`."""
        name, rest = options.split_call(text)
        module_name, _, class_name = name.partition(":")
        try:
            found = getattr(importlib.import_module(module_name), class_name)
        except (ImportError, AttributeError) as error:
            raise UserError(f"player {name!r} cannot be loaded: {error}; is its file on the PYTHONPATH?") from error
        if not callable(getattr(found, "choose", None)):
            raise UserError(f"player {name!r} has no method choose(game, state, rng) -> action; add one")
        takes: list[options.Option] = []
        if isinstance(found, type) and dataclasses.is_dataclass(found):
            takes = options.of_dataclass(found)
        elif inspect.isfunction(found.__init__):
            takes = options.of_function(found.__init__)
        return cls(found, options.parse(rest, takes, f"player {name!r}"))

    def reset(self) -> None:
        self._bot = self._cls(**self._given)

    def choose(self, game: Game[Any], state: Any, rng: np.random.Generator) -> int:
        return self._bot.choose(game, state, rng)
