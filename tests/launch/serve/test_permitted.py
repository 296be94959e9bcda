"""What texts of the page may name: no path, no code, no run outside the folder."""

from __future__ import annotations

import pytest

from boardrl import registry
from boardrl.errors import UserError
from launch.serve import runs
from launch.serve.permitted import Permitted

GAME = registry.make("tic_tac_toe")


@pytest.fixture
def permitted(tmp_path):
    (tmp_path / "runs" / "good" / "checkpoints" / "5").mkdir(parents=True)
    (tmp_path / "secret").mkdir()
    (tmp_path / "runs" / "link").symlink_to(tmp_path / "secret")
    (tmp_path / "runs" / "file").write_text("{}")
    return Permitted(tmp_path / "runs", ("my_bots:careful",))


@pytest.mark.parametrize(
    "text",
    [
        "/etc/passwd",
        "../secret",
        "runs/../secret",
        "runs/good/../../secret",
        "runs/link",
        "runs/file",
        "runs//etc",
        "runs/",
        "runs/none",
        "runs",
        "negascout(net=/etc/passwd)",
        "negascout(net=../secret)",
        "negascout(depth=2,net=runs/../secret)",
        "negascout(learned=/etc/passwd)",
        'negascout(net="/etc/passwd")',
        "maxn(net=runs\\good)",
        ".",
        "os:system",
        "my_bots:other",
        "negascout(net=os:system)",
        "negascout(kilobytes=99999999)",
        "negascout(ms=1e9)",
    ],
)
def test_what_a_page_may_not_name(permitted, tmp_path, monkeypatch, text):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError):
        permitted.player_text(text, GAME)


def test_what_it_may_name(permitted, tmp_path):
    good = str(tmp_path / "runs" / "good")
    assert permitted.player_text(" random ", GAME) == "random"
    assert permitted.player_text("negascout(ms=200,kilobytes=1024)", GAME) == "negascout(ms=200,kilobytes=1024)"
    assert permitted.player_text("runs/good", GAME) == good
    assert permitted.player_text("runs/good/checkpoints/5", GAME) == f"{good}/checkpoints/5"
    assert permitted.player_text("maxn(depth=2,net=runs/good)", GAME) == f"maxn(depth=2,net={good})"
    assert permitted.player_text("my_bots:careful", GAME) == "my_bots:careful"  # typed on the command line


def test_games_are_registered_ones(permitted):
    assert permitted.game("pig:target=20").target == 20
    for text in ("/etc/passwd", "os:path", "nothing", "pig:target=/etc"):
        with pytest.raises(UserError):
            permitted.game(text)


def test_only_runs_are_listed(permitted):
    assert runs.listed(permitted.runs) == []  # none has a config.json
    assert runs.listed(permitted.runs / "nothing") == []
