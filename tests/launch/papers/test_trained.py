"""Papers' players trained again: once, in a run directory that a second call finds."""

import json
import shutil
import struct

import pytest

from boardrl.errors import UserError
from launch.papers import trained

FLAGS = {
    "game": "tic_tac_toe", "algo": "td_lambda", "games": 200, "hidden": 4, "lanes": 16, "window": 4, "log_every": 4,
    "evaluate_every": 100, "evaluate_games": 50, "final_games": 60,
}  # fmt: skip


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trained, "FOLDER", tmp_path_factory.mktemp("reproduce"))
        first = trained.run("figure", 3, FLAGS)
        before = (first / "metrics.jsonl").read_bytes()
        assert trained.run("figure", 3, FLAGS) == first
        assert (first / "metrics.jsonl").read_bytes() == before
        yield first


def test_the_flags_are_those_of_the_run(path):
    stored = json.loads((path / "config.json").read_text())
    assert path.name == "figure-200-s3"
    assert (stored["seed"], stored["settings"]["hidden"], stored["schedule"]["final_games"]) == (3, [4], 60)


def test_what_was_stopped_goes_on(path, tmp_path, monkeypatch):
    """A run that lacks its final evaluation, as a kill may leave it, is resumed, and ends with the same numbers."""
    monkeypatch.setattr(trained, "FOLDER", tmp_path)
    copy = tmp_path / path.name
    shutil.copytree(path, copy)
    lines = (copy / "metrics.jsonl").read_text().splitlines(keepends=True)
    (copy / "metrics.jsonl").write_text("".join(line for line in lines if '"final"' not in line))
    assert not trained.rows(copy, "final")
    assert trained.run("figure", 3, FLAGS) == copy
    assert trained.rows(copy, "final") == trained.rows(path, "final")


def test_a_run_of_other_settings_is_refused(path, tmp_path, monkeypatch):
    """As it happens when a preset has changed since: its figures are not those of the settings of today."""
    monkeypatch.setattr(trained, "FOLDER", path.parent)
    sentence = rf"'{path}' was trained with hidden=4, but it is now hidden=5; move it"
    with pytest.raises(UserError, match=sentence):
        trained.run("figure", 3, FLAGS | {"hidden": 5})
    with pytest.raises(UserError, match="trained with learning_rate="):
        trained.run("figure", 3, FLAGS | {"learning_rate": 0.5})


def test_a_setting_that_was_added_since_has_its_default(path, tmp_path, monkeypatch):
    monkeypatch.setattr(trained, "FOLDER", tmp_path)
    copy = tmp_path / path.name
    shutil.copytree(path, copy)
    stored = json.loads((copy / "config.json").read_text())
    del stored["settings"]["decay"]
    (copy / "config.json").write_text(json.dumps(stored))
    assert trained.run("figure", 3, FLAGS) == copy
    with pytest.raises(UserError, match=r"trained with decay=0\.7"):
        trained.run("figure", 3, FLAGS | {"decay": 0.5})


def test_cells_and_picture(path):
    (cell,) = trained.cells(path, "Figure 1", {"random": (66.0, 1.0)})
    (row,) = trained.rows(path, "final")
    assert (cell.row, cell.paper, cell.paper_error) == ("vs 3 random", 66.0, 1.0)
    assert cell.ours == pytest.approx(100 * row["win_rate"])
    _, best, worst = trained.cells(path, "Figure 1", {}, by_seat=True)
    assert (best.what, worst.what) == ("best seat", "worst seat")
    assert [best.ours, worst.ours] == pytest.approx([100 * max(row["seats"]), 100 * min(row["seats"])])
    assert best.high - best.low > cell.high - cell.low  # of half the games
    png = path.with_suffix(".png").read_bytes()
    assert struct.unpack(">II", png[16:24]) == (880, 495)


def test_what_a_report_says_of_what_was_learned(tmp_path):
    lines = [
        "# x",
        "",
        "## Learned",
        "",
        "|   | value |",
        "|---|---|",
        "| star | 0.6 |",
        "| lost | -0.1 |",
        "",
        "## Settings",
    ]
    (tmp_path / "report.md").write_text("\n".join([*lines, "", "| a | b |"]))
    assert trained.described(tmp_path) == {"star": "0.6", "lost": "-0.1"}
