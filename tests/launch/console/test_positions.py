"""Positions that users give: what cannot be read is one sentence, whoever wrote the game."""

import re

import pytest

from boardrl import registry
from boardrl.errors import UserError
from games.tic_tac_toe import TicTacToe
from launch import analyse, cli, play
from launch.console import positions


class Careless(TicTacToe):
    """Its `from_text` words no errors of its own."""

    def from_text(self, text):
        words = {"first": "......... 0"}
        return super().from_text(words[text] if text.isalpha() else " ".join(str(int(word)) for word in text.split()))


@pytest.mark.parametrize(
    ("text", "reason"),
    [("X", "KeyError: 'X'"), ("1 x", "ValueError: invalid literal for int() with base 10: 'x'")],
)
def test_an_error_of_a_user_s_game_is_one_sentence(text, reason):
    sentence = f"{text!r} is not a position of tic_tac_toe ({reason}); expected one like '... ... ... 0'"
    with pytest.raises(UserError, match=re.escape(sentence)):
        positions.parse(Careless(), text)


def test_long_texts_are_cut():
    with pytest.raises(UserError, match=r"^'1 1 1.*…' is not a position") as caught:
        positions.parse(Careless(), "1 " * 500 + "x")
    assert len(str(caught.value)) < 300


def test_a_game_s_own_sentence_stays():
    with pytest.raises(UserError, match=r"^bad position 'XX'"):
        positions.parse(TicTacToe(), "XX")


def test_files_end_with_lines_that_are_no_part_of_a_position(tmp_path):
    (tmp_path / "board.txt").write_text("XX. OO. ... 0\n\n")
    state = positions.read(TicTacToe(), str(tmp_path / "board.txt"))
    assert state.board.tolist() == [1, 1, 0, 2, 2, 0, 0, 0, 0]
    assert positions.read(TicTacToe(), "").board.tolist() == [0] * 9


@pytest.mark.parametrize("command", [analyse, play])
def test_commands_say_it(monkeypatch, capsys, tmp_path, command):
    monkeypatch.setattr(registry, "make", lambda text: Careless())
    (tmp_path / "board.txt").write_text("X")
    position = "X" if command is play else tmp_path / "board.txt"
    settings, more = (play.Settings, None) if command is play else (analyse.Config, analyse.options_of)
    with pytest.raises(SystemExit) as stop:
        cli.run(command.main, settings, more=more, argv=["command", f"--position={position}"])
    assert stop.value.code == 2
    assert capsys.readouterr().err.startswith("error: 'X' is not a position of tic_tac_toe (KeyError: 'X'); ")


@pytest.mark.parametrize(("flags", "noted"), [([], True), (["--depth=2"], False), (["--game_ms=9"], True)])
def test_a_search_without_a_limit_is_noted(capsys, flags, noted):
    """A game's time is divided over moves, of which there is one here."""
    with pytest.raises(SystemExit) as stop:
        cli.run(analyse.main, analyse.Config, more=analyse.options_of, argv=["analyse", *flags])
    assert stop.value.code == 0
    assert (
        capsys.readouterr().err.startswith("note: no --ms, --nodes or --depth is given: the search runs to the end")
        == noted
    )
