"""The report of a check: one finding per property, and the error that names a broken one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from boardrl import registry
from boardrl.game import Game

SHOWN = 24  # entries of a long list in a message, half of them from its end; `Failure.moves` has all moves


class Failure(NamedTuple):
    """How a property failed."""

    what: str
    moves: tuple[int, ...] | None = None  # from `init` to the state; None if no state is involved
    where: str = ""  # the state as text

    def __str__(self) -> str:
        if self.moves is None:
            return self.what
        return f"{self.what}; seen after moves {list_text(self.moves)} at {self.where}"


class Finding(NamedTuple):
    """The result of checking one property of one game."""

    name: str
    promise: str
    states: int | None  # number of states compared; None for properties of the game as a whole
    failure: Failure | None = None
    checked: bool = True  # False: skipped because of an earlier failure


class Report(NamedTuple):
    """Every property of one game, in the order of the table."""

    game: str
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()  # remarks that are not failures

    @property
    def broken(self) -> list[Finding]:
        """The failed findings; later properties depend on earlier ones, so the first failure matters most."""
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
    """The name of a property: its function's name."""
    return check.__name__


def promise_of(check: Callable[..., Any]) -> str:
    """The promise of a property: the first line of its function's docstring."""
    return (check.__doc__ or name_of(check)).strip().partition("\n")[0].rstrip(".")


def game_text(game: Game[Any]) -> str:
    """The game as on the command line, or its repr if it is too broken for that."""
    try:
        text = registry.describe(game)
        return text if isinstance(text, str) else repr(game)
    except Exception:
        return repr(game)


def state_text(game: Game[Any], state: Any) -> str:
    """A state in the game's own notation if it has one, else its leaves."""
    try:
        return repr(game.to_text(jax.tree.map(jax.numpy.asarray, state)))  # type: ignore[attr-defined]
    except Exception:
        leaves = jax.tree_util.tree_leaves_with_path(state)
        shown = (f"{jax.tree_util.keystr(path) or 'state'}={array_text(leaf)}" for path, leaf in leaves)
        return ", ".join(shown)


def list_text(values: Sequence[Any]) -> str:
    """A list as text; a long list as its two ends and its length."""
    if len(values) <= SHOWN:
        return f"[{', '.join(map(str, values))}]"
    half = SHOWN // 2
    first, last = (", ".join(map(str, part)) for part in (values[:half], values[-half:]))
    return f"[{first}, … {len(values) - 2 * half:,} more …, {last}]"


def array_text(array: Any) -> str:
    """An array as text; a long array is flattened and shortened."""
    values = np.asarray(array)
    if values.size <= SHOWN:
        return str(values.tolist())
    return f"{values.dtype}{list(values.shape)} {list_text(values.ravel().tolist())}"


def entry_text(array: np.ndarray, index: Sequence[int]) -> str:
    """One entry of an array: its value and its index."""
    return f"{array[tuple(index)].item()!r} at {list(index)}"


def one_line(error: BaseException) -> str:
    """An exception's type and the first line of its message."""
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
