"""The user's commands: `python -m launch.train` and others, each with `--help`."""

import gc
import os
import sys
from typing import Any


def _end(kind: type[BaseException], error: BaseException, trace: Any) -> None:
    """Ends a command that Ctrl-C interrupts while it is imported; see `boardrl.system.interrupt` for the rest."""
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)
        return
    print("interrupted", file=sys.stderr, flush=True)
    os._exit(130)


if sys.argv[0] == "-m":  # so it is until the command itself is found
    sys.excepthook = _end
    # What is imported stays: to look through it for garbage, again and again, took a fifth of the start of a command.
    # `launch.cli.run` turns the collection on again.
    gc.disable()
