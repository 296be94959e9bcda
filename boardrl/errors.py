"""Exceptions that are part of the interface: the user's mistakes, and learners that can learn no more."""

import difflib
from collections.abc import Iterable


class UserError(ValueError):
    """A mistake in what the user gave: one sentence with the value, what was expected and what to do.

    Commands print the sentence alone and exit with 2; any other exception is a bug and keeps its traceback.
    """


class Exhausted(Exception):
    """Raised by a learner's `update` that can learn no more: training ends with the state before, and is evaluated.

    Its text is one sentence that says why and what to do.
    """


def closest(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """The known name that a mistyped one is most like, if any is at least that similar."""
    return next(iter(difflib.get_close_matches(name, list(known), 1, cutoff)), None)


def did_you_mean(name: str, known: Iterable[str], *, prefix: str = "") -> str:
    """` (did you mean 'x'?)` for the known name closest to a mistyped one, or nothing; with a prefix, unquoted."""
    near = closest(name, known)
    return "" if near is None else f" (did you mean {prefix + near if prefix else repr(near)}?)"
