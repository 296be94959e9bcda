"""Exceptions that are part of the interface: the user's mistakes, and learners that are at their end."""


class UserError(ValueError):
    """A mistake in what the user gave: one sentence with the value, what was expected and what to do.

    Commands print the sentence alone and exit with 2; any other exception is a bug and keeps its traceback.
    """


class Exhausted(Exception):
    """Raised by a learner's `update` that can learn no more: training ends with the state before, and is evaluated.

    Its text is one sentence that says why and what to do.
    """
