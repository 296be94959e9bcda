import io
import re

import pytest
import rich.console

from boardrl.runs import progress


class Clock:
    now = 100.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    return clock


def test_short_work_shows_nothing(clock, capfd):
    with progress.track("train", 10, "games") as bar:
        bar.update(9, "loss 1")
        clock.now += 1.9
        bar.update(10, "loss 1")
    assert capfd.readouterr() == ("", "")


def test_plain_lines_with_rate_and_time_left(clock, capfd):
    with progress.track("train", 10_000, "games", done=1000) as bar:
        clock.now += 3
        bar.update(4000, "loss 0.5")
        clock.now += 5  # too soon for another line
        bar.update(5000, "loss 0.4")
        clock.now += 5
        bar.update(7500, "loss 0.3")
    assert capfd.readouterr().err.splitlines() == [
        "train: 4,000/10,000 games  1,000 games/s  0:06 left  loss 0.5",
        "train: 7,500/10,000 games  500 games/s  0:05 left  loss 0.3",
    ]


def test_a_restart_forgets_how_long_compiling_took(clock, capfd):
    with progress.track("train", 1000, "games") as bar:
        clock.now += 50
        bar.restart(100)
        clock.now += 4
        bar.update(300)
    assert capfd.readouterr().err == "train: 300/1,000 games  50 games/s  0:14 left\n"


def test_more_than_was_wanted_leaves_no_time_below_zero(clock, capfd):
    with progress.track("train", 1000, "games") as bar:
        clock.now += 4
        bar.update(1200)
    assert capfd.readouterr().err == "train: 1,200/1,000 games  300 games/s  0:00 left\n"


def test_a_part_speaks_through_the_whole(clock, capfd):
    with progress.track("train", 1000, "games") as bar:
        bar.update(500)
        clock.now += 5
        bar.part("against random", 2000).update(1234)
    assert capfd.readouterr().err == "train: 500/1,000 games  100 games/s  0:05 left  against random 1,234/2,000\n"


def test_the_rest_counts_on_from_what_was_done(clock, capfd):
    with progress.track("playing", 1000, "games", done=400) as bar:
        clock.now += 5
        bar.rest(400).update(100)
    assert capfd.readouterr().err == "playing: 500/1,000 games  20 games/s  0:25 left\n"


def test_a_terminal_of_80_columns_has_room_for_bar_and_note(clock):
    screen = io.StringIO()
    with progress.track("train", 1_000_000, "games") as bar:
        bar._console = rich.console.Console(file=screen, force_terminal=True, width=80, legacy_windows=False)
        clock.now += 5
        bar.update(500_000, "loss 0.5  vs random 88.0 % [85.8, 89.9]")
        bar._live.refresh()
    lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen.getvalue()).replace("\r", "\n").splitlines()
    assert any(re.match(r"train ━+.* 500,000/1,000,000 games  100,000 games/s  0:05 left", line) for line in lines)
    assert any(line.strip() == "loss 0.5  vs random 88.0 % [85.8, 89.9]" for line in lines)


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0:00"), (65, "1:05"), (3723, "1:02:03"), (float("inf"), "?")])
def test_clock(seconds, text):
    assert progress.clock(seconds) == text
