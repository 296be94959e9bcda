"""What a game may offer beyond the eight members of `boardrl.game.Game`: one small Protocol for each member.

The members come in four groups: scripted players, learning, search, text and pictures. A game offers a member by
having an attribute of that name; nothing is inherited or registered. Everybody else asks through the function of the
same name in this module, which gives an empty table, a default or None for a game without the member:

    for name, strategy in optional.strategies(game).items(): ...
    if (draw := optional.draw(game)) is not None: ...
"""

# Protocols are given to `offers` as types to narrow to, and never called:
# mypy: disable-error-code="type-abstract"

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeGuard, TypeVar

from jax import Array

if TYPE_CHECKING:
    import pathlib

    import rich.text

    from boardrl.drawing import Drawing
    from boardrl.game import Game, State
    from boardrl.values.linear import FeatureSet

Offer = TypeVar("Offer")
Strategy: TypeAlias = Callable[..., Array]  # f(game, state, **options) -> [A] logits
HostPlayerMaker: TypeAlias = Callable[..., Any]  # f(*, **options) -> a boardrl.play.players.HostPlayer
Valuation: TypeAlias = Callable[[Any, Any, Array], Array]  # f(game, state, player) -> [P]
Encoding: TypeAlias = Callable[[Any, Any, Array], Array]  # f(game, state, player) -> an array
ActionEncoding: TypeAlias = Callable[[Any, Any], Array]  # f(game, state) -> [A, ...]
Event: TypeAlias = Callable[[Any, Any, Any, Array], Array]  # f(game, before, after, player) -> [] float32
Cause: TypeAlias = Literal["own", "decisions"]


# Scripted players


class HasStrategies(Protocol):
    @property
    def strategies(self) -> Mapping[str, Strategy]:
        """Scripted players for the command line: each gives logits over actions, and its options have defaults."""


class HasValues(Protocol):
    @property
    def values(self) -> Mapping[str, Valuation]:
        """Values of a state as one player sees it, at chance nodes too, for the player `greedy`."""


class HasNamedPlayers(Protocol):
    @property
    def named_players(self) -> Mapping[str, str]:
        """Players under names of their own, like {"steady": "negascout(depth=3)"}."""


class HasHostPlayers(Protocol):
    @property
    def host_players(self) -> Mapping[str, HostPlayerMaker]:
        """Players that run on the host, one state at a time, such as another program; their options have defaults."""


# Learning


class HasEncodings(Protocol):
    @property
    def encodings(self) -> Mapping[str, Encoding]:
        """Other ways to observe a position than `observe`."""


class HasViewpoint(Protocol):
    def viewpoint(self, state: Any) -> Array:
        """[] int32: the seat from whose side value nets look at a position, whoever asks; else each seat from its own.

        For games in which one view is enough, such as that of who has just moved: the net has half as much to learn.
        """


class HasActionEncodings(Protocol):
    @property
    def action_encodings(self) -> Mapping[str, ActionEncoding]:
        """What each action of the player to act would do."""


class HasEvents(Protocol):
    @property
    def events(self) -> Mapping[str, Event]:
        """How often something happened to the player in one step of anybody or of the dice, for rewards."""


class HasEventCauses(Protocol):
    @property
    def event_causes(self) -> Mapping[str, Cause]:
        """Events that only the player's own decisions cause, or only decisions and never the dice."""


class HasDefaults(Protocol):
    @property
    def defaults(self) -> Mapping[str, Mapping[str, Any]]:
        """For each algorithm settings that suit this game, on top of a `preset` if they name one."""


class HasPresets(Protocol):
    @property
    def presets(self) -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
        """For each algorithm the settings of papers on this game, by name, for `--preset`."""


class HasPrinted(Protocol):
    @property
    def printed(self) -> Mapping[str, Mapping[str, float]]:
        """For each opponent the win rates that papers printed, by whose they are."""


class HasRotate(Protocol):
    def rotate(self, state: Any) -> Any:
        """The same position with seat p's role given to seat p + 1: all seats share what is learned."""


class HasAct(Protocol):
    def act(self, state: Any, move: Array) -> Any:
        """Fast path of `step` at decisions; elsewhere it may return anything."""


class HasSettle(Protocol):
    def settle(self, state: Any, move: Array) -> Any:
        """Fast path of `step` at chance nodes; elsewhere it may return anything."""


