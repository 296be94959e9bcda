"""What every command does before its own work: flags, help, compile caches, one sentence for a mistake."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import gc
import importlib.util
import inspect
import os
import pathlib
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from absl import flags

import boardrl
from boardrl import config, options, trust, workers
from boardrl.config import setting
from boardrl.errors import UserError, did_you_mean
from boardrl.system import interrupt, machine, output_pipe

PACKAGES = ("games", "search", "algorithms", "launch")  # that are installed together with boardrl


class Section(NamedTuple):
    """Settings with a title of their own in the help."""

    title: str
    config: type
    defaults: Mapping[str, Any] = {}


@dataclasses.dataclass(frozen=True)
class Common:
    """Flags of every command."""

    trust: bool = setting(False, "import code that run directories name as module:Name, and read their old formats")


class More(NamedTuple):
    """What follows from a command's own flags, as an algorithm's settings do from `--algo`."""

    sections: Sequence[Section]
    defaults: Mapping[str, Any] = {}  # in place of those of the command's own flags


def run(
    main: Callable[..., None],
    settings: type,
    *,
    more: Callable[[Any], More] | None = None,
    argv: Sequence[str] | None = None,
) -> NoReturn:
    """Calls `main(settings)`, with the settings of every section of `more` as further arguments, and exits.

    Exit codes: 0 done, 2 the user's mistake or too little memory or disk for it (one sentence on stderr), 130 Ctrl-C,
    143 SIGTERM, anything else a bug. Either signal ends the process within two seconds, whatever is under way; not so
    where `argv` is given, as the process is somebody else's then.
    """
    arguments = list(sys.argv if argv is None else argv)
    code: Any = 0
    with contextlib.nullcontext() if argv is not None else interrupt.Command() as command:
        try:
            with output_pipe.may_close():
                code = _call(main, settings, more, arguments)
        except SystemExit as stop:
            code = stop.code
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
            code = interrupt.EXIT_CODE
        if code == interrupt.EXIT_CODE and command is not None and command.number:
            sys.stdout.flush()
            interrupt.leave(interrupt.exit_code(command.number))
    sys.exit(code)


def _call(
    main: Callable[..., None],
    settings: type,
    more: Callable[[Any], More] | None,
    arguments: Sequence[str],
) -> int:
    """Calls `main` with what the arguments say; the exit code."""
    wants_help = any(a in ("--help", "-help", "-h", "--helpfull") for a in arguments)
    arguments = [a for a in arguments if a not in ("--help", "-help", "-h", "--helpfull")]
    try:
        check_packages()
        sections = [Section("flags", settings)]
        values = flags.FlagValues()
        config.define(settings, values)
        config.define(Common, values)
        if more is not None:
            values(arguments, known_only=True)
            further = more(config.from_flags(settings, values))
            values.unparse_flags()
            sections = [Section("flags", settings, further.defaults), *further.sections]
            for name, default in further.defaults.items():
                values.set_default(name, default)
            for section in further.sections:
                config.define(section.config, values, section.defaults)
        if wants_help:
            print(_help(main, [*sections, Section("flags of every command", Common)]))
            return 0
        _, *rest = values(arguments)
        if rest:
            raise UserError(f"unexpected argument {rest[0]!r}: expected only flags like --name=value; see --help")
        chosen: list[Any] = [config.from_flags(section.config, values) for section in sections]
        _check_seed(chosen)
        _use_compile_cache()
        if not gc.isenabled():  # since `launch` was imported
            gc.freeze()  # modules stay until the end, when Python would look through them three times more
            gc.enable()
        from launch.console import compile_note  # imports Numba, which no help needs

        with trust.granted(config.from_flags(Common, values).trust), _workers(chosen), compile_note.shown():
            main(*chosen)
    except flags.UnrecognizedFlagError as error:
        hint = did_you_mean(error.flagname, values, prefix="--")
        return _fail(f"unknown flag --{error.flagname}{hint}; see --help for all flags")
    except flags.Error as error:
        return _fail(f"{error}; see --help")
    except UserError as error:
        return _fail(str(error))
    except BrokenPipeError:  # see `output_pipe`
        raise
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        return _fail(f"{error.filename or 'a file'} cannot be written: {error.strerror}; make room and try again")
    except (MemoryError, RuntimeError) as error:
        if not isinstance(error, MemoryError) and "RESOURCE_EXHAUSTED" not in str(error):  # as XLA says it
            raise
        free = machine.text(machine.free_memory())
        return _fail(f"out of memory ({str(error).partition(chr(10))[0]}), {free} are free; choose smaller sizes")
    return 0


def check_packages() -> None:
    """Refuses to work with a package `games`, `search`, … that is somebody else's: their names are common ones."""
    home = pathlib.Path(boardrl.__file__).resolve().parents[1]
    for name in PACKAGES:
        found = sys.modules[name].__spec__ if name in sys.modules else importlib.util.find_spec(name)
        if found is None:
            raise UserError(f"boardrl's package {name!r} is missing beside {str(home / 'boardrl')!r}; install it again")
        folders = list(found.submodule_search_locations or [])
        if folders and all(pathlib.Path(folder).resolve() == home / name for folder in folders):
            continue
        place = folders[0] if folders else found.origin
        raise UserError(
            f"Python finds {name!r} in {str(place)!r}, but boardrl's own is in {str(home / name)!r}; "
            "run the command from another folder, or take that one off PYTHONPATH"
        )


def _check_seed(chosen: Sequence[Any]) -> None:
    """Refuses a seed that some generator of random numbers would not take."""
    for seed in (part.seed for part in chosen if hasattr(part, "seed")):
        if not 0 <= seed < 2**32:
            raise UserError(f"--seed={seed} is out of range: expected 0 to {2**32 - 1}")


def _workers(chosen: Sequence[Any]) -> contextlib.AbstractContextManager[Any]:
    """Within the block the workers that were asked for are in use, in commands that have them.

    A training within a command, as in launch.reproduce, uses those of the command.
    """
    for part in chosen:
        if hasattr(part, "workers") and not workers.in_use():
            return workers.opened(part.workers, game=getattr(part, "game", ""))
    return contextlib.nullcontext()


def _fail(sentence: str) -> int:
    """Prints an error; the exit code for it."""
    plain = "".join(char if char.isprintable() else repr(char)[1:-1] for char in " ".join(sentence.split()))
    print(f"error: {plain}", file=sys.stderr)  # no control characters, as what a file holds may be in it
    return 2


def _help(main: Callable[..., None], sections: Sequence[Section]) -> str:
    module = inspect.getmodule(main)
    lines = [inspect.getdoc(module) or "", ""]
    for section in sections:
        lines.append(f"{section.title}:")
        for option in options.of_dataclass(section.config):
            default = section.defaults.get(option.name, option.default)
            shown = options.format_options({"": default})[1:] or "''"
            lines.append(f"  --{option.name}={shown}")
            lines.append(f"        {option.help} ({options.type_name(option.type)})")
        lines.append("")
    return "\n".join(lines).rstrip()


def _use_compile_cache() -> None:
    """Compiled JAX programs are kept between processes; a second start is much faster."""
    import jax

    folder = pathlib.Path(os.environ.get("BOARDRL_CACHE", pathlib.Path.home() / ".cache" / "boardrl"))
    jax.config.update("jax_compilation_cache_dir", str(folder / "jax"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
