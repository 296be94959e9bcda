"""Files of results: what is whole is read, what is cut off is dropped, what is foreign is refused."""

from __future__ import annotations

import json
import os
import pathlib

import pytest

from boardrl.errors import UserError
from boardrl.runs.saved_results import Kept

SETTINGS = {"game": "pig", "seed": 3, "players": ("a", "b")}


def test_rows_are_there_again_and_a_cut_line_is_dropped(tmp_path):
    path = tmp_path / "made" / "rows.jsonl"
    kept = Kept(path)
    kept.add("a", [1, 2.5])
    kept.add("b", {"c": None})
    with path.open("a") as file:
        file.write('{"key": "d", "fou')  # killed in the midst of a line
    again = Kept(path)
    assert again.rows == {"a": [1, 2.5], "b": {"c": None}}
    again.add("d", 7)  # begins a line of its own
    assert Kept(path).rows == {"a": [1, 2.5], "b": {"c": None}, "d": 7}


def test_settings_come_first_and_only_with_a_row(tmp_path):
    path = tmp_path / "rows.jsonl"
    kept = Kept(path, SETTINGS)
    assert not path.exists()  # nothing that a mistake in the command would leave behind
    kept.add("a", 1)
    assert json.loads(path.read_text().splitlines()[0]) == {"settings": {**SETTINGS, "players": ["a", "b"]}}
    with pytest.raises(UserError, match="is in use by another process"):
        Kept(path, SETTINGS)
    del kept
    assert Kept(path, SETTINGS).rows == {"a": 1}
    with pytest.raises(
        UserError, match=r"was started with seed=3, not 4; give the settings that it was started with, or"
    ):
        Kept(path, {**SETTINGS, "seed": 4})


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("# A text of mine\nwith lines\n", 1),
        ("no end of line", 1),
        ("[1, 2]\n", 1),
        ("[" * 100_000 + "\n", 1),
        ('{"settings": {"game": "pig", "seed": 3, "players": ["a", "b"]}}\n{"key": [1], "found": 1}\n', 2),
        ('{"settings": {"game": "pig", "seed": 3, "players": ["a", "b"]}}\n{"key": "a", "found": NaN}\n', 2),
        ('{"some": "json"}\n', 1),
        ('{"settings": {"game": "pig", "seed": 3, "players": ["a", "b"]}}\n{"key": "a"}\n', 2),
        ('{"settings": {"game": "pig", "seed": 3, "players": ["a", "b"]}}\n\x00\x00{}\n{"key": "a", "found": 1}\n', 2),
    ],
)
def test_other_files_are_refused_and_left_as_they_are(tmp_path, content, line):
    path = tmp_path / "mine.txt"
    path.write_text(content)
    with pytest.raises(UserError, match=f"is damaged or not a file of results: line {line} is not a row of results"):
        Kept(path, SETTINGS)
    assert path.read_text() == content


def test_what_is_no_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", pathlib.Path("/dev/zero")):
        with pytest.raises(UserError, match="cannot be read: it is not a regular file; name another file"):
            Kept(path)
        with pytest.raises(UserError, match="cannot be"):
            Kept(path, SETTINGS)
