"""`python -m launch.train` as its users meet it: real processes, killed at any moment."""

import json
import pathlib
import random
import re
import shutil
import signal
import time

import pytest
from training_process import Process, flags, newest_state

from algorithms import td_lambda
from boardrl import registry
from boardrl.errors import UserError
from boardrl.matches import arena
from boardrl.runs import checkpoint, run_directory
from games.ludo.presets import PRESETS
from games.tic_tac_toe import TicTacToe
from launch import cli, train
from launch.console import named_players

GAME = "pig:players=3,target=10"
SMALL = {
    "game": GAME,
    "seed": 11,
    "games": 500,
    "lanes": 8,
    "window": 4,
    "hidden": "8",
    "log_every": 7,
    "evaluate_every": 150,
    "evaluate_games": 30,
    "final_games": 60,
    "evaluate_against": "hold(total=4)",
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run that was never stopped: its directory and what it printed."""
    path = tmp_path_factory.mktemp("runs") / "whole"
    code, out, err = Process(*flags(**SMALL, run=path)).end()
    assert code == 0, err
    return path, out


def read(path):
    return [json.loads(line) for line in (path / "metrics.jsonl").read_text().splitlines()]


def test_killed_at_many_moments_it_ends_with_the_same_bits(whole, tmp_path):
    """SIGKILL while a checkpoint is written and at random moments, Ctrl-C in between."""
    rng = random.Random(5)
    path = tmp_path / "run"
    folder = path / "checkpoints"

    def steps():
        return checkpoint.steps(folder) or [0]

    def writing():
        return any(folder.glob(".*.tmp"))

    for moment in ("writing", "ctrl-c", "any", "any"):
        begin = flags(resume=path) if path.exists() else flags(**SMALL, run=path)
        process = Process(*begin, "--checkpoint_every=0")
        goal = steps()[-1] + rng.randint(1, 12)
        process.wait_for(lambda goal=goal: steps()[-1] >= goal)
        with pytest.raises(UserError, match=f"in use by process {process.pid};"):
            run_directory.Run.resume(path)
        if moment == "ctrl-c":
            process.send(signal.SIGINT)
            code, out, err = process.end()
            assert code == 130, err
            assert f"to go on: python -m launch.train --resume={path}" in out
            assert "ending with a checkpoint" in err
            assert "| interrupted" in (path / "report.md").read_text()
        else:
            time.sleep(rng.uniform(0, 0.1))
            process.kill_while(writing if moment == "writing" else lambda: True)
            assert process.end()[0] == -signal.SIGKILL
            assert moment == "any" or writing()

    code, out, err = Process(*flags(resume=path, checkpoint_every=60)).end()
    assert code == 0, err
    assert newest_state(path) == newest_state(whole[0])
    assert (path / "metrics.jsonl").read_bytes() == (whole[0] / "metrics.jsonl").read_bytes()
    assert not writing()
    assert out.replace(str(path), str(whole[0])) == whole[1]


def test_what_a_run_prints_and_writes(whole):
    path, out = whole
    stored = run_directory.read_config(path)
    assert (stored["game"], stored["algo"], stored["seed"], stored["settings"]["hidden"]) == (
        GAME,
        "td_lambda",
        11,
        [8],
    )
    final = read(path)[-1]
    assert (final["kind"], final["opponent"], final["played"]) == ("final", "hold(total=4)", 60)
    assert final["wins"] + final["draws"] + final["losses"] == 60
    assert final["low"] < final["win_rate"] < final["high"]
    assert f"{final['win_rate']:.2%}" in out
    assert f"{final['low']:.2%} to {final['high']:.2%}" in out
    assert f"{path}/learning_curve.png" in out
    assert (path / "learning_curve.png").read_bytes()[:4] == b"\x89PNG"


def test_the_printed_commands_give_the_printed_figures(whole):
    path, out = whole
    command = re.search(r"launch\.evaluate --game=(\S+) --players=(\S+) --games=(\d+) --seed=(\d+)", out)
    game = registry.make(command[1])
    players = named_players.make(command[2].strip("'"), game)
    assert re.search(rf"--seed={command[4]} --duplicate --control={re.escape(str(path))}", out)
    match = arena.match(
        game, players, num_games=int(command[3]), seed=int(command[4]), duplicate=True, control=str(path)
    )
    final = read(path)[-1]
    assert (final["duplicate"], final["control"]) == (True, True)
    assert match.players[0].adjusted.win_rate == pytest.approx(final["win_rate"], abs=1e-6)
    assert match.players[0].points == final["points"]
    assert [seat.win_rate for seat in match.players[0].seats] == final["seats"]


# --- one process, many mistakes --------------------------------------------------------------------------------------


@pytest.fixture
def command(monkeypatch, capfd, tmp_path):
    """Runs the command in this process: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.run(train.main, train.TrainConfig, more=train.more, argv=["train", *arguments])
        out, err = capfd.readouterr()
        return ended.value.code, out, err

    return call


MISTAKES = {
    (): "no game given",
    ("--game=tictactoe",): "unknown game 'tictactoe' (did you mean 'tic_tac_toe'?)",
    ("--game=pig:players=9",): "players=9 does not fit",
    ("--game=pig", "--algo=td_lamda"): "unknown algorithm 'td_lamda' (did you mean 'td_lambda'?); known algorithms: ",
    ("--game=pig", "--games=many"): "games",
    ("--game=pig", "--gmaes=5"): "unknown flag --gmaes (did you mean --games?)",
    ("--game=pig", "--decay=2"): "decay",
    ("--game=pig", "--seed=-1"): "--seed=-1 is out of range",
    ("--game=pig", "--log_every=0"): "--log_every=0 is too small",
    ("--game=pig", "--evaluate_against=randm"): "unknown player 'randm' (did you mean 'random'?)",
    ("--game=pig", "--opponents=nobody"): "unknown player 'nobody'",
    ("--game=pig", "--opponents=random,random"): "opponents",
    ("--game=pig", "--preset=alhajry2012"): "unknown preset 'alhajry2012' of td_lambda for pig; known presets: none",
    (
        "--game=ludo",
        "--preset=alhajry",
    ): "'alhajry' of td_lambda for ludo (did you mean 'alhajry2012'?)",
    ("--preset=alhajry2012",): "known presets: none; name a --game, as most belong to one",
    ("--game=pig", "--run=taken"): "'taken' exists already",
    ("--resume=taken",): "'taken' is not a run directory",
    ("--resume=taken", "--run=other"): "leave out --run",
    ("extra",): "unexpected argument 'extra'",
}


@pytest.mark.parametrize("arguments", MISTAKES)
def test_mistakes_are_one_sentence(command, arguments):
    pathlib.Path("taken").mkdir()
    code, out, err = command(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("error: ")
    assert MISTAKES[arguments] in err
    assert not pathlib.Path("runs").exists()
    assert list(pathlib.Path("taken").iterdir()) == []


CONTRADICTIONS = {
    "--game=tic_tac_toe": f"--game=tic_tac_toe contradicts game={GAME} of",
    "--seed=12": "--seed=12 contradicts seed=11",
    "--hidden=9+9": "--hidden=9+9 contradicts hidden=8",
    "--evaluate_every=7": "--evaluate_every=7 contradicts evaluate_every=150",
    "--games=400": "can only be raised",
    "--preset=alhajry2012": "--preset=alhajry2012 cannot change the settings of a run",
    "--runs_dir=elsewhere": "leave out --run and --runs_dir",
}


@pytest.mark.parametrize("flag", CONTRADICTIONS)
def test_resume_refuses_what_would_be_another_run(command, whole, flag):
    before = {file: file.read_bytes() for file in whole[0].rglob("*") if file.is_file()}
    code, out, err = command(f"--resume={whole[0]}", flag)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert CONTRADICTIONS[flag] in err
    assert {file: file.read_bytes() for file in whole[0].rglob("*") if file.is_file()} == before


def test_a_run_keeps_how_often_it_is_evaluated_when_it_is_trained_longer(command, monkeypatch):
    """A 20th of --games is worked out once: were it worked out again on --resume, the metrics would differ."""
    every = []

    def stop(task, run_directory, loggers):
        every.append((task.schedule.evaluate_every, run_directory.config["schedule"]["evaluate_every"]))
        raise UserError("enough")

    monkeypatch.setattr(train.training, "train", stop)
    for flag in (("--game=tic_tac_toe", "--games=100", "--run=run"), ("--resume=run", "--games=1000")):
        assert command(*flag)[0] == 2
    assert every == [(5, 5), (5, 5)]
    assert run_directory.read_config(pathlib.Path("run"))["schedule"]["evaluate_every"] == 5


def test_help_shows_the_settings_of_the_algorithm_as_the_game_wants_them(command, monkeypatch):
    suited = {"td_lambda": {"games": 77, "evaluate_against": "perfect"}}
    monkeypatch.setattr(TicTacToe, "defaults", suited, raising=False)
    code, out, err = command("--game=tic_tac_toe", "--help")
    assert (code, err) == (0, "")
    assert "settings of td_lambda:" in out
    assert "--games=77" in out
    assert "--evaluate_against=perfect" in out
    code, out, _ = command("--help")
    assert code == 0
    assert f"--games={td_lambda.Config().games}" in out
    assert "--evaluate_against=random" in out


def test_a_preset_takes_the_place_of_what_suits_the_game(command):
    code, out, _ = command("--game=ludo", "--preset=alhajry2012", "--help")
    assert code == 0
    for flag in ("--hidden=20", "--learning_rate=0.2", "--thin=1", "--evaluate_against=random,mixed"):
        assert f"  {flag}\n" in out


def test_a_game_may_build_on_a_preset(command):
    code, out, _ = command("--game=ludo", "--algo=q_strategies", "--help")
    assert code == 0
    rewards = PRESETS["q_strategies"]["alhajry2012"]["rewards"]
    for flag in (f"--rewards={rewards}", "--learning_rate=0.5", "--epsilon_end=0.3", "--final_games=20000"):
        assert f"  {flag}\n" in out


def test_a_game_that_asks_for_settings_nobody_has(command, monkeypatch):
    monkeypatch.setattr(TicTacToe, "defaults", {"td_lambda": {"gmaes": 77}}, raising=False)
    code, _, err = command("--game=tic_tac_toe")
    assert (code, err.count("\n")) == (2, 1)
    assert "'gmaes'" in err


def test_training_longer_keeps_what_was_there(command, whole):
    shutil.copytree(whole[0], "run")
    before = [row for row in read(whole[0]) if row["kind"] != "final"]
    code, out, err = command("--resume=run", "--games=600")
    assert code == 0, err
    after = read(pathlib.Path("run"))
    assert after[: len(before)] == before
    assert before[-1]["games"] < 600 <= after[-1]["games"]
    assert run_directory.read_config(pathlib.Path("run"))["settings"]["games"] == 600
    assert "train on  python -m launch.train --resume=run --games=1200" in out


def test_default_directory_and_opponents(command):
    """A game against an opponent in a seat, measured against two."""
    small = {
        "game": "tic_tac_toe",
        "evaluate_against": "random,greedy",
        "games": 1,
        "log_every": 1,
        "opponents": "random",
    }
    code, out, err = command(*flags(**SMALL | small))
    assert code == 0, err
    (path,) = pathlib.Path("runs").iterdir()
    assert re.fullmatch(r"tic_tac_toe-td_lambda-\d{8}T\d{6}Z-s11", path.name)
    rows = read(path)
    assert [(row["kind"], row["opponent"]) for row in rows[-2:]] == [("final", "random"), ("final", "greedy")]
    assert out.count("evaluate  python -m launch.evaluate") == 2
