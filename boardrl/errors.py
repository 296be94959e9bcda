"""The one exception that means "the user can mend this"."""


class UserError(ValueError):
    """A mistake in what the user gave: one sentence with the value, what was expected and what to do.

    Commands print the sentence alone and exit with 2; any other exception is a bug and keeps its traceback.
    """
