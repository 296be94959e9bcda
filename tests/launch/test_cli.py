"""Flags, help, and one sentence with exit code 2 for a mistake."""

import dataclasses
import errno

import pytest

from boardrl.config import setting
from boardrl.errors import UserError
from launch import cli


@dataclasses.dataclass(frozen=True)
class Settings:
    depth: int = setting(3, "how deep to look")
    loud: bool = setting(False, "whether to shout")


@dataclasses.dataclass(frozen=True)
class Further:
    width: int = setting(1, "how wide")


def run(capsys, *arguments, main=print, **more):
    with pytest.raises(SystemExit) as stop:
        cli.run(main, Settings, argv=["program", *arguments], **more)
    out, err = capsys.readouterr()
    return stop.value.code, out, err


def test_main_gets_its_settings(capsys):
    assert run(capsys, "--depth=4", "--loud") == (0, "Settings(depth=4, loud=True)\n", "")


@dataclasses.dataclass(frozen=True)
class Seeded:
    seed: int = setting(0, "of everything")


@pytest.mark.parametrize("seed", [-1, 2**32, 10**20])
def test_a_seed_that_no_generator_takes_is_refused_in_every_command(capsys, seed):
    with pytest.raises(SystemExit):
        cli.run(print, Seeded, argv=["program", f"--seed={seed}"])
    assert capsys.readouterr() == ("", f"error: --seed={seed} is out of range: expected 0 to 4294967295\n")


def test_later_settings_may_depend_on_earlier_ones(capsys):
    more = lambda settings: cli.More([cli.Section("further", Further, {"width": 10 * settings.depth})])  # noqa: E731
    assert run(capsys, "--depth=4", more=more)[1] == "Settings(depth=4, loud=False) Further(width=40)\n"
    assert run(capsys, "--width=2", more=more)[1] == "Settings(depth=3, loud=False) Further(width=2)\n"
    assert "--width=40" in run(capsys, "--depth=4", "--help", more=more)[1]


def test_own_defaults_may_follow_from_own_flags(capsys):
    """As the stored game does from --resume; what the user typed stays."""
    more = lambda settings: cli.More([], {"depth": 7} if settings.loud else {})  # noqa: E731
    assert run(capsys, "--loud", more=more)[1] == "Settings(depth=7, loud=True)\n"
    assert run(capsys, "--loud", "--depth=2", more=more)[1] == "Settings(depth=2, loud=True)\n"
    assert run(capsys, more=more)[1] == "Settings(depth=3, loud=False)\n"
    assert "--depth=7" in run(capsys, "--loud", "--help", more=more)[1]


def test_help_shows_every_flag_with_its_default(capsys):
    code, out, _ = run(capsys, "--help")
    assert code == 0
    assert "--depth=3\n        how deep to look (an integer)" in out


@pytest.mark.parametrize(
    ("argument", "sentence"),
    [
        ("--depth=x", "flag --depth=x: expected an integer; see --help"),
        ("--loud=maybe", "flag --loud=maybe: expected true or false; see --help"),
        ("--dept=3", "unknown flag --dept (did you mean --depth?); see --help for all flags"),
        ("deep", "unexpected argument 'deep': expected only flags like --name=value; see --help"),
    ],
)
def test_mistakes_are_one_sentence(capsys, argument, sentence):
    assert run(capsys, argument) == (2, "", f"error: {sentence}\n")


def test_errors_of_the_user_have_no_traceback_and_bugs_do(capsys):
    def mistaken(_):
        raise UserError("bad\nvalue")

    assert run(capsys, main=mistaken) == (2, "", "error: bad value\n")

    def broken(_):
        raise ValueError("a bug")

    with pytest.raises(ValueError, match="a bug"):
        cli.run(broken, Settings, argv=["program"])


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError("Unable to allocate 7.28 TiB"), "out of memory (Unable to allocate 7.28 TiB), "),
        (RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 9 bytes.\nmore"), "out of memory (RESOURCE_EXHAU"),
        (OSError(errno.ENOSPC, "No space left on device", "/x/y"), "/x/y cannot be written: No space left on device; "),
    ],
)
def test_too_little_memory_or_disk_is_one_sentence(capsys, error, words):
    def greedy(_):
        raise error

    code, out, err = run(capsys, main=greedy)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"error: {words}")


def test_other_errors_of_the_system_are_bugs():
    def broken(_):
        raise FileNotFoundError(errno.ENOENT, "No such file", "/x/y")

    with pytest.raises(FileNotFoundError):
        cli.run(broken, Settings, argv=["program"])


def test_ctrl_c_has_its_exit_code(capsys):
    def interrupted(_):
        raise KeyboardInterrupt

    assert run(capsys, main=interrupted) == (130, "", "interrupted\n")