class HasLanesLast(Protocol):
    @property
    def lanes_last(self) -> bool:
        """True where batches are stepped faster with the games along the last axis of each array (measure it)."""


# Search


class HasFeatures(Protocol):
    def features(self, state: Any, player: Array) -> Array:
        """[F] float32: what a linear evaluation weighs."""


class HasFeatureNames(Protocol):
    @property
    def feature_names(self) -> tuple[str, ...]:
        """F names of the features."""


class HasFeatureWeights(Protocol):
    @property
    def feature_weights(self) -> tuple[float, ...]:
        """F weights of the features, to begin with."""


class HasFeatureSets(Protocol):
    @property
    def feature_sets(self) -> Mapping[str, FeatureSet]:
        """Other features than those."""


class HasWeightFiles(Protocol):
    @property
    def weight_files(self) -> Mapping[str, pathlib.Path]:
        """Files with weights of features that the game brings along (`boardrl.values.weight_file`)."""


class HasTriedFirst(Protocol):
    def tried_first(self, state: Any) -> Sequence[Array]:
        """Some of [A] bool: actions that searches try first, all else being equal; the first mask goes first."""


class HasSymmetric(Protocol):
    def symmetric(self, state: Any, number: Array) -> Any:
        """A mirror image with the same value; number 0 is the state itself."""


class HasNumSymmetries(Protocol):
    @property
    def num_symmetries(self) -> int:
        """How many mirror images there are, with the state itself."""


# Text and pictures


class HasToText(Protocol):
    def to_text(self, state: Any) -> str:
        """A position in the game's notation."""


class HasFromText(Protocol):
    def from_text(self, text: str) -> Any:
        """The position of a text that `to_text` wrote; UserError for a text that is none."""


class HasMoveText(Protocol):
    def move_text(self, state: Any, move: Any) -> str:
        """An action or an outcome in words, for replays and for humans to choose by."""


class HasTurnToText(Protocol):
    def turn_to_text(self, state: Any, actions: Sequence[int]) -> str:
        """A turn's actions in the game's notation; perft then counts turns."""


class HasDraw(Protocol):
    def draw(self, state: Any) -> Drawing:
        """A picture of a position."""


class HasClicks(Protocol):
    def clicks(self, state: Any, action: int) -> Sequence[str]:
        """Names of the cells and pieces of the picture to click, in this order, to choose a legal action."""


class HasRoutes(Protocol):
    def routes(self, state: Any, move: int) -> Mapping[str, Sequence[tuple[float, float]]]:
        """By name, the points of the picture that pieces pass on their way in a step, the last one included."""


class HasShow(Protocol):
    def show(self, state: Any) -> rich.text.Text:
        """A position in colour, for a terminal."""


GROUPS: Mapping[str, tuple[type, ...]] = {
    "scripted players": (HasStrategies, HasValues, HasNamedPlayers, HasHostPlayers),
    "learning": (
        HasEncodings,
        HasViewpoint,
        HasActionEncodings,
        HasEvents,
        HasEventCauses,
        HasDefaults,
        HasPresets,
        HasPrinted,
        HasRotate,
        HasAct,
        HasSettle,
        HasLanesLast,
    ),
    "search": (
        HasFeatures,
        HasFeatureNames,
        HasFeatureWeights,
        HasFeatureSets,
        HasWeightFiles,
        HasTriedFirst,
        HasSymmetric,
        HasNumSymmetries,
    ),
    "text and pictures": (HasToText, HasFromText, HasMoveText, HasTurnToText, HasDraw, HasClicks, HasRoutes, HasShow),
}


def member_of(protocol: type) -> str:
    """The name of the one member that a Protocol of this module describes."""
    (name,) = (name for name in vars(protocol) if not name.startswith("_"))
    return name


def documentation(protocol: type) -> str:
    """What the Protocol says about its member."""
    return inspect.getdoc(vars(protocol)[member_of(protocol)]) or ""


MEMBERS: Mapping[str, str] = {
    member_of(protocol): group for group, protocols in GROUPS.items() for protocol in protocols
}


def offers(game: object, protocol: type[Offer]) -> TypeGuard[Offer]:
    """Whether a game has the member of a Protocol; one that is None, as a subclass may set it, does not count."""
    return getattr(game, member_of(protocol), None) is not None


