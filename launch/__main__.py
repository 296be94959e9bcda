"""The console command `boardrl`: every user's command of `launch` as a subcommand.

boardrl train --game=ludo --algo=td_lambda      is   python -m launch.train --game=ludo --algo=td_lambda
boardrl solve --help                            is   python -m launch.solve --help
"""

from __future__ import annotations

import ast
import gc
import importlib.util
import os
import pathlib
import runpy
import sys
from collections.abc import Sequence
from typing import NoReturn

from boardrl.errors import did_you_mean
from boardrl.system import output_pipe

# In the order in which a newcomer meets them.
COMMANDS = (
    "train",
    "sweep",
    "evaluate",
    "tournament",
    "play",
    "serve",
    "analyse",
    "review",
    "solve",
    "perft",
    "check",
    "export",
    "reproduce",
    "bench",
)
HELP = ("help", "--help", "-help", "-h", "--helpfull")


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Runs a subcommand as `python -m launch.<name>` would, and exits; without one, lists them all."""
    _, *arguments = sys.argv if argv is None else argv
    if not arguments or arguments[0] in HELP:
        with output_pipe.may_close():
            print(overview())
        sys.exit(0 if arguments else 2)
    name, *rest = arguments
    if name not in COMMANDS:
        hint = did_you_mean(name, COMMANDS)
        print(f"error: unknown command {name!r}{hint}; expected one of {', '.join(COMMANDS)}", file=sys.stderr)
        sys.exit(2)
    sys.argv = [f"boardrl {name}", *rest]
    gc.disable()  # while it is imported, as in `launch`
    try:
        runpy.run_module(f"launch.{name}", run_name="__main__", alter_sys=True)
    except KeyboardInterrupt:  # while it was imported: what comes later is `cli.run`'s
        print("interrupted", file=sys.stderr, flush=True)
        os._exit(130)
    finally:
        gc.enable()  # `launch.cli` did, unless it was not reached
    sys.exit(0)


def overview() -> str:
    """All subcommands, each with the first line of its help."""
    width = max(map(len, COMMANDS)) + 2
    lines = [f"  {name:{width}}{summary(name)}" for name in COMMANDS]
    return "\n".join(
        ["usage: boardrl COMMAND --flag=value …", "", *lines, "", "boardrl COMMAND --help lists its flags."]
    )


def summary(name: str) -> str:
    """The first line of a command's docstring, read without importing it."""
    spec = importlib.util.find_spec(f"launch.{name}")
    assert spec is not None
    assert spec.origin is not None
    path = pathlib.Path(spec.origin)
    if path.name == "__init__.py":
        path = path.with_name("__main__.py")
    return (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").partition("\n")[0]


if __name__ == "__main__":
    main()
