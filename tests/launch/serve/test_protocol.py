"""The server's protocol: games played by messages, and messages that are refused and change nothing."""

from __future__ import annotations

import pathlib
import time

import pytest
from browser_tab import connected, opened
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from launch.serve import app, connection, messages, security, tab
from launch.serve.security import Gate
from launch.serve.service import Service, Start


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    made = Service(Start("tic_tac_toe", ("human", "random")), runs=tmp_path_factory.mktemp("runs"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def client(service):
    with TestClient(app.make(service, Gate("127.0.0.1")), base_url="http://127.0.0.1:8000") as made:
        yield made


def test_a_game_is_played_to_its_end(client):
    with opened(client) as browser:
        assert browser.game["game"] == "tic_tac_toe"
        assert browser.game["drawn"]
        assert browser.game["board"].count('data-cell="c') == 9
        browser.send("pace", delay=0, paused=False, again=False)
        seen = browser.step
        assert [one["clicks"] for one in seen["actions"]] == [[f"c{cell}"] for cell in range(9)]
        while seen["actions"]:
            browser.move(seen["actions"][0]["action"])
            seen = browser.my_turn()
        assert seen["actor"] == -2
        assert sorted(seen["returns"]) in ([-1, 1], [0, 0])
        assert seen["can_undo"]
        browser.send("save")
        saved = browser.until("saved")["replay"]
        assert saved["result"]["returns"] == seen["returns"]
        assert len(saved["moves"]) == seen["step"]


def test_what_is_malformed_out_of_turn_or_for_another_session_changes_nothing(client):
    with opened(client) as browser:
        before = browser.step["position"]
        sentences = {
            "no JSON": ["{", "[1", "\x00", "NaN", "[" * 100_000],
            "no known type": ["[]", "7", '"move"', "{}", {"type": 4}, {"type": "_take"}, {"type": "drive"}],
            "is missing": [{"type": "move", "step": 0}, {"type": "new"}, {"type": "pace", "delay": 3}],
            "unknown field": [{"type": "undo", "step": 0}, {"type": "move", "step": 0, "action": 1, "__class__": 1}],
            "not what it should be": [
                {"type": "move", "step": "0", "action": 1},
                {"type": "move", "step": 0, "action": True},
                {"type": "move", "step": 0, "action": -1},
                {"type": "move", "step": 0, "action": 1e3},
                {"type": "pace", "delay": 10**9, "paused": False, "again": False},
                {"type": "new", "game": "x" * 5000},
                {"type": "show", "step": 0, "session": 7},
            ],
            "another session": [{"type": "move", "step": 0, "action": 1, "session": "somebody"}],
            "is for step 5": [{"type": "move", "step": 5, "action": 1}],
            "not a legal move": [{"type": "move", "step": 0, "action": 9}],
            "nothing to take back": [{"type": "undo"}],
            "was said already": [{"type": "hello"}],
            "no step 3": [{"type": "show", "step": 3}, {"type": "think", "step": 3, "player": "random"}],
            "too long": ["x" * (messages.MOST_BYTES + 1)],
            "unknown game": [{"type": "new", "game": "nothing"}],
            "has 2 seats": [{"type": "seats", "seats": ["human"]}],
        }
        for wanted, texts in sentences.items():
            for text in texts:
                assert wanted in browser.refused(text), text
        browser.send("show", step=0)
        assert browser.until("frame")["position"] == before
        browser.move(4)
        assert browser.until("step")["step"] == 1


def test_not_a_persons_turn(client):
    with opened(client) as browser:
        browser.send("pace", delay=0, paused=True, again=False)
        browser.move(0)
        assert browser.until("step", step=1)["actor"] == 1
        assert "not a person's turn" in browser.refused({"type": "move", "step": 1, "action": 1})


def test_undo_goes_back_to_the_persons_move_and_the_game_repeats(client):
    with opened(client) as browser:
        browser.send("pace", delay=0, paused=False, again=False)
        browser.move(0)
        answered = browser.my_turn()
        browser.send("undo")
        assert browser.until("cut")["step"] == 0
        assert browser.my_turn()["step"] == 0
        browser.move(0)
        assert browser.my_turn()["position"] == answered["position"]


def test_a_tab_that_comes_back_goes_on(client, service):
    with opened(client) as browser:
        browser.send("pace", delay=0, paused=False, again=False)
        browser.move(4)
        position, session = browser.my_turn()["position"], browser.session
        record = {**browser.game["record"], "moves": []}
    deadline = time.monotonic() + 10
    while session not in service.kept and time.monotonic() < deadline:
        time.sleep(0.01)
    with opened(client, session=session, record=record) as again:
        assert (again.session, again.step["position"]) == (session, position)
        assert again.game["steps"][0][1] == "action 4"
        record = again.game["record"]
        # A copy of the tab takes the session over, and the first one is told.
        with opened(client, session=session) as other:
            assert (other.session, other.step["position"]) == (session, position)
            assert again.until("taken")
            with pytest.raises(WebSocketDisconnect) as closed:
                again.socket.receive_text()
            assert closed.value.code == tab.TAKEN_OVER
    # A server that was started anew knows nothing but what the browser has kept.
    with opened(client, session="before the restart", record=record) as kept:
        assert kept.step["position"] == position
        assert kept.session != "before the restart"


def test_a_kept_game_that_the_rules_do_not_allow_is_not_gone_on_with(client):
    record = {"game": "tic_tac_toe", "position": "", "seats": ["human", "human"], "seed": 1, "outcomes": []}
    with opened(client, record={**record, "moves": [0, 0]}) as browser:
        assert browser.step["step"] == 0
        assert "could not be gone on with" in browser.until("error")["text"]


def test_a_link_sets_a_position_up(client):
    with opened(client, game="tic_tac_toe", position="XX. OO. ... 0") as browser:
        assert browser.step["position"] == "XX. OO. ... 0"
        browser.move(2)
        end = browser.until("step", step=1)
        assert end["returns"] == [1, -1]
        browser.send("save")
        assert "cannot be saved" in browser.until("error")["text"]
    with opened(client, game="tic_tac_toe", position="XX. OO. 0") as browser:
        assert "bad position" in browser.until("error")["text"]


def test_too_many_messages_are_refused_and_then_cut_off(client, monkeypatch):
    monkeypatch.setattr(security, "PER_SECOND", 0.0)  # however slow the machine is

    def read_all(browser):
        while True:
            browser.socket.receive_text()

    with opened(client) as browser:
        for _ in range(int(security.BURST) + security.MOST_EXCESS + 50):
            browser.send("show", step=0)
        with pytest.raises(WebSocketDisconnect) as closed:
            read_all(browser)
        assert closed.value.code == connection.TOO_FAST


def test_the_page_is_served_and_nothing_else(client):
    page = client.get("/")
    assert page.status_code == 200
    assert page.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
    names = [file.name for file in (pathlib.Path(app.__file__).parent / "page").iterdir()]
    assert len(names) > 6
    for name in names:
        assert client.get(f"/{name}").status_code == 200
        assert "http" not in client.get(f"/{name}").text.replace("http://www.w3.org/2000/svg", "").replace("https:", "")
    for path in ("/app.py", "/../app.py", "/..%2fapp.py", "/page/main.js", "/%2e%2e/app.py", "/etc/passwd", "/runs"):
        assert client.get(path).status_code == 404


@pytest.mark.parametrize(
    ("headers", "why"),
    [
        ({"origin": "http://evil.example"}, "another web page"),
        ({"origin": "null"}, "another web page"),
        ({"origin": "http://127.0.0.1:9000"}, "another web page"),
        ({"host": "evil.example:8000", "origin": "http://evil.example:8000"}, "names of this machine"),
    ],
)
def test_a_foreign_page_cannot_connect(client, headers, why):
    assert why in Gate("127.0.0.1").refusal({"host": "127.0.0.1:8000", **headers}, {}, socket=True)
    with pytest.raises(WebSocketDisconnect), connected(client, **headers):
        pass


def test_other_machines_need_the_token(service):
    gate = Gate("0.0.0.0", "secret")
    with TestClient(app.make(service, gate), base_url="http://box:8000") as client:
        assert client.get("/").status_code == 403
        assert client.get("/?token=wrong").status_code == 403
        with pytest.raises(WebSocketDisconnect), connected(client):
            pass
        assert client.get("/?token=secret").status_code == 200
        assert client.get("/main.js").status_code == 200  # by the cookie
        with opened(client) as browser:
            assert browser.step["step"] == 0


@pytest.mark.parametrize(
    ("host", "local"), [("127.0.0.1", True), ("localhost", True), ("::1", True), ("0.0.0.0", False), ("box", False)]
)
def test_only_this_machine_needs_no_token(host, local):
    assert security.is_local(host) == local
