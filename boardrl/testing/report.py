"""What a check found: one finding a property, and the error that names a broken one."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from boardrl import optional, registry
from boardrl.game import Game, State

SHOWN = 24  # entries of a list in a message, half of them from its end; `Failure.moves` has all moves


class Failure(NamedTuple):
    """How a property was seen to be broken."""

    what: str
    moves: tuple[int, ...] | None = None  # from `init` to the state; None where no state is concerned
    where: str = ""  # the state in words

    def __str__(self) -> str:
        if self.moves is None:
            return self.what
        return f"{self.what}; seen after moves {list_text(self.moves)} at {self.where}"


class Finding(NamedTuple):
    """One property of one game."""

    name: str
    promise: str
    states: int | None  # how many states were compared; None for what concerns the game as a whole
    failure: Failure | None = None
    checked: bool = True  # False: an earlier failure left nothing to look at


class Report(NamedTuple):
    """Every property of one game, in the order of the table."""

    game: str
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()  # what breaks no promise, but had better be known

    @property
    def broken(self) -> list[Finding]:
        """Those that failed; the table begins with what the rest depends on, so that the first is most telling."""
        return [finding for finding in self.findings if finding.failure is not None]


class ConformanceError(AssertionError):
    """A game breaks a promise of the protocol."""

    def __init__(self, report: Report) -> None:
        first, *others = report.broken
        assert first.failure is not None
        self.property = first.name
        self.failure = first.failure
        self.report = report
        also = f" Also broken: {', '.join(finding.name for finding in others)}." if others else ""
        super().__init__(f"{report.game} breaks {first.name} ({first.promise}): {first.failure}.{also}")


class Broken(Exception):
    """Raised by a property that does not hold."""

    def __init__(self, what: str, moves: list[int] | None = None, where: str = "") -> None:
        super().__init__(what)
        self.failure = Failure(what, None if moves is None else tuple(moves), where)


def name_of(check: Callable[..., Any]) -> str:
    """A property is called as its function is."""
    return check.__name__


def promise_of(check: Callable[..., Any]) -> str:
    """What a property promises is the first line of its function's docstring."""
    return (check.__doc__ or name_of(check)).strip().partition("\n")[0].rstrip(".")


def game_text(game: Game[Any]) -> str:
    """The game as on the command line, or as Python shows it if it is too broken for that."""
    try:
        text = registry.describe(game)
        return text if isinstance(text, str) else repr(game)
    except Exception:
        return repr(game)


def state_text(game: Game[State], state: State) -> str:
    """A state in the game's own text if it has one, else its leaves."""
    if (to_text := optional.to_text(game)) is not None:
        with contextlib.suppress(Exception):  # of a game that is broken
            return repr(to_text(jax.tree.map(jax.numpy.asarray, state)))
    leaves = jax.tree_util.tree_leaves_with_path(state)
    shown = (f"{jax.tree_util.keystr(path) or 'state'}={array_text(leaf)}" for path, leaf in leaves)
    return ", ".join(shown)


def list_text(values: Sequence[Any]) -> str:
    """A list in words, of a long one its ends and how many there are."""
    if len(values) <= SHOWN:
        return f"[{', '.join(map(str, values))}]"
    half = SHOWN // 2
    first, last = (", ".join(map(str, part)) for part in (values[:half], values[-half:]))
    return f"[{first}, … {len(values) - 2 * half:,} more …, {last}]"


def array_text(array: Any) -> str:
    """An array in words, a long one flattened and cut."""
    values = np.asarray(array)
    if values.size <= SHOWN:
        return str(values.tolist())
    return f"{values.dtype}{list(values.shape)} {list_text(values.ravel().tolist())}"


def entry_text(array: np.ndarray, index: Sequence[int]) -> str:
    """One entry of an array: its value and its place."""
    return f"{array[tuple(index)].item()!r} at {list(index)}"


def one_line(error: BaseException) -> str:
    """An exception's type and the first line of what it says."""
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
