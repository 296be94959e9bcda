"""The commands around replays: record, show, verify, review; and matches without luck on the command line."""

from __future__ import annotations

import json

import pytest

from launch import check, cli, evaluate, play, review

GAME = "--game=pig:target=6"


@pytest.fixture(autouse=True)
def _no_compile_cache(monkeypatch):
    monkeypatch.setattr(cli, "_use_compile_cache", lambda: None)


def run(command, *flags: str) -> int:
    settings = getattr(command, "Settings", None)
    with pytest.raises(SystemExit) as ended:
        cli.run(command.main, settings, argv=[command.__name__, *flags])
    return ended.value.code


@pytest.fixture
def replay(tmp_path):
    path = tmp_path / "game.json"
    assert run(play, GAME, "--players=hold(total=3),random", "--seed=2", f"--record={path}") == 0
    return path


def test_a_recorded_game_is_shown_and_verified(tmp_path, capsys):
    replay = tmp_path / "game.json"
    assert run(play, GAME, "--players=hold(total=3),random", "--seed=2", f"--record={replay}") == 0
    played = capsys.readouterr().out
    content = json.loads(replay.read_text())
    assert (content["game"], content["options"]) == ("pig", "target=6")
    assert content["players"] == ["hold(total=3)", "random"]
    assert run(play, f"--replay={replay}") == 0
    assert capsys.readouterr().out == played
    assert run(check, f"--replay={replay}") == 0
    steps = len(content["moves"]) + len(content["outcomes"])
    assert f"pig:target=6, {steps} steps by the rules, over, returns " in capsys.readouterr().out
    content["outcomes"][0] = 9
    replay.write_text(json.dumps(content))
    for command in (check, play):
        assert run(command, f"--replay={replay}") == 2
        assert "step 2 has the outcome 9; the rules allow 0, 1, 2, 3, 4, 5" in capsys.readouterr().err


def test_a_review_by_exact_values(replay, tmp_path, capsys):
    numbers, picture = tmp_path / "review.json", tmp_path / "review.png"
    assert run(review, GAME, f"--replay={replay}", "--exact", f"--json={numbers}", f"--png={picture}") == 0
    printed = capsys.readouterr().out
    found = json.loads(numbers.read_text())
    assert picture.read_bytes()[:4] == b"\x89PNG"
    assert found["judge"] == "exact"
    content = json.loads(replay.read_text())
    assert len(found["decisions"]) == len(content["moves"])
    assert len(found["rolls"]) == len(content["outcomes"])
    for total in found["totals"]:
        mine = [row["loss"] for row in found["decisions"] if row["seat"] == total["seat"]]
        assert sum(mine) == pytest.approx(total["loss"])
        assert f"{total['loss']:.4f}" in printed
        luck = sum(row["luck"][total["seat"]] for row in found["rolls"])
        assert total["adjusted"] == pytest.approx(total["result"] - luck)


def test_with_is_by():
    assert review.with_as_by(["x", "--with=a,depth=2", "--within=3"]) == ["x", "--by=a,depth=2", "--within=3"]


def test_a_match_without_luck_in_table_and_json(tmp_path, capsys):
    path = tmp_path / "out.json"
    flags = [GAME, "--players=hold(total=3),random", "--games=31", "--control=exact", "--duplicate"]
    assert run(evaluate, *flags, f"--json={path}", f"--record={tmp_path / 'games'}") == 0
    printed = capsys.readouterr().out
    stored = json.loads(path.read_text())
    assert (stored["games"], stored["observations"], stored["duplicate"]) == (32, 16, True)
    adjusted = stored["players"][0]["adjusted"]
    assert adjusted["factor"] > 1
    assert f"÷ {adjusted['factor']:.3g}" in printed
    assert "without luck, by exact" in printed
    assert "the intervals rest on 16 groups of games" in printed
    assert len(list((tmp_path / "games").iterdir())) == 32
    assert run(check, f"--replay={tmp_path / 'games' / 'game-5.json'}") == 0


@pytest.mark.parametrize(
    ("command", "flags", "says"),
    [
        (evaluate, ["--game=tic_tac_toe", "--players=random,random", "--control=exact"], "leaves nothing to dice"),
        (evaluate, ["--game=tic_tac_toe", "--players=random,random", "--duplicate"], "has no dice that games could"),
        (evaluate, [GAME, "--players=random,random", "--control=bset"], "neither a run nor a value of pig"),
        (evaluate, [GAME, "--players=random,random", "--sprt=2,0"], "--sprt=2,0 is no pair of edges"),
        (evaluate, [GAME, "--players=random,random", "--until=-1"], "--until=-1 is no half width"),
        (evaluate, [GAME, "--players=random,random", "--record=d", "--resume=f"], "leave one out"),
        (review, [GAME], "no replay is given"),
        (review, ["--replay=none.json", "--exact"], "does not exist"),
        (review, ["--replay=none.json"], "expected one judge"),
        (play, ["--replay=none.json", "--players=random,random"], "a replay is only shown"),
    ],
)
def test_mistakes_are_one_sentence(command, flags, says, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(command, *flags) == 2
    err = capsys.readouterr().err
    assert says in err
    assert err.count("\n") == 1


def test_judges_that_make_no_sense_are_refused(replay, capsys):
    for judge, says in (
        ("exact,depth=2", "exact values need no depth"),
        ("expectimax", "judge 'expectimax' has no limit"),
        ("expectimax(depth=1),depth=2", "a searcher has its options in parentheses"),
        ("exact,depth=99", "depth=99 is no number of turns"),
        ("nobody", "neither a run nor a value of pig"),
    ):
        assert run(review, f"--replay={replay}", f"--by={judge}") == 2
        assert says in capsys.readouterr().err


def test_a_searcher_judges(replay, capsys):
    assert run(review, f"--replay={replay}", "--by=expectimax(depth=2,evaluation=none)") == 0
    assert "judged by expectimax(depth=2,evaluation=none)" in capsys.readouterr().out
