"""Games by name, and the sentences for names and options that are wrong."""

import re
from importlib import metadata

import pytest

from boardrl import entry_points, registry
from boardrl.errors import UserError
from games.pig import Pig
from games.tic_tac_toe import TicTacToe


@pytest.mark.parametrize(
    ("text", "game"),
    [
        ("tic_tac_toe", TicTacToe()),
        ("pig", Pig(players=2, target=100)),
        ("pig:players=3,target=30", Pig(players=3, target=30)),
        (" pig : target = 30 ", Pig(target=30)),
        ("pig:", Pig()),
    ],
)
def test_make(text, game):
    assert registry.make(text) == game
    assert registry.make(registry.describe(game)) == game


def test_describe_names_what_is_not_the_default():
    assert registry.describe(Pig(players=3)) == "pig:players=3"
    assert registry.describe(Pig()) == "pig"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("pigs", r"unknown game 'pigs' \(did you mean 'pig'\?\); known games: .*pig, .*tic_tac_toe"),
        ("", "unknown game ''; known games: "),
        (
            "pig:goal=30",
            r"unknown option 'goal' .*players \(an integer, default 2\), target \(an integer, default 100\)",
        ),
        ("pig:targt=30", "did you mean 'target'"),
        ("pig:target=many", "bad value target='many' .*expected an integer; .*players"),
        ("pig:target", "bad option 'target' .*expected key=value"),
        ("pig:target=1,target=2", "given twice"),
        ("pig:target=1,,players=2", "empty part"),
        ("pig:players=5", "players=5 does not fit pig: expected 2 to 4"),
        ("pig:target=0", "target=0 does not fit pig"),
        ("tic_tac_toe:size=4", "game 'tic_tac_toe' takes no options"),
    ],
)
def test_mistakes_are_named(text, words):
    with pytest.raises(UserError, match=words):
        registry.make(text)


def register(monkeypatch, value):
    """A game of this name whose package says that it is found there."""
    point = metadata.EntryPoint("planted", value, registry.GAMES.name)
    monkeypatch.setattr(entry_points, "of", lambda group: [point])


def test_a_folder_that_python_takes_for_the_module_is_named(monkeypatch, tmp_path):
    """As the folder `my_nim` is, from above, when `my_nim/my_nim.py` is installed with pip install -e."""
    register(monkeypatch, "my_shadowed_game.rules:Game")
    (tmp_path / "my_shadowed_game").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    folder = re.escape(str(tmp_path / "my_shadowed_game"))
    with pytest.raises(UserError, match=rf"Python imports the folder '{folder}' instead, which is in the current fol"):
        registry.make("planted")
    monkeypatch.chdir("/")
    with pytest.raises(UserError, match=r"which is in a folder on Python's path .*; run the command from another"):
        registry.make("planted")


def test_a_package_that_is_broken_is_not_a_folder(monkeypatch):
    register(monkeypatch, "games.pig:Pork")
    with pytest.raises(UserError, match=r"module 'games.pig' has no attribute 'Pork'; fix its entry point, or reinsta"):
        registry.make("planted")


# --- packages that are broken -----------------------------------------------------------------------------------------

