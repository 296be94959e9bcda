"""Thoughts, judgements, runs, replays and a hundred tabs, by messages."""

from __future__ import annotations

import contextlib
import json
import pathlib
import resource
import shutil
import time

import pytest
from browser_tab import Browser, connected, opened
from starlette.testclient import TestClient

from launch.serve import app, service
from launch.serve.security import Gate
from launch.serve.service import Service, Start

RUN = pathlib.Path(__file__).parents[2] / "data" / "former_runs" / "td_lambda"
MANY = 100


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    made = Service(Start("tic_tac_toe", ("human", "random")), runs=folder)
    with TestClient(app.make(made, Gate("127.0.0.1")), base_url="http://127.0.0.1:8000") as client:
        yield client, made, folder
    made.close()


def test_a_hundred_tabs(served):
    """All play at once: every move is answered, each tab has its own game, and what they leave behind is small."""
    client, made, _ = served
    with contextlib.ExitStack() as stack:
        tabs = [Browser(stack.enter_context(connected(client))) for _ in range(MANY)]
        assert len({tab.session for tab in tabs}) == len(made.tabs) == MANY
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for tab in tabs:
            tab.send("pace", delay=0, paused=False, again=False)
        for number, tab in enumerate(tabs):
            tab.move(number % 9)
        for number, tab in enumerate(tabs):
            seen = tab.my_turn()
            assert seen["step"] == 2
            assert seen["position"].replace(" ", "")[number % 9] == "X"
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        assert grown < 100  # megabytes
    deadline = time.monotonic() + 20
    while made.tabs and time.monotonic() < deadline:
        time.sleep(0.02)
    assert (made.tabs, made.num_tabs) == ({}, 0)
    assert sum(len(json.dumps(record)) for record in made.kept.values()) < 300 * len(made.kept)


def test_a_server_forgets_the_oldest_games(served, monkeypatch):
    _, made, _ = served
    monkeypatch.setattr(service, "MOST_KEPT", 3)
    for number in range(5):
        made.keep(f"s{number}", {})
    assert list(made.kept) == ["s2", "s3", "s4"]


def test_thoughts_come_depth_by_depth_and_end_with_the_tab(served):
    client, made, _ = served
    with opened(client) as browser:
        browser.send("think", player="negascout(evaluation=none)", step=0)
        depths, found, last = [], {}, {}
        while not found.get("done"):
            found = browser.until("thought")
            depths += [found["depth"]] if "depth" in found else []
            last = found if "depth" in found else last
        assert depths == list(range(1, 10))
        assert last["exact"]
        assert last["value"] == [0, 0]
        assert len(last["moves"]) == 5
        browser.send("line", step=0, actions=last["moves"][0]["actions"])
        assert len(browser.until("line")["frames"]) == len(last["moves"][0]["actions"]) == 9
        assert "not a legal move in this line" in browser.refused({"type": "line", "step": 0, "actions": [0, 0]})
        browser.send("think", player="random", step=0)
        assert "has no values of positions" in browser.until("error")["text"]
        browser.send("think", player="mcts(ms=100)", step=0)  # goes on for a minute, if nobody stops it
        browser.until("thought", evaluation="playouts(games=1)")
    deadline = time.monotonic() + 20
    while made._analyses._work_queue.qsize() or (any(made.tabs) and time.monotonic() < deadline):
        time.sleep(0.02)
    with opened(client, game="tic_tac_toe", position="XX. OO. ... 0") as other:  # its threads are free again
        other.send("think", player="negascout(evaluation=none)", step=0)
        assert other.until("thought", exact=True)["value"] == [1, -1]


def test_losses_and_luck_of_every_step(served):
    client, _, _ = served
    with opened(client, game="pig:target=6") as browser:
        browser.send("pace", delay=0, paused=False, again=False)
        browser.send("new", game="pig:target=6", seats=["random", "random"], seed=3)
        assert browser.until("game")["record"]["seed"] == 3
        end = browser.until("step", actor=-2)
        browser.send("judge", player="expectimax(depth=1,evaluation=none)")
        found = [browser.until("judged") for _ in range(end["step"] + 1)]
    assert [one["step"] for one in found] == list(range(end["step"] + 1))
    assert found[-1]["value"] == end["returns"]
    kinds = [one["kind"] for one in found]
    assert {"roll", "decision", "end"} == set(kinds)
    for one in found:
        if one["kind"] == "roll":
            assert sum(one["luck"]) == pytest.approx(0, abs=1e-3)  # one wins what the other loses
        if one["kind"] == "decision":
            assert one["loss"] >= 0


def test_a_run_is_watched_as_it_grows(served):
    client, _, folder = served
    shutil.copytree(RUN, folder / "run")
    log = folder / "run" / "metrics.jsonl"
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(lines[:1]))
    with opened(client) as browser:
        browser.send("runs")
        (listed,) = browser.until("runs")["runs"]
        assert (listed["run"], listed["game"].partition(":")[0]) == ("runs/run", "tic_tac_toe")
        browser.send("run", run="runs/run")
        first = browser.until("run")
        count = len(first["strength"]) + len(first["losses"])
        assert count == 1
        with log.open("a") as file:
            file.write("".join(lines[1:]) + '{"kind": "train", "upda')  # a line that is being written
        grown = browser.until("run")
        assert len(grown["strength"]) + len(grown["losses"]) == len(lines)
        assert "no run below" in browser.refused({"type": "run", "run": "runs/../../secret"}).replace(
            "is no run;", "no run below"
        )
        # Its newest checkpoint plays.
        browser.send("pace", delay=0, paused=False, again=False)
        browser.send("new", game=listed["game"], seats=["human"], rest="runs/run")
        assert browser.until("game")["record"]["seats"] == ["human", "runs/run"]
        browser.step = browser.until("step")
        browser.move(4)
        assert browser.my_turn()["step"] == 2


def test_a_replay_is_shown_and_not_played(served):
    client, _, _ = served
    replay = {
        "kind": "boardrl replay", "format": 1, "game": "tic_tac_toe", "options": "", "players": ["<a>", "b"],
        "seed": 0, "number": 0, "moves": [0, 3, 1, 4, 2], "outcomes": [], "result": {"returns": [1, -1], "cut": False},
    }  # fmt: skip
    with opened(client) as browser:
        browser.send("open", replay=replay)
        game = browser.until("game")
        assert (game["names"], len(game["steps"])) == (["<a>", "b"], 5)
        assert browser.until("step")["returns"] == [1, -1]
        assert "a replay is shown" in browser.refused({"type": "undo"})
        assert "not those of its rules" in browser.refused({"type": "open", "replay": {**replay, "outcomes": [1]}})
        assert "not a legal move" in browser.refused({"type": "open", "replay": {**replay, "moves": [0, 0]}})
        assert "cannot be read as a replay" in browser.refused({"type": "open", "replay": {"game": "tic_tac_toe"}})
        browser.send("show", step=5)
        assert browser.until("frame")["position"] == "XXX OO. ... 1"
