"""The command `python -m launch.check`."""

from __future__ import annotations

import dataclasses
import subprocess
import sys

import pytest

from boardrl import registry
from boardrl.errors import UserError
from boardrl.testing.check import PROPERTIES
from games.pig import Pig
from games.tic_tac_toe import TicTacToe
from launch import check

SMALL = {"games": 8, "examples": 4}  # as in the other tests of the kit, which share the compiled code


def test_a_sound_game_gives_a_table_and_no_exit(capsys):
    check.main(check.Settings(game="tic_tac_toe", **SMALL))
    out = capsys.readouterr().out
    table = {line.split()[0]: line.split()[1:] for line in out.splitlines()[2:-2]}
    assert list(table) == [function.__name__ for function in PROPERTIES]
    assert table["spec_is_sane"] == ["ok"]
    states, result = table["decision_has_legal_action"]
    assert (int(states.replace(",", "")) > 8 * 5, result) == (True, "ok")
    assert table["chance_sums_to_one"] == ["0", "no", "such", "states"]
    assert "tic_tac_toe: 32 properties hold, 0 broken" in out


class Stingy(TicTacToe):
    def returns(self, state):
        return super().returns(state) / 2 + 0.25


class Unsound(TicTacToe):
    def step(self, state, move):
        return super().step(state, move)._replace(winner=0)


@pytest.mark.parametrize(
    ("cls", "name", "unchecked"), [(Stingy, "returns_zero_until_the_end", False), (Unsound, "types_are_stable", True)]
)
def test_a_broken_game_exits_with_1_and_says_why(monkeypatch, capsys, cls, name, unchecked):
    monkeypatch.setattr(registry, "load", lambda _: cls)
    with pytest.raises(SystemExit) as stop:
        check.main(check.Settings(game="tic_tac_toe", **SMALL))
    assert stop.value.code == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in lines if line.startswith(f"  {name} ")] == ["BROKEN"]
    assert any(line.startswith(f"broken: {name} (") for line in lines)
    assert any("not checked" in line for line in lines) == unchecked


class Seats(Pig):
    """Pig that is quick to find broken."""

    spec = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("text", "players"),
    [("pig", [2, 3, 4]), ("pig:target=9", [2, 3, 4]), ("pig:players=3", [3]), ("pig: players = 4", [4])],
)
def test_every_player_count_unless_one_is_given(monkeypatch, capsys, text, players):
    monkeypatch.setattr(registry, "load", lambda _: Seats)
    with pytest.raises(SystemExit):
        check.main(check.Settings(game=text, **SMALL))
    heads = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Seats(") and line.endswith(")")]
    assert [f"players={count}," in head for count, head in zip(players, heads, strict=True)] == [True] * len(players)


class Vast(TicTacToe):
    """Declares returns that no game gives, and a player that nobody can make."""

    named_players = {"champion": "negascout(dept=2)"}

    @property
    def spec(self):
        return dataclasses.replace(super().spec, min_return=-10.0, max_return=10.0)


def test_notes_do_not_break_a_game_and_players_that_cannot_be_made_do(monkeypatch, capsys):
    monkeypatch.setattr(registry, "load", lambda _: Vast)
    with pytest.raises(SystemExit) as stop:
        check.main(check.Settings(game="tic_tac_toe", **SMALL))
    assert stop.value.code == 1
    out = capsys.readouterr().out
    assert "\nnote: the returns seen lie between -1 and 1, 10% of the declared range" in out
    assert "named_players['champion'] is 'negascout(dept=2)', which cannot be made: unknown option 'dept'" in out
    monkeypatch.setattr(Vast, "named_players", {"champion": "negascout(depth=2)"})
    check.main(check.Settings(game="tic_tac_toe", **SMALL))
    assert "\nnote: the returns" in capsys.readouterr().out


def test_mistakes_are_told():
    with pytest.raises(UserError, match=r"no game is given; expected --game=NAME, one of .*pig"):
        check.main(check.Settings())
    with pytest.raises(UserError, match="unknown game 'pog'"):
        check.main(check.Settings(game="pog"))


def test_as_a_command(tmp_path):
    folder = tmp_path / "empty"
    folder.mkdir()
    command = [sys.executable, "-m", "launch.check", "--game=tic_tac_toe", "--games=8", "--examples=2"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=True)
    assert "0 broken" in done.stdout
    assert list(folder.iterdir()) == []  # nothing is left behind
    bad = subprocess.run([*command, "--games=0"], capture_output=True, text=True, cwd=folder, check=False)
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr == "error: games=0 and examples=2 cannot be checked; expected at least 1 of each\n"


def test_more_games_than_fit_are_refused():
    with pytest.raises(UserError, match=rf"--games={10**20} needs .* of memory, and .*; give fewer games"):
        check.main(check.Settings(game="tic_tac_toe", games=10**20))