GOOD = """
import dataclasses
from games.pig import Pig

@dataclasses.dataclass(frozen=True)
class Game(Pig):
    pass
"""
PACKAGES = {
    "raising": "raise KeyError('of the package')",
    "exiting": "import sys; sys.exit(0)",
    "syntax": "def broken(:",
    "missing": "import no_such_module_anywhere",
    "strange": "class Odd(BaseException): pass\nraise Odd('neither an Exception nor an exit')",
    "printing": "import os; print('hello'); os.system('echo from a child'); os.write(1, b'from below\\n')" + GOOD,
    "unhinted": GOOD.replace("    pass", "    size: 'NoSuchType' = 3"),
    "stillborn": GOOD.replace("    pass", "    def __post_init__(self): 1 / 0"),
    "good": GOOD,
}
SENTENCES = {
    "raising": r"game 'raising' cannot be loaded from 'raising_game:Game': KeyError: 'of the package' \(.*, line 1\);",
    "exiting": r"game 'exiting' cannot be loaded from .*: it ends the program while it is imported \(.*, line 1\); fix",
    "syntax": r"game 'syntax' cannot be loaded from .*: SyntaxError: .*syntax_game.py, line 1\).*; fix its entry point",
    "missing": r"game 'missing' cannot be loaded from .*: No module named 'no_such_module_anywhere' \(.*, line 1\);",
    "strange": r"game 'strange' cannot be loaded from .*: Odd: neither an Exception nor an exit \(.*, line 2\);",
    "malformed": r"game 'malformed' cannot be loaded from 'not a place!': expected package.module:name; fix its",
    "unhinted": r"game 'unhinted' cannot be made: NameError: name 'NoSuchType' is not defined.*; fix its class",
    "stillborn": r"game 'stillborn' cannot be made: ZeroDivisionError: division by zero \(.*, line 7\); fix its class",
}


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """A folder on Python's path with installed packages, most of them broken."""
    for name, code in PACKAGES.items():
        (tmp_path / f"{name}_game.py").write_text(code)
    points = [f"{name} = {name}_game:Game" for name in PACKAGES] + ["malformed = not a place!"]
    install(tmp_path, "strangers", "[boardrl.games]\n" + "\n".join(points))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(entry_points, "_reported", set())
    monkeypatch.setattr(metadata, "entry_points", metadata.entry_points)  # is put back afterwards
    return tmp_path


def install(folder, name, points):
    place = folder / f"{name}-1.0.dist-info"
    place.mkdir()
    (place / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (place / "entry_points.txt").write_bytes(points if isinstance(points, bytes) else points.encode())


@pytest.mark.parametrize("name", SENTENCES)
def test_a_broken_package_costs_its_own_games_only(packages, name, capfd):
    with pytest.raises(UserError, match=SENTENCES[name]):
        registry.make(name)
    assert {*PACKAGES, "malformed", "pig"} <= set(registry.names())
    assert registry.make("good:target=30").target == 30
    assert registry.make("pig") == Pig()
    assert capfd.readouterr() == ("", "")


def test_what_a_package_prints_does_not_reach_standard_output(packages, capfd):
    assert registry.make("printing").target == 100
    out, err = capfd.readouterr()
    assert out == ""
    assert re.fullmatch(
        r"warning: 'printing_game:Game' prints while it is imported; the output is suppressed: '.+'\n", err
    )
    print("standard output is back")
    assert capfd.readouterr().out == "standard output is back\n"


@pytest.mark.parametrize(
    "points",
    [b"\xff\xfe\x00 not a text", b"[boardrl.games]\nno equals sign\n", b"[boardrl.games\n= = =\n[[[\n"],
    ids=["no text", "no equals sign", "brackets"],
)
def test_a_package_with_a_garbled_list_costs_itself_only(packages, points, capfd):
    install(packages, "garbled", points)
    for _ in range(2):
        assert registry.make("good") is not None
        assert {"good", "pig", "tic_tac_toe"} <= set(registry.names())
        assert metadata.entry_points(group="boardrl.games")["pig"].value == "games.pig:Pig"  # as JAX asks for its own
    out, err = capfd.readouterr()
    assert out == ""
    assert len(err.splitlines()) <= 1  # some garbled lists can be read
    assert re.fullmatch(
        r"(warning: the list of entry points in '.*garbled.*' is ignored: .*; reinstall its .*\n)?", err
    )


def test_a_package_that_is_installed_later_is_found(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    assert "latecomer" not in registry.names()
    asked, found = [], metadata.entry_points
    monkeypatch.setattr(metadata, "entry_points", lambda group: asked.append(group) or found(group=group))
    install(tmp_path, "late", "[boardrl.games]\nlatecomer = games.pig:Pig\n")
    assert registry.make("latecomer:target=30") == Pig(target=30)
    assert {"latecomer", "pig"} <= set(registry.names())
    assert asked == [registry.GAMES.name]  # the lists of all packages are read once
