"""Players by name: `random`, `hold(total=15)`, `perfect`, `negascout(depth=2)`, a run, a user's own code.

Kinds of players that this package cannot know, those of searches and of runs, come from packages that register a table
of makers in the entry point group `boardrl.players`: ours do, and others may.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import pathlib
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from jax import Array

from boardrl import entry_points, optional, options, registry
from boardrl.errors import UserError, did_you_mean
from boardrl.exact import solve
from boardrl.game import Game, State
from boardrl.play import bots
from boardrl.play.bots import Bot
from boardrl.play.policy import Greedy, Policy, Strategy, Uniform

GROUP = "boardrl.players"  # entry point group in which packages, this one too, register tables of makers
BOT = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*(\(.*\))?")


class HostPlayer(Protocol):
    """A player that runs on the host, one state at a time, as search does."""

    def reset(self) -> None:
        """Forgets everything: called before each game, so that no game depends on those before it."""

    def choose(self, game: Game[State], state: State, rng: np.random.Generator) -> int:
        """A legal action in one unbatched state with numpy leaves; all randomness comes from `rng`."""


@dataclasses.dataclass(frozen=True, eq=False)
class Player:
    """Somebody who can sit at the table: either a policy, played in batches on device, or a host player.

    `text` says how another process makes the same player, as nothing is ever pickled; without a text the player
    lives in this process alone.
    """

    name: str
    policy: Policy | None = None
    host: HostPlayer | None = None
    text: str = ""
    trained_on: str = ""  # the game whose rules it was trained by, where it plays by others

    def __post_init__(self) -> None:
        if (self.policy is None) == (self.host is None):
            raise ValueError(f"player {self.name!r} needs a policy or a host player, one of the two")


# A maker is given a player's whole text, and decides whether it is one of its own (None: it is not). It may give the
# player a more exact text, such as the one checkpoint that it has loaded from a run under way.
Maker = Callable[[str, Game[Any]], Player | None]
Makers = Mapping[str, Maker]  # by how the kind is written in lists of known players
Playable = Player | str | Callable[..., Any]  # what `make` takes: a text, a class or a function of the user's own


class Kinds(NamedTuple):
    """What the entry points of GROUP give."""

    makers: Makers
    broken: tuple[str, ...] = ()  # a sentence for each table that could not be loaded


@functools.cache
def kinds() -> Kinds:
    """All kinds of players that the installed packages register."""
    makers: dict[str, Maker] = {}
    owners: dict[str, str] = {}
    broken = []
    for value, point in sorted({point.value: point for point in entry_points.of(GROUP)}.items()):
        try:
            table = entry_points.load(point)
        except entry_points.Unloadable as error:
            broken.append(f"players of {value!r} cannot be loaded: {error}")
            continue
        if not isinstance(table, Mapping):
            broken.append(f"players of {value!r} cannot be loaded: expected a mapping of makers, not {table!r:.80}")
            continue
        for kind, maker in table.items():
            if kind in owners:
                both = f"{owners[kind]!r} and {value!r}"
                raise UserError(f"player {kind!r} is registered by {both}; uninstall one of them")
            makers[kind], owners[kind] = maker, value
    return Kinds(makers, tuple(broken))


def make(player: Playable, game: Game[Any]) -> Player:
    """The player of a text, or of a class or function of one's own, for one game; a Player is returned as it is.

    What the game itself offers comes before the kinds that packages register.
    """
    if isinstance(player, Player):
        return player
    if not isinstance(player, str):
        return _own_code(player)
    text = player.strip()
    if (meant := _meant(text, game)) != text:
        return dataclasses.replace(make(meant, game), name=text, text=text)
    found = _own(text, game)
    if found is None:
        found = next((made for maker in _in_order(kinds().makers) if (made := maker(text, game))), None)
    if found is None and BOT.fullmatch(text):
        found = Player(text, host=Bot.load(text))
    if found is None:
        hint = did_you_mean(options.split_call(text)[0], known(game))
        raise UserError(
            f"unknown player {text!r}{hint}; {game.spec.name} knows {', '.join(known(game))} "
            f"and package.module:name{''.join('; ' + sentence for sentence in kinds().broken)}"
        )
    return dataclasses.replace(found, text=found.text or text)


def _in_order(makers: Makers) -> list[Maker]:
    """Names before paths: a folder that is called like a searcher is written `./negascout`."""
    return [makers[kind] for kind in sorted(makers, key=lambda kind: "/" in kind)]


def make_lineup(text: str, game: Game[Any]) -> list[Player]:
    """The players of a text like `random,hold(total=15)`."""
    return make_all(options.split(text), game)


def make_all(players: Sequence[Playable], game: Game[Any]) -> list[Player]:
    """The players of texts, classes and functions; Players stay as they are."""
    return [make(player, game) for player in players]


def remake(player: Player, game: Game[Any]) -> Player:
    """The same player anew, from its text."""
    return make(player.text, game)


def known(game: Game[Any]) -> list[str]:
    """How the players of a game are written."""
    greedy = ["greedy"] if optional.values(game) else []
    own = [*optional.strategies(game), *optional.host_players(game), *optional.named_players(game)]
    return list(dict.fromkeys(["random", "perfect", *greedy, *own, *kinds().makers]))


def _own_code(made: Any) -> Player:
    """A class or a function of the user's own, or an object that plays as HostPlayer says."""
    name = getattr(made, "__name__", type(made).__name__)
    if hasattr(made, "choose") and not isinstance(made, type):
        if not hasattr(made, "reset"):
            raise UserError(f"player {name!r} is an object without reset(); give its class")
        return Player(name, host=made)
    bots.takes(made, name)
    return Player(name, host=Bot(made), text=bots.address(made))


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

    @property
    def transfer(self) -> Callable[[Game[Any]], tuple[Policy, HostPlayer | None]] | None: ...  # to other rules


