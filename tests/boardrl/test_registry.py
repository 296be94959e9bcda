"""Games by name, and the sentences for names and options that are wrong."""

import re
from importlib import metadata

import pytest

from boardrl import registry
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
    point = metadata.EntryPoint("planted", value, registry.GROUP)
    monkeypatch.setattr(registry.metadata, "entry_points", lambda group: [point])


def test_a_folder_that_python_takes_for_the_module_is_named(monkeypatch, tmp_path):
    """As the folder `my_nim` is, from above, when `my_nim/my_nim.py` is installed with pip install -e."""
    register(monkeypatch, "my_shadowed_game.rules:Game")
    (tmp_path / "my_shadowed_game").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    folder = re.escape(str(tmp_path / "my_shadowed_game"))
    with pytest.raises(UserError, match=rf"Python takes the folder '{folder}' for it, as that lies in the current fol"):
        registry.make("planted")
    monkeypatch.chdir("/")
    with pytest.raises(UserError, match=r"as that lies in a folder on Python's path .*; run the command from another"):
        registry.make("planted")


def test_a_package_that_is_broken_is_not_a_folder(monkeypatch):
    register(monkeypatch, "games.pig:Pork")
    with pytest.raises(UserError, match=r"module 'games.pig' has no attribute 'Pork'; fix its entry point, or reinsta"):
        registry.make("planted")
