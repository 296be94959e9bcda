"""The page in a real browser: games played by clicks and keys, thoughts, undo, reloads, a server that is killed."""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from urllib.parse import urlencode

import pytest

ROOT = pathlib.Path(__file__).parents[3]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WAIT = 120_000  # milliseconds: the machine may be busy, and rules are compiled at first
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium is installed; CONTRIBUTING.md says how to get one"
)


class Server:
    """A server in a process of its own, which can be killed and started again on its port."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        with contextlib.closing(socket.socket()) as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}/"
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "launch.serve", f"--port={self.port}", "--players=human,random"]
        paths = [str(self.folder), str(ROOT), os.environ.get("PYTHONPATH", "")]
        self.process = subprocess.Popen(
            command,
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        assert self.address in self.process.stdout.readline()

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    shutil.copy(ROOT / "tests" / "support" / "outside" / "outside_game.py", folder)
    facts = folder / "outside-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: outside\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[boardrl.games]\nsubtraction = outside_game:Subtraction\n")
    made = Server(folder)
    yield made
    made.kill()


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=FLAGS)
        yield made
        made.close()


@pytest.fixture
def open_page(browser, server):
    """Opens tabs; whatever the browser complains about is an error."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    complaints = []

    def make(link="", speed="0"):
        page = context.new_page()
        page.set_default_timeout(WAIT)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.goto(server.address + link)
        page.wait_for_selector('body[data-link="open"]')
        page.select_option("#speed", speed)
        return page

    make.complaints = complaints
    yield make
    context.close()
    assert complaints == []


def link(game, position=""):
    return "#" + urlencode({"game": game, **({"position": position} if position else {})})


def seat(page, *players):
    for number, player in enumerate(players):
        page.fill(f'[data-seat="{number}"]', player)
    page.click("#seats-form button")


def until(page, condition):
    """Waits for a condition; the page's policy forbids the texts of code that Playwright would run itself."""
    end = time.monotonic() + WAIT / 1e3
    while not page.evaluate(condition):
        assert time.monotonic() < end, f"{condition}: {page.inner_text('#says')}; {page.inner_text('#problem')}"
        page.wait_for_timeout(30)


def counted(page, steps):
    until(page, f"document.querySelector('#count').textContent === '{steps} / {steps}'")


def listed(page, least):
    until(page, f"document.querySelectorAll('#history li').length >= {least}")


def my_turn(page):
    page.wait_for_selector("#board .can, #choices button")


def over(page):
    until(page, "document.querySelector('#says').textContent.includes('the game is over')")
    return page.inner_text("#says")


def count(page):
    return page.inner_text("#count")


def test_a_persons_game_of_tic_tac_toe(open_page):
    page = open_page()
    assert page.locator("[data-cell]").count() == 9
    page.click('[data-cell="c4"]', force=True)
    moves = 1
    while True:
        said = "document.querySelector('#says').textContent.includes('over')"
        turn = f"document.querySelector('#count').textContent === '{2 * moves} / {2 * moves}'"
        until(page, f"{said} || {turn} && document.querySelector('#board .can') !== null")
        if page.evaluate(said):
            break
        page.locator("#board .can").first.click(force=True)
        moves += 1
    assert re.search(r"seat \d, (human|random) wins|a draw", over(page))
    assert page.locator("#board .can").count() == 0


def test_the_keyboard_plays_too(open_page):
    page = open_page()
    page.focus('[data-cell="c4"]')
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.dataset.cell") == "c1"
    assert page.get_attribute('[data-cell="c1"]', "aria-label") == "row 1, column 2: action 1"
    page.keyboard.press("Enter")
    counted(page, 2)
    page.keyboard.press("u")
    counted(page, 0)
    page.keyboard.press("1")  # the first move of the list
    counted(page, 2)
    assert page.inner_text("#history li:first-child") == "seat 0: action 0"


def test_a_chain_in_jumper(open_page):
    board = "5\nW B - - -\n- - - B -\n- - - - -\n- - - - -\n- - - - -\nW"
    page = open_page(link("jumper:size=5", board))
    seat(page, "human", "random")
    page.wait_for_selector('[data-cell="c0"].can')
    page.click('[data-cell="c0"]', force=True)  # the piece that hops
    assert page.locator(".chosen").count() == 1
    page.click('[data-cell="c2"]', force=True)  # where it lands: it takes the black piece
    page.wait_for_selector('#choices button:has-text("stops")')
    assert [part.get_attribute("data-cell") for part in page.locator("#board .can").all()] == ["c14"]
    assert "hops on from 0 2 or stops" in page.text_content("#board")
    page.click('[data-cell="c14"]', force=True)
    listed(page, 2)
    assert page.inner_text("#history li:nth-child(2)") == "seat 0: hops 0 2 to 2 4"
    # Taken back, the turn ends with the button instead.
    my_turn(page)
    while page.locator('#choices button:has-text("stops")').count() == 0:
        page.keyboard.press("u")
        until(page, "document.querySelectorAll('#history li').length <= 1")
        my_turn(page)
    page.click('#choices button:has-text("stops")')
    listed(page, 3)
    assert page.inner_text("#history li:nth-child(2)") == "seat 0: stops"


