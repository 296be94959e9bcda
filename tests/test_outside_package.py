"""A game, an algorithm and a searcher of another package, used by their names in the commands."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from boardrl.errors import UserError
from games.pig import Pig
from games.tic_tac_toe import TicTacToe
from search import searchers

ROOT = pathlib.Path(__file__).parent.parent
POINTS = """
[boardrl.games]
subtraction = outside_game:Subtraction
[boardrl.algorithms]
outside_td = linear_learner
[boardrl.searchers]
lookahead = outside_searcher:LOOKAHEAD
broken_search = outside_searcher:MISSING
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder on Python's path as pip leaves it."""
    folder = tmp_path_factory.mktemp("outside")
    for source in ("outside/outside_game.py", "outside/outside_searcher.py", "linear_learner.py"):
        shutil.copy(ROOT / "tests" / "support" / source, folder)
    information = folder / "outside-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: outside\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(POINTS)
    return folder


def run(folder, command, *flags, code=0):
    env = dict(os.environ, PYTHONPATH=os.pathsep.join([str(folder), str(ROOT)]))
    done = subprocess.run(
        [sys.executable, "-m", f"launch.{command}", *flags], cwd=folder, env=env, capture_output=True, text=True
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_training_and_matches_by_name(folder):
    game = "--game=subtraction:pieces=3"
    run(
        folder,
        "train",
        game,
        "--algo=outside_td",
        "--games=16",
        "--evaluate_games=8",
        "--evaluate_every=16",
        "--final_games=8",
    )
    (path,) = (folder / "runs").glob("*outside_td*")
    assert json.loads((path / "config.json").read_text())["algo"] == "outside_td"
    text = run(folder, "evaluate", game, f"--players=lookahead(depth=1),{path}", "--games=8")
    # Who moves first can take all three pieces, which one turn of looking ahead sees: it wins all 4 games of seat 0.
    assert re.search(r"lookahead\(depth=1\) +│ +0 │ +4 │ +4 │", text), text


def test_analysis_by_name(folder):
    text = run(folder, "analyse", "--game=subtraction:pieces=3", "--searcher=lookahead", "--depth=1")
    assert re.search(r"^value   \+1 -1 \(by playouts\(games=8\)\)", text, re.MULTILINE), text
    assert re.search(r"^line    2$", text, re.MULTILINE), text


def test_refusals_and_suggestions_know_the_searcher(folder, monkeypatch):
    monkeypatch.syspath_prepend(folder)
    with pytest.raises(
        UserError, match=r"^lookahead plays games of two players, and pig has 3; use maxn, mcts or paranoid$"
    ):
        searchers.refuse("lookahead", Pig(players=3))
    with pytest.raises(UserError, match="searcher 'broken_search' cannot be loaded from 'outside_searcher:MISSING'"):
        searchers.find("broken_search")
    with pytest.raises(
        UserError, match="unknown searcher 'lokahead' \\(did you mean 'lookahead'\\?\\); known searchers: alp"
    ):
        searchers.find("lokahead")
    assert {"lookahead", "negascout"} <= set(searchers.fitting(TicTacToe())) < set(searchers.names())  # but the broken
