"""python -m launch.play: a game or a position, in the terminal, as SVG and as HTML."""

import json
import re
import xml.etree.ElementTree as ET

import pytest

from games.pig import Pig
from launch import cli, play

SVG = "{http://www.w3.org/2000/svg}"
POSITION = "0.0.14.57 1.2.0.0 0.0.0.0 0.0.0.0 0 plays 6"


def run(*arguments):
    with pytest.raises(SystemExit) as exit_:
        cli.run(play.main, play.Settings, argv=["play", *arguments])
    return exit_.value.code


def test_a_game_becomes_a_replay_with_every_step(tmp_path, capsys):
    page, picture = tmp_path / "game.html", tmp_path / "end.svg"
    small = "--game=ludo:rules=sdu_java,ring=8,column=2,pieces=1,players=2"
    assert run(small, "--players=fifo,random", "--seed=3", f"--html={page}", f"--svg={picture}") == 0
    shown = capsys.readouterr().out.splitlines()
    frames = json.loads(re.search(r'json">(.*?)</script>', page.read_text(), re.S)[1])
    captions = [caption for _, caption in frames]
    assert captions[0] == "the start"
    assert [int(caption.split(".")[0]) for caption in captions[1:]] == list(range(1, len(captions)))
    assert "returns" in captions[-1]
    assert not any("returns" in caption for caption in captions[:-1])
    assert any(re.fullmatch(r"\d+\. seat 0, fifo: piece 0 from the base to 1", caption) for caption in captions)
    assert any(re.fullmatch(r"\d+\. rolls [1-5], nothing to move", caption) for caption in captions)
    assert shown[0] == captions[-1]
    assert shown[-1].startswith("● over: 1. seat ")
    assert picture.read_text().startswith("<svg")
    assert shown[-1].removeprefix("● ") in picture.read_text()


def test_nothing_is_overwritten_silently(tmp_path, capsys):
    picture = tmp_path / "p.svg"
    picture.write_text("mine")
    arguments = ("--game=ludo", f"--position={POSITION}", f"--svg={picture}")
    assert run(*arguments) == 2
    assert "exists; choose another name or add --overwrite" in capsys.readouterr().err
    assert picture.read_text() == "mine"
    assert run(*arguments, "--overwrite") == 0
    assert picture.read_text().startswith("<svg")
    assert "seat 0 (yellow) has rolled 6 and may move 0, 1, 2" in capsys.readouterr().out


def test_a_game_without_pictures_is_shown_as_text(capsys):
    assert run("--game=tic_tac_toe", "--every") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "... ... ... 0"
    assert lines[2].startswith("1. seat 0, random: action ")


@pytest.mark.parametrize("text", ["to_text", ""])
def test_a_game_that_draws_nothing_has_its_text_as_replay_and_picture(tmp_path, capsys, monkeypatch, text):
    """In its own notation, or by the fields of the state."""
    if not text:
        monkeypatch.delattr(Pig, "to_text")
    page, picture = tmp_path / "game.html", tmp_path / "end.svg"
    assert run("--game=pig:target=4", "--seed=1", f"--html={page}", f"--svg={picture}") == 0
    shown = capsys.readouterr().out.splitlines()
    frames = json.loads(re.search(r'json">(.*?)</script>', page.read_text(), re.S)[1])
    boards = [[node.text for node in ET.fromstring(f"<g>{pieces}</g>")] for pieces, _ in frames]
    if text:
        assert boards[0] == ["0 0 0 0 decides"]
        assert re.fullmatch(r"\d \d 0 \d decides", boards[-1][0])
    else:
        assert boards[0] == ["scores   [0 0]", "total    0", "turn     0", "rolling  False"]
    assert boards[-1] == shown[1:]
    assert boards[-1] == [node.text for node in ET.fromstring(picture.read_text()).iter(f"{SVG}text")]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--game=pig", "--hint=hold"), "--hint is given and no human plays"),
        (("--game=pig", "--players=human(x=1),random"), "unknown option 'x' of player 'human'"),
        (("--game=pig", "--players=human,random", "--hint=hodl"), "unknown player 'hodl' (did you mean 'hold'?)"),
        (("--game=ludo", "--players=random"), "ludo is played by 4"),
        (("--game=ludo", "--position=0"), "bad position '0'"),
        (("--game=ludo", "--position=0", "--players=random"), "leave one of them out"),
    ],
)
def test_mistakes_are_one_sentence(arguments, sentence, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(*arguments) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1
    assert not list(tmp_path.iterdir())
