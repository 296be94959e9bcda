"""The command: tables, ratings.json, ratings.png, --json; stopped and gone on with; one sentence for each mistake."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import signal
import sys

import pytest
from test_evaluate import rows
from test_signals import Command

from boardrl.runs import learned
from launch import cli, tournament, train

BOTS = pathlib.Path(__file__).parents[1] / "support"


@pytest.fixture(autouse=True)
def _as_a_command(monkeypatch, tmp_path):
    monkeypatch.setattr(cli, "_use_compile_cache", lambda: None)
    monkeypatch.syspath_prepend(str(BOTS))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
    monkeypatch.chdir(tmp_path)


def run(*flags: str) -> int:
    with pytest.raises(SystemExit) as ended:
        cli.run(tournament.main, tournament.Settings, more=tournament.more, argv=["tournament", *flags])
    return ended.value.code


def run_train(flags: list[str]) -> int:
    with pytest.raises(SystemExit) as ended:
        cli.run(train.main, train.TrainConfig, more=train.more, argv=["train", *flags])
    return ended.value.code


def test_tables_files_and_plot(tmp_path, capsys):
    flags = ["--game=tic_tac_toe", "--players=random,perfect,greedy", "--games=200", "--run=one", "--json=out.json"]
    assert run(*flags) == 0
    printed = capsys.readouterr().out
    stored = json.loads((tmp_path / "out.json").read_text())
    assert stored == json.loads((tmp_path / "one" / "ratings.json").read_text())
    assert (tmp_path / "one" / "ratings.png").read_bytes().startswith(b"\x89PNG")
    assert stored["games"] == 300
    assert [player["name"] for player in stored["players"]] == ["random", "perfect", "greedy"]
    assert all({"name", "rating", "low", "high", "games", "points"} <= set(player) for player in stored["players"])
    scores = {(pair["first"], pair["second"]): pair["score"] for pair in stored["pairs"]}
    table, order = rows(printed), [1, 2, 0]
    for place, number in enumerate(order):
        player = stored["players"][number]
        interval = f"{player['low']:.0f} to {player['high']:.0f}"
        cells = [f"{player['rating']:.0f}", interval, "200", f"{player['points']:+.4f}", f"{player['score']:.1%}"]
        assert table[place] == [str(place + 1), player["name"], *cells]
    assert table[3] == ["1", "perfect", "", f"{scores[1, 2]:.1%}", f"{1 - scores[0, 1]:.1%}"]
    assert "everybody played 200 games, as often in every seat, and 100 against each of the others" in printed

    assert run(*flags) == 2  # the directory exists
    capsys.readouterr()
    assert run("--resume=one", "--json=again.json") == 0  # nothing is left to play
    assert json.loads((tmp_path / "again.json").read_text()) == stored
    assert run("--resume=one", "--seed=4") == 2
    assert "was started with seed=0, not 4" in capsys.readouterr().err

    # A player whose run has a newer checkpoint by now.
    first, *others = (tmp_path / "one" / "games.jsonl").read_text().splitlines()
    settings = json.loads(first)
    settings["settings"]["made"][1] = "runs/x/checkpoints/20"
    (tmp_path / "one" / "games.jsonl").write_text("\n".join([json.dumps(settings), *others, ""]))
    assert run("--resume=one") == 2
    sentence = (
        "the games in 'one' were played by runs/x/checkpoints/20, where this player is perfect now; put back what"
    )
    assert sentence in capsys.readouterr().err


def test_a_tournament_goes_on_with_the_checkpoints_that_it_began_with(tmp_path, capsys):
    """A run that has learned more since is found at its earlier checkpoint; without it nothing is mixed up."""
    learner = ["--game=pig:target=10", "--algo=q_table", "--run=q", "--evaluate_against=", "--games_per_update=10"]
    assert run_train([*learner, "--games=20"]) == 0
    flags = ["--game=pig:target=10", "--players=q,random", "--games=10", "--run=one", "--json=one.json"]
    assert run(*flags) == 0
    began = json.loads((tmp_path / "one" / "games.jsonl").read_text().splitlines()[0])["settings"]["made"][0]
    assert run_train(["--resume=q", "--games=40"]) == 0
    assert str(learned.load_run(pathlib.Path("q")).path) != began
    capsys.readouterr()
    assert run("--resume=one", "--json=again.json") == 0
    assert (tmp_path / "again.json").read_text() == (tmp_path / "one.json").read_text()
    shutil.rmtree(began)
    assert run("--resume=one") == 2
    assert f"were played by {began}, where this player is" in capsys.readouterr().err


def test_ctrl_c_keeps_what_was_played(tmp_path, capsys):
    slow = ["--game=tic_tac_toe", "--players=arena_bots:Slow,random,perfect", "--games=12", "--seed=3"]
    command = Command("launch.tournament", *slow, "--run=one", "--processes=2")
    file = tmp_path / "one" / "games.jsonl"
    command.wait_for(lambda: file.exists() and file.read_bytes().count(b"game ") >= 3)
    code, out, err = command.end(signal.SIGINT)
    assert code == 130
    over = json.loads(file.read_bytes().splitlines()[0])
    assert over["settings"]["seed"] == 3
    assert "of 18 games, seed 3; ratings (mean 1500)" in " ".join(out.split())
    assert "go on with: python -m launch.tournament --resume=one" in err
    assert run("--resume=one", "--processes=1", "--json=a.json") == 0
    assert run(*slow, "--run=two", "--processes=1", "--json=b.json") == 0
    stored = json.loads((tmp_path / "a.json").read_text())
    assert stored == json.loads((tmp_path / "b.json").read_text())
    assert stored["games"] == stored["wanted"] == 18


def test_who_sat_in_games_that_were_cut_is_named():
    players = [
        {"name": name, "cut": cut} for name, cut in {"a": 2, "b": 0, "c": 3, "d": 3, "e": 2, "f": 1, "g": 1}.items()
    ]
    (line,) = tournament._cuts({"cut": 3, "players": players})
    assert line == "3 games were cut at max_steps; most often with c 3, d 3, a 2, e 2, f 1"
    assert tournament._cuts({"cut": 0, "players": players[1:2]}) == []


def test_games_that_repeat_are_reported(capsys):
    """Nothing is left to chance between two searchers."""
    flags = ["--game=tic_tac_toe", "--players=alphabeta(depth=1),alphabeta(depth=2)", "--games=8", "--processes=1"]
    assert run(*flags) == 0
    assert "only 2 of the 8 games are different" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ([], "no game given"),
        (["--game=tic_tac_toe"], "a tournament needs at least 2 players, but 0 were given"),
        (["--game=tic_tac_toe", "--players=random"], "a tournament needs at least 2 players, but 1 were given"),
        (["--game=tic_tac_toe", "--players=random,rondom"], "unknown player 'rondom' (did you mean 'random'?)"),
        (["--game=tic_tac_toe", "--players=random,random", "--games=0"], "games=0 is too few for a tournament"),
        (["--game=tic_tac_toe", "--players=random,random", "--processes=0"], "--processes=0 is too few"),
        (["--game=tic_tac_toe", "--players=random,random", "--seed=-1"], "seed=-1 is out of range"),
        (
            ["--game=tic_tac_toe", "--players=random,random", "--opening=-1"],
            "opening=-1 is not a valid number of opening moves",
        ),
        (["--resume=nowhere"], "--resume=nowhere is no directory of a tournament: it has no games.jsonl"),
        (["--resume=nowhere", "--run=x"], "--resume names the directory already"),
    ],
)
def test_mistakes_are_one_sentence_and_leave_nothing_behind(flags, message, capsys, tmp_path):
    assert run(*flags) == 2
    err = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
    assert len(err) == 1
    assert message in err[0]
    assert list(tmp_path.iterdir()) == []
