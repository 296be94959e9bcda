"""Humans in launch.play: what they type, what they see, what is taken back, and how a game ends."""

from __future__ import annotations

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
from typing import Any

import pytest

from boardrl.errors import UserError
from launch import play
from launch.console import human
from launch.play import Settings

ROOT = pathlib.Path(__file__).parents[3]
BOTS = pathlib.Path(__file__).parents[2] / "support"
PIG = "pig:target=10"
TTT = "tic_tac_toe"


class Typist:
    """Types lines one after another; then the input ends."""

    def __init__(self, *lines: str) -> None:
        self.lines = [word for line in lines for word in line.split(";")]
        self.prompts: list[str] = []

    def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        if not self.lines:
            raise EOFError
        return self.lines.pop(0)


def captions(path: pathlib.Path) -> list[str]:
    frames = json.loads(re.search(r'json">(.*?)</script>', path.read_text(), re.S)[1])  # type: ignore[index]
    return [caption for _, caption in frames]


def played(tmp_path: pathlib.Path, typed: str, **settings: Any) -> list[str]:
    """The captions of a game's replay."""
    path = tmp_path / f"{len(list(tmp_path.iterdir()))}.html"
    play.main(Settings(**settings, html=str(path)), read=Typist(typed))
    return captions(path)


def test_two_humans_play_to_the_end(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    typist = Typist("0;3;1;action 4;2")
    page, picture = tmp_path / "game.html", tmp_path / "end.svg"
    play.main(Settings(game=TTT, players="human,human", html=str(page), svg=str(picture)), read=typist)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["... ... ... 0", "  0   1   2   3   4   5   6   7   8"]
    assert lines[-2:] == ["XXX OO. ... 1", "seat 0 (human) wins; returns 1, -1"]
    assert "XX. OO. ... 0" in lines
    assert [int(re.findall(r"\d+", prompt)[0]) for prompt in typist.prompts] == [0, 1, 0, 1, 0]
    moves = enumerate([0, 3, 1, 4, 2])
    want = [f"{place + 1}. seat {place % 2}, human: action {move}" for place, move in moves]
    want[-1] += "; returns 1, -1"
    assert captions(page) == ["the start", *want]
    picture = picture.read_text()
    assert (picture.count("<polygon"), picture.count("<circle")) == (3 * 2, 2 * 2)  # crosses and rings


def test_a_drawn_game_names_those_who_share_it(capsys: pytest.CaptureFixture[str]) -> None:
    play.main(Settings(game=TTT, players="human,human"), read=Typist("0;1;2;4;3;5;7;6;8"))
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "seat 0 (human) and seat 1 (human) share the best result; returns 0, 0"


@pytest.mark.parametrize("opponent", ["random", "arena_bots:wavering"])
def test_dice_and_players_fall_the_same_after_an_undo(
    tmp_path: pathlib.Path, opponent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A policy on the device, or a player on the host that draws random numbers."""
    monkeypatch.syspath_prepend(BOTS)
    settings: dict[str, Any] = {"game": "pig:target=30", "players": f"human,{opponent}", "seed": 5}
    straight = played(tmp_path, "0;1;0;1;0;1", **settings)
    assert any("dice: outcome" in caption for caption in straight)
    assert sum(f"seat 1, {opponent}" in caption for caption in straight) >= 3
    detour = played(tmp_path, "0;1;undo;undo;0;1;0;undo;0;1;0;0;undo;1", **settings)
    assert detour == straight
    # Another decision lets the same dice fall.
    other = played(tmp_path, "0;0", **settings)
    faces = [[caption.split()[-1] for caption in game if "dice" in caption] for game in (straight, other)]
    assert faces[0][:2] == faces[1][:2]


def test_undo_takes_back_to_the_last_decision_of_any_human(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = played(tmp_path, "undo;4;0;undo;8;undo;undo;2;quit", game=TTT, players="human,human")
    assert found == ["the start", "1. seat 0, human: action 2"]
    out = capsys.readouterr().out
    assert "there is nothing to take back: no human has moved yet" in out
    assert out.count("taken back to step 1") == 2
    assert out.count("taken back to the start") == 1
    assert "the game ends here, after 1 step" in out
    # Against a computer its answer goes too.
    found = played(tmp_path, "4;undo;0", game=TTT, players="human,perfect")
    assert [caption.split(": ")[0] for caption in found[1:]] == ["1. seat 0, human", "2. seat 1, perfect"]
    assert found[1].endswith("action 0")
    assert found[2].endswith("action 4")  # all other answers to a corner lose


def test_wrong_input_is_one_sentence_and_asks_again(capsys: pytest.CaptureFixture[str]) -> None:
    typist = Typist("", "9", "four", "hlep", "4", "4", "-1")
    play.main(Settings(game=TTT, players="human,human"), read=typist)
    lines = capsys.readouterr().out.splitlines()
    for sentence in (
        "type the number of a move, or help",
        "9 is not a legal move here; type one of the numbers shown, or moves for all of them",
        "'four' is neither a move nor a command; type the number of a move, or help",
        "'hlep' is neither a move nor a command (did you mean 'help'?); type the number of a move, or help",
        "4 is not a legal move here; type one of the numbers shown, or moves for all of them",
        "'-1' is neither a move nor a command; type the number of a move, or help",
    ):
        assert lines.count(sentence) == 1
    assert len(typist.prompts) == 8
    assert lines[-1] == "the game ends here, after 1 step"


@pytest.mark.parametrize("hint", ["", "perfect", "negascout(depth=2)"])
def test_a_hint_names_the_winning_move_and_changes_nothing(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str], hint: str
) -> None:
    found = played(tmp_path, "0;3;1;4;hint;help", game=TTT, players="human,human", hint=hint)
    out = capsys.readouterr().out
    name = hint or human.default_hinter(play.registry.make(TTT))
    assert f"{name} would play 2\n" in out
    assert f"shows what {name} would play" in out
    assert len(found) == 5


def test_default_hints_fit_the_game() -> None:
    for game in (TTT, PIG, "pig:players=3", "connect_four"):
        made = play.registry.make(game)
        name = human.default_hinter(made)
        human.searchers.refuse(name.partition("(")[0], made)


def test_moves_have_the_game_s_words(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = played(tmp_path, "places 1 2;moves;Places  0 0", game="jumper:size=3", players="human,human")
    assert [caption.split(": ")[1] for caption in found[1:]] == ["places 1 2", "places 0 0"]
    assert re.search(r"^  0  places 0 0   1  places 0 1", capsys.readouterr().out, re.M)


def test_words_for_moves() -> None:
    moves = {3: "Knight takes e5", 12: "pass", 20: "pass", 5: "7", 7: "action 7"}
    assert human.find("12", moves) == 12
    assert human.find("knight  takes E5", moves) == 3
    assert human.find("7", moves) == 7  # numbers come first
    assert human.find("7", {5: "7"}) == 5
    assert human.entries(moves) == [" 3  Knight takes e5", "12  pass", "20  pass", " 5  7", " 7"]
    with pytest.raises(UserError, match="'pass' matches the moves 12, 20; type one of these numbers"):
        human.find("pass", moves)
    with pytest.raises(UserError, match=r"\(did you mean 'Knight takes e5'\?\)"):
        human.find("Knight takes e4", moves)


def test_many_moves_are_cut_with_a_hint_how_to_see_all() -> None:
    texts = [f"{number:3}" for number in range(100)]
    assert human.columns(texts, 20, None)[:2] == ["    0     1     2", "    3     4     5"]
    lines = human.columns(texts, 20, 5)
    assert len(lines) == 5
    assert all(len(line) <= 20 for line in lines[:-1])
    assert lines[-1] == "  … and 88 more: type moves to see all 100"
    assert human.columns(["a", "b"], 80, 5) == ["  a   b"]
    assert human.columns(["longer than the terminal"], 10, 5) == ["  longer than the terminal"]


def start(*flags: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-u", "-m", "launch.play", *flags]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, cwd=ROOT, env=dict(os.environ), text=True, **pipes)  # type: ignore[call-overload]


def test_ctrl_c_ends_a_game_while_the_opponent_thinks(tmp_path: pathlib.Path) -> None:
    """Its search would go on for minutes."""
    page = tmp_path / "game.html"
    process = start("--game=connect_four", "--players=human,minimax(ms=600000)", f"--html={page}")
    assert process.stdin
    assert process.stdout
    process.stdin.write("3\n")
    process.stdin.flush()
    for line in process.stdout:
        if line.endswith("seat 0, human: action 3\n"):
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert out.splitlines()[-1] == "the game ends here, after 1 step"
    assert len(captions(page)) == 2


def test_the_end_of_the_input_ends_the_game_cleanly() -> None:
    process = start(f"--game={TTT}", "--players=human,random")
    out, err = process.communicate("0\n", timeout=300)
    assert process.returncode == 0
    assert "Traceback" not in err
    assert out.splitlines()[-1].startswith("the game ends here, after ")
