"""launch.analyse with what was learned: nets of runs, files of weights, sets of features; and its best moves."""

from __future__ import annotations

import dataclasses
import json
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from algorithms import td_lambda
from boardrl import registry
from boardrl.play import players
from boardrl.runs import run_directory
from boardrl.runs.learned import load_run
from boardrl.values import linear, weight_file
from boardrl.values.weight_file import Weights
from launch import analyse, cli

TTT = registry.make("tic_tac_toe")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A run of td_lambda that has learned nothing yet: its net says something else of every position."""
    path = tmp_path_factory.mktemp("runs") / "new"
    config = td_lambda.Config(hidden=(8,), lanes=2, shards=1)
    stored = {"game": "tic_tac_toe", "algo": "td_lambda", "seed": 0, "schedule": {}}
    with run_directory.Run.create(path, {**stored, "settings": dataclasses.asdict(config)}) as opened:
        opened.save(td_lambda.init(config, TTT, jax.random.key(3)), place={}, keep=1)
    return path


def analyse_json(tmp_path: pathlib.Path, *arguments: str) -> dict:
    out = tmp_path / f"{len(list(tmp_path.iterdir()))}.json"
    argv = ("analyse", *arguments, f"--json={out}")
    with pytest.raises(SystemExit) as stop:
        cli.run(analyse.main, analyse.Config, more=analyse.options_of, argv=argv)
    assert stop.value.code == 0
    return json.loads(out.read_text())


@pytest.mark.parametrize("searcher", ["negascout", "maxn"])
def test_a_run_s_net_values_the_leaves(path: pathlib.Path, tmp_path: pathlib.Path, searcher: str) -> None:
    found = analyse_json(tmp_path, f"--net={path}", "--depth=1", "--multi=99", f"--searcher={searcher}")
    learned = load_run(path)
    value = learned.policy.apply.value  # type: ignore[attr-defined]
    want = {}
    for action in range(9):
        after = TTT.step(TTT.init(), jnp.int32(action))
        want[str(action)] = float(value(learned.policy.params, after, jnp.int32(0))[0])
    assert len({round(number, 5) for number in want.values()}) == 9
    moves = {move["move"]: move["value"][0] for move in found["moves"]}
    assert [move["move"] for move in found["moves"]] == sorted(want, key=lambda action: -want[action])
    np.testing.assert_allclose([moves[action] for action in want], list(want.values()), atol=1e-5)
    assert found["pv"] == found["moves"][0]["pv"]
    assert found["value"][0] == found["moves"][0]["value"][0]
    assert all(list(move) == ["move", "value", "pv"] for move in found["moves"])
    # The library finds runs and nets as the command line does, and agrees with it.
    player = players.make(f"{searcher}(depth=1,net={path})", TTT)
    start = jax.device_get(TTT.init())
    assert str(player.host.choose(TTT, start, np.random.default_rng(0))) == found["pv"][0]  # type: ignore[union-attr]
    assert players.make(str(path), TTT).policy is not None


def test_the_best_moves_are_printed_and_the_first_is_that_of_a_plain_search(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    position = tmp_path / "position.txt"
    position.write_text("X.. .O. ... 0")
    plain = analyse_json(tmp_path, f"--position={position}", "--depth=5")
    capsys.readouterr()
    found = analyse_json(tmp_path, f"--position={position}", "--depth=5", "--multi=2")
    for key in ("value", "pv", "depth", "exact"):
        assert found[key] == plain[key]
    assert len(found["moves"]) == 2
    lines = capsys.readouterr().out.splitlines()
    for place, move in enumerate(found["moves"], 1):
        shown = f"{place}.      {move['value'][0]:+.6g} {move['value'][1]:+.6g}  {', '.join(move['pv'])}"
        assert lines[place] == shown


def test_weights_from_a_file_and_features_by_name(tmp_path: pathlib.Path) -> None:
    game = registry.make("jumper:size=4")
    names = linear.find(game, "brunton2013").names
    values = (0.3, -0.2, 0.1, 0.4)
    weight_file.save(tmp_path / "w.json", Weights("jumper", "brunton2013", names, values, ""))
    common = ("--game=jumper:size=4", "--depth=1", "--multi=2")
    learned = analyse_json(tmp_path, *common, f"--learned={tmp_path / 'w.json'}")
    given = analyse_json(tmp_path, *common, "--features=brunton2013", "--weights=" + "+".join(map(str, values)))
    plain = analyse_json(tmp_path, *common, "--weights=" + "+".join(map(str, values)))  # the first set is that one
    for found in (given, plain):
        assert [move["move"] for move in found["moves"]] == [move["move"] for move in learned["moves"]]
        np.testing.assert_allclose(found["value"], learned["value"], atol=1e-6)
    best = learned["moves"][0]
    board = ["- - - -"] * 4
    row, column = map(int, best["move"].split())
    board[row] = " ".join("W" if place == column else "-" for place in range(4))
    after = game.from_text("\n".join(["4", *board, "B"]))
    want = linear.Linear(game, "brunton2013")(jnp.array(values), after, jnp.int32(0))[0]
    np.testing.assert_allclose(best["value"][0], want, atol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--net=nowhere"], "net='nowhere' does not exist; expected a run directory"),
        (["--net={path}", "--weights=1"], "net= and weights= are given, and each says how positions are valued"),
        (["--net={path}", "--game=connect_four"], "learned tic_tac_toe, not connect_four, and cannot play it"),
        (["--net={path}", "--evaluation=none"], "evaluation= and net= are given, and each says how"),
        (["--learned=nothing"], "learned=nothing is not a file of weights"),
        (["--features=some"], "has no features to weight"),
        (["--multi=-1"], "--multi=-1 is no number of moves"),
    ],
)
def test_mistakes(path: pathlib.Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str) -> None:
    argv = ["analyse", *(argument.format(path=path) for argument in arguments)]
    with pytest.raises(SystemExit) as stop:
        cli.run(analyse.main, analyse.Config, more=analyse.options_of, argv=argv)
    assert stop.value.code == 2
    assert words in capsys.readouterr().err