def test_a_whole_game_of_ludo_at_high_speed(open_page):
    page = open_page(link("ludo:pieces=1"))
    seat(page, "human", "mixed", "random", "random")
    page.evaluate("""() => {
      window.clicked = 0;
      setInterval(() => {
        const part = document.querySelector("#board .can");
        if (!part) return;
        const box = part.getBoundingClientRect();
        const [clientX, clientY] = [box.x + box.width / 2, box.y + box.height / 2];
        part.dispatchEvent(new MouseEvent("click", { bubbles: true, clientX, clientY }));
        window.clicked += 1;
      }, 10);
    }""")
    said = over(page)
    assert re.search(r"seat \d, \w+ wins \(returns ", said)
    steps = int(count(page).split("/")[1])
    history = page.locator("#history li").all_inner_texts()
    assert len(history) == steps
    assert page.evaluate("window.clicked") >= sum(text.startswith("seat 0: piece") for text in history)
    assert sum("piece" in text for text in history) >= 10  # 57 squares to the goal, by rolls of six at most
    assert page.locator("#board [data-piece]").count() == 4
    page.click("#first")
    until(page, "document.querySelector('#says').textContent.startsWith('the start')")


def test_an_outside_game_without_a_picture(open_page):
    page = open_page(link("subtraction:pieces=4"))
    seat(page, "human", "random")
    page.wait_for_selector("#choices button")
    assert page.inner_text("#text-board").split() == ["left", "4", "turn", "0"]
    assert page.locator("#choices button").all_inner_texts() == ["1. action 0", "2. action 1", "3. action 2"]
    page.keyboard.press("1")
    while "over" not in page.inner_text("#says"):
        page.wait_for_selector("#choices button, #says:has-text('over')")
        if page.locator("#choices button").count():
            page.locator("#choices button").first.click(force=True)
            page.wait_for_timeout(50)
    assert "wins (returns " in over(page)


def test_thoughts_deepen_and_lines_are_shown(open_page):
    page = open_page(link("tic_tac_toe", "X.. .O. ... 0"))
    page.evaluate("""() => {
      window.depths = [];
      new MutationObserver(() => window.depths.push(Number(document.querySelector("#thought").dataset.depth)))
        .observe(document.querySelector("#thought"), { childList: true });
    }""")
    page.fill("#thinker", "negascout(evaluation=none)")
    page.click("#think")
    until(page, "document.querySelector('#thought').textContent.includes('exact')")
    depths = page.evaluate("window.depths.filter(depth => depth)")
    assert depths == sorted(depths)
    assert len(set(depths)) > 3
    assert page.locator("#lines li").count() == 5
    assert page.locator("#bars .bar").count() == 2
    before = page.inner_html("#board")
    page.locator("#lines button").first.click(force=True)
    page.wait_for_selector("#line-note")
    until(page, "document.querySelector('#line-text').textContent.startsWith('line: move')")
    assert page.inner_html("#board") != before
    page.click("#line-close")
    assert page.locator("#line-note").is_hidden()
    # A move of the game is thought about as well.
    page.click('[data-cell="c2"]', force=True)
    counted(page, 2)
    until(page, "document.querySelectorAll('#lines li').length === 5")


def test_a_game_is_judged(open_page):
    page = open_page(link("pig:target=6"))
    seat(page, "random", "random")
    over(page)
    page.fill("#judge", "expectimax(depth=1,evaluation=none)")
    page.click("#judge-on")
    steps = int(count(page).split("/")[1])
    page.wait_for_selector("#totals tbody tr")
    until(page, f"document.querySelectorAll('#history small.luck').length > {steps // 4}")
    assert page.locator("#curve polyline").count() == 2


def test_undo_and_reload(open_page):
    page = open_page()
    page.click('[data-cell="c0"]', force=True)
    counted(page, 2)
    first = page.input_value("#position")
    page.locator("#board .can").first.click(force=True)
    counted(page, 4)
    page.click("#undo")
    counted(page, 2)
    assert page.input_value("#position") == first
    page.reload()
    counted(page, 2)
    assert page.input_value("#position") == first
    my_turn(page)


def test_two_tabs_play_two_games(open_page):
    one, other = open_page(), open_page()
    one.click('[data-cell="c0"]', force=True)
    other.click('[data-cell="c8"]', force=True)
    for page in (one, other):
        counted(page, 2)
    assert one.input_value("#position")[0] == "X"
    assert other.input_value("#position")[10] == "X"


def test_what_is_shown_is_escaped(open_page):
    page = open_page(link("tic_tac_toe", '<img src=x onerror="window.evil=1">'))
    page.wait_for_selector("#problem:not([hidden])")
    assert "<img src=x" in page.inner_text("#problem")
    page.fill('[data-seat="1"]', "<b>nobody</b>")
    page.click("#seats-form button")
    until(page, "document.querySelector('#problem').textContent.includes('nobody')")
    assert page.locator("#problem b, #problem img").count() == 0
    assert page.evaluate("window.evil") is None


def test_a_killed_server_is_noticed_and_the_game_goes_on(open_page, server):
    page = open_page()
    page.click('[data-cell="c4"]', force=True)
    counted(page, 2)
    position = page.input_value("#position")
    server.kill()
    until(page, "document.querySelector('#link-text').textContent.includes('does not answer')")
    server.start()
    page.wait_for_selector('body[data-link="open"]')
    my_turn(page)
    assert (count(page), page.input_value("#position")) == ("2 / 2", position)
    page.locator("#board .can").first.click(force=True)
    until(page, "document.querySelector('#count').textContent.startsWith('4')")
    open_page.complaints[:] = [text for text in open_page.complaints if "ERR_CONNECTION_REFUSED" not in text]