def strategies(game: Game[Any]) -> Mapping[str, Strategy]:
    return game.strategies if offers(game, HasStrategies) else {}


def values(game: Game[Any]) -> Mapping[str, Valuation]:
    return game.values if offers(game, HasValues) else {}


def named_players(game: Game[Any]) -> Mapping[str, str]:
    return game.named_players if offers(game, HasNamedPlayers) else {}


def host_players(game: Game[Any]) -> Mapping[str, HostPlayerMaker]:
    return game.host_players if offers(game, HasHostPlayers) else {}


def encodings(game: Game[Any]) -> Mapping[str, Encoding]:
    return game.encodings if offers(game, HasEncodings) else {}


def viewpoint(game: Game[State]) -> Callable[[State], Array] | None:
    return game.viewpoint if offers(game, HasViewpoint) else None


def action_encodings(game: Game[Any]) -> Mapping[str, ActionEncoding]:
    return game.action_encodings if offers(game, HasActionEncodings) else {}


def events(game: Game[Any]) -> Mapping[str, Event]:
    return game.events if offers(game, HasEvents) else {}


def event_causes(game: Game[Any]) -> Mapping[str, Cause]:
    return game.event_causes if offers(game, HasEventCauses) else {}


def defaults(game: Game[Any]) -> Mapping[str, Mapping[str, Any]]:
    return game.defaults if offers(game, HasDefaults) else {}


def presets(game: Game[Any]) -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    return game.presets if offers(game, HasPresets) else {}


def printed(game: Game[Any]) -> Mapping[str, Mapping[str, float]]:
    return game.printed if offers(game, HasPrinted) else {}


def rotate(game: Game[State]) -> Callable[[State], State] | None:
    return game.rotate if offers(game, HasRotate) else None


def act(game: Game[State]) -> Callable[[State, Array], State] | None:
    return game.act if offers(game, HasAct) else None


def settle(game: Game[State]) -> Callable[[State, Array], State] | None:
    return game.settle if offers(game, HasSettle) else None


def lanes_last(game: Game[Any]) -> bool:
    return game.lanes_last if offers(game, HasLanesLast) else False


def features(game: Game[State]) -> Callable[[State, Array], Array] | None:
    return game.features if offers(game, HasFeatures) else None


def feature_names(game: Game[Any]) -> tuple[str, ...]:
    return game.feature_names if offers(game, HasFeatureNames) else ()


def feature_weights(game: Game[Any]) -> tuple[float, ...]:
    return game.feature_weights if offers(game, HasFeatureWeights) else ()


def feature_sets(game: Game[Any]) -> Mapping[str, FeatureSet]:
    return game.feature_sets if offers(game, HasFeatureSets) else {}


def weight_files(game: Game[Any]) -> Mapping[str, pathlib.Path]:
    return game.weight_files if offers(game, HasWeightFiles) else {}


def tried_first(game: Game[State]) -> Callable[[State], Sequence[Array]] | None:
    return game.tried_first if offers(game, HasTriedFirst) else None


def symmetric(game: Game[State]) -> Callable[[State, Array], State] | None:
    return game.symmetric if offers(game, HasSymmetric) else None


def num_symmetries(game: Game[Any]) -> int:
    return game.num_symmetries if offers(game, HasNumSymmetries) else 1


def to_text(game: Game[State]) -> Callable[[State], str] | None:
    return game.to_text if offers(game, HasToText) else None


def from_text(game: Game[State]) -> Callable[[str], State] | None:
    return game.from_text if offers(game, HasFromText) else None


def move_text(game: Game[State]) -> Callable[[State, Any], str] | None:
    return game.move_text if offers(game, HasMoveText) else None


def turn_to_text(game: Game[State]) -> Callable[[State, Sequence[int]], str] | None:
    return game.turn_to_text if offers(game, HasTurnToText) else None


def draw(game: Game[State]) -> Callable[[State], Drawing] | None:
    return game.draw if offers(game, HasDraw) else None


def clicks(game: Game[State]) -> Callable[[State, int], Sequence[str]] | None:
    return game.clicks if offers(game, HasClicks) else None


def routes(game: Game[State]) -> Callable[[State, int], Mapping[str, Sequence[tuple[float, float]]]] | None:
    return game.routes if offers(game, HasRoutes) else None


def show(game: Game[State]) -> Callable[[State], rich.text.Text] | None:
    return game.show if offers(game, HasShow) else None