class Fitted(NamedTuple):
    """What was learned, for a game by whose rules it may not have been learned."""

    policy: Policy
    host: HostPlayer | None
    trained_on: str  # as a Player has it


def fit(found: Learned, game: Game[Any], what: str) -> Fitted:
    """What was learned, for this game, if it fits; `what` is how the user wrote it."""
    if found.game == game:
        return Fitted(found.policy, found.host, "")
    texts = [registry.describe(one) for one in (found.game, game)]
    refused = f"{what} learned {texts[0]}, not {texts[1]}"
    if found.transfer is None:
        raise UserError(f"{refused}; choose that game or another player")
    try:
        return Fitted(*found.transfer(game), texts[0])
    except UserError as error:
        raise UserError(f"{refused}, and cannot play it: {error}; choose that game or another player") from None


def learned(text: str, game: Game[Any], *, load: Callable[[pathlib.Path], Learned]) -> Player | None:
    """A maker of players from run directories and their checkpoints: texts that are existing paths."""
    if not text or not os.path.exists(text):
        return None
    found = load(pathlib.Path(text))
    policy, host, trained_on = fit(found, game, f"player {text!r}")
    # The very checkpoint, as a run under way has a newer one soon.
    return Player(text, None if host else policy, host, text=str(found.path), trained_on=trained_on)


def _own(text: str, game: Game[Any]) -> Player | None:
    """The players that this game offers, of which one may be its own idea of `random`, and those of every game."""
    name, rest = call_parts(text)
    if name in optional.strategies(game):
        strategy = optional.strategies(game)[name]
        given = options.parse(rest, options.of_function(strategy), f"player {name!r}")
        return Player(text, Policy(Strategy(game, name, tuple(sorted(given.items())))))
    if name in optional.host_players(game):
        make_host = optional.host_players(game)[name]
        return Player(text, host=make_host(**options.parse(rest, options.of_function(make_host), f"player {name!r}")))
    if name == "random":
        options.parse(rest, [], "player 'random'")
        return Player(text, Policy(Uniform(game)))
    if name == "perfect":
        options.parse(rest, [], "player 'perfect'")
        return Player(text, solve.perfect(game))  # type: ignore[arg-type]
    if name == "greedy" and optional.values(game):
        return Player(text, Policy(Greedy(game, _named_value(rest, game))))
    return None


def call_parts(text: str) -> tuple[str, str]:
    """The name and the options of a player; a path that exists may have a parenthesis that is not closed."""
    try:
        return options.split_call(text)
    except UserError:
        if os.path.exists(text):
            return text, ""
        raise


def _meant(text: str, game: Game[Any]) -> str:
    """What a player that the game has given a name stands for; options take the place of those that it has."""
    name, rest = call_parts(text)
    if name not in optional.named_players(game):
        return text
    kind, own = options.split_call(optional.named_players(game)[name])
    chosen = {part.partition("=")[0].strip(): part for part in (*options.split(own), *options.split(rest))}
    return f"{kind}({','.join(chosen.values())})"


@dataclasses.dataclass(frozen=True)
class NamedValue:
    """A value that a game offers under `values`."""

    game: Game[Any]
    name: str

    def __call__(self, params: Any, state: Any, player: Array) -> Array:
        return optional.values(self.game)[self.name](self.game, state, player)


def _named_value(rest: str, game: Game[Any]) -> NamedValue:
    names = list(optional.values(game))
    name = options.parse(rest, [options.Option("value", str, names[0])], "player 'greedy'").get("value", names[0])
    if name not in names:
        raise UserError(f"unknown value {name!r} of player 'greedy'; {game.spec.name} offers {', '.join(names)}")
    return NamedValue(game, name)
