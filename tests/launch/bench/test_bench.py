"""The benchmark's own arithmetic, and its suite on a tiny batch."""

import json

import pytest

from boardrl.errors import UserError
from launch import cli
from launch.bench import __main__ as bench
from launch.bench.row import Row


def test_the_ratio_is_taken_within_each_round():
    ours, peers = iter([10.0, 20.0, 60.0]), iter([5.0, 5.0, 10.0])
    ticks = []
    result = bench.measure(
        Row("work", "steps/s", lambda: next(ours), "peer", lambda: next(peers)), bench.Config(rounds=3), ticks.append
    )
    assert result == {
        "name": "work",
        "unit": "steps/s",
        "ours": 20.0,
        "peer_name": "peer",
        "peer": 5.0,
        "ratio": 4.0,
        "ratio_low": 2.0,
        "ratio_high": 6.0,
    }
    assert ticks == [1, 2, 3]


def test_rows_without_a_peer_have_no_ratio():
    result = bench.measure(Row("work", "steps/s", lambda: 7.0), bench.Config(rounds=1), lambda _: None)
    assert result == {"name": "work", "unit": "steps/s", "ours": 7.0}


def test_only_the_rows_asked_for_are_measured(monkeypatch, capsys):
    made = [Row("apples", "a/s", lambda: 7.0), Row("pears", "p/s", lambda: 9.0)]
    monkeypatch.setitem(bench.SUITES, "fruit", lambda batch: made)
    bench.main(bench.Config(suite="fruit", only="pear", rounds=1))
    shown = capsys.readouterr().out
    assert "pears" in shown
    assert "apples" not in shown
    with pytest.raises(UserError, match="--only=plum names no row of fruit; rows: apples; pears"):
        bench.main(bench.Config(suite="fruit", only="plum"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [(["--suite=dance"], "unknown suite 'dance'; known suites: simulate"), (["--rounds=0"], "--rounds=0")],
)
def test_mistakes(capsys, arguments, words):
    with pytest.raises(SystemExit) as stop:
        cli.run(bench.main, bench.Config, argv=["bench", *arguments])
    assert stop.value.code == 2
    assert words in capsys.readouterr().err


def test_json_is_not_overwritten(tmp_path, capsys):
    path = tmp_path / "out.json"
    path.write_text(json.dumps("mine"))
    with pytest.raises(SystemExit) as stop:
        cli.run(bench.main, bench.Config, argv=["bench", f"--json={path}"])
    assert stop.value.code == 2
    assert "exists; choose another name" in capsys.readouterr().err
    assert path.read_text() == '"mine"'
