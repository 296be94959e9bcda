"""The command `python -m launch.perft`."""

from __future__ import annotations

import subprocess
import sys

import pytest

from boardrl.errors import UserError
from games.tic_tac_toe import TicTacToe
from launch import perft


def lines(capsys, **flags):
    perft.main(perft.Settings(**flags))
    return capsys.readouterr().out.splitlines()


def test_a_line_for_each_depth_and_the_count_alone(capsys):
    head, *rows, last = lines(capsys, game="tic_tac_toe", depth=6)
    assert head.split() == ["depth", "paths", "seconds", "nodes/s"]
    assert [row.split()[:2] for row in rows] == [
        ["1", "9"],
        ["2", "72"],
        ["3", "504"],
        ["4", "3,024"],
        ["5", "15,120"],
        ["6", "56,160"],
    ]
    assert last == "56160"


def test_distinct(capsys):
    head, *_, last = lines(capsys, game="tic_tac_toe", depth=5, distinct=True)
    assert head.split()[1] == "states"
    assert last == "1260"


def test_by_turns_or_by_moves(capsys):
    assert lines(capsys, game="jumper:size=3", depth=3)[-1] == "520"  # its notation is of turns
    # In Kalah with three seeds in each of three houses, house 0 ends in the store: then 1 or 2 are moved as well.
    assert lines(capsys, game="kalah:houses=3,seeds=3", depth=1)[-1] == "3"
    assert lines(capsys, game="kalah:houses=3,seeds=3", depth=1, by="turns")[-1] == "4"
    with pytest.raises(UserError, match="--by=hops is nothing to count by; expected moves or turns"):
        perft.main(perft.Settings(game="tic_tac_toe", by="hops"))


def test_position_from_a_file(capsys, tmp_path):
    board = tmp_path / "board.txt"
    board.write_text("XX.\nOO.\n...\n0\n")
    assert lines(capsys, game="tic_tac_toe", depth=2, position=str(board))[-1] == "17"


def test_mistakes_are_told(tmp_path, monkeypatch):
    with pytest.raises(UserError, match=r"no game is given; expected --game=NAME, one of .*pig"):
        perft.main(perft.Settings())
    with pytest.raises(UserError, match=r"cannot read --position=.*board.txt"):
        perft.main(perft.Settings(game="tic_tac_toe", position=str(tmp_path / "board.txt")))
    (tmp_path / "board.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(UserError, match=r"cannot read --position=.*board.txt"):
        perft.main(perft.Settings(game="tic_tac_toe", position=str(tmp_path / "board.txt")))
    (tmp_path / "board.txt").write_text("XX")
    with pytest.raises(UserError, match="bad position 'XX'"):
        perft.main(perft.Settings(game="tic_tac_toe", position=str(tmp_path / "board.txt")))
    monkeypatch.delattr(TicTacToe, "from_text")
    with pytest.raises(UserError, match="tic_tac_toe cannot read positions"):
        perft.main(perft.Settings(game="tic_tac_toe", position=str(tmp_path / "board.txt")))


def test_as_a_command(tmp_path):
    command = [sys.executable, "-m", "launch.perft", "--game=pig:players=3,target=8", "--depth=12"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    assert done.stdout.splitlines()[-1].isdecimal()
    assert done.stdout.splitlines()[-1] == done.stdout.splitlines()[-2].split()[1].replace(",", "")
    bad = subprocess.run([*command[:-1], "--depth=0"], capture_output=True, text=True, check=False)
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr == "error: depth=0 is too small; expected 1 or more moves\n"
