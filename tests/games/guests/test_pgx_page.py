"""A guest on the page of launch.serve, by its protocol: boards as text, moves by name, a game to its end."""

from __future__ import annotations

import pathlib

from browser_tab import opened
from starlette.testclient import TestClient

from launch.serve import app
from launch.serve.security import Gate
from launch.serve.service import Service, Start


def test_a_guest_is_played_on_the_page(tmp_path: pathlib.Path) -> None:
    service = Service(Start("pgx_tic_tac_toe", ("human", "random")), runs=tmp_path)
    with (
        TestClient(app.make(service, Gate("127.0.0.1")), base_url="http://127.0.0.1:8000") as client,
        opened(client) as browser,
    ):
        browser.send("pace", delay=0, paused=False, again=False)
        seen = browser.step
        assert not browser.game["drawn"]
        assert seen["lines"] == "3 . . .\n2 . . .\n1 . . .\n  a b c"
        assert [one["text"] for one in seen["actions"]] == ["a3", "b3", "c3", "a2", "b2", "c2", "a1", "b1", "c1"]
        while seen["actions"]:
            browser.move(seen["actions"][0]["action"])
            seen = browser.my_turn()
        browser.send("save")
        assert browser.until("saved")["replay"]["result"]["returns"] == seen["returns"]
    service.close()
