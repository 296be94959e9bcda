"""Loggers: TensorBoard has the numbers of metrics.jsonl, once each; unknown and missing ones are sentences."""

from __future__ import annotations

import builtins

import pytest
from matplotlib import pyplot

from boardrl.errors import UserError
from boardrl.runs import loggers

ROWS = [
    {"kind": "train", "games": 10, "updates": 1, "loss": 0.5},
    {"kind": "train", "games": 20, "updates": 2, "loss": 0.25},
    {"kind": "strength", "games": 20, "updates": 2, "opponent": "random", "win_rate": 0.75, "low": 0.5, "high": 0.9,
     "points": 0.4, "played": 100, "seats": [0.7, 0.8]},
]  # fmt: skip


def read(folder):
    """[(tag, step, value)] of numbers and (tag, step, width) of pictures, in the order in which they were written."""
    from tensorboardX.proto.event_pb2 import Event

    scalars, pictures = [], []
    for path in sorted(folder.iterdir()):
        data, place = path.read_bytes(), 0
        while place < len(data):  # a record: length, its checksum, the event, its checksum
            length = int.from_bytes(data[place : place + 8], "little")
            event = Event.FromString(data[place + 12 : place + 12 + length])
            place += 16 + length
            for value in event.summary.value:
                if value.HasField("image"):
                    pictures.append((value.tag, event.step, value.image.width))
                else:
                    scalars.append((value.tag, event.step, pytest.approx(value.simple_value)))
    return scalars, pictures


def test_tensorboard_has_the_rows_once_also_after_a_resumption(tmp_path):
    figure = pyplot.figure(figsize=(2, 1), dpi=50)
    figure.savefig(tmp_path / "learning_curve.png")
    pyplot.close(figure)
    for rows in ([], ROWS[:1]):  # the second session begins with what a checkpoint has
        with loggers.opened("tensorboard", tmp_path) as made:
            made.begin(rows)
            for row in ROWS[len(rows) :]:
                made.row(row)
            made.figure("learning_curve", tmp_path / "learning_curve.png", 20)
    scalars, pictures = read(tmp_path / "tensorboard")
    assert scalars == [
        ("train/updates", 10, 1.0),
        ("train/loss", 10, 0.5),
        ("train/updates", 20, 2.0),
        ("train/loss", 20, 0.25),
        ("strength/random/win_rate", 20, 0.75),
        ("strength/random/low", 20, 0.5),
        ("strength/random/high", 20, 0.9),
        ("strength/random/points", 20, 0.4),
    ]
    assert pictures == [("learning_curve", 20, 100)]


def test_unknown_and_missing_loggers_are_sentences(monkeypatch):
    with pytest.raises(UserError, match=r"^unknown logger 'tensorbord' \(did you mean 'tensorboard'\?\); known"):
        loggers.check("tensorbord")
    imported = builtins.__import__

    def without(name, *rest):
        if name == "tensorboardX":
            raise ModuleNotFoundError("No module named 'tensorboardX'")
        return imported(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UserError, match=r"^--log=tensorboard needs tensorboardX, .* pip install 'boardrl\[tensor"):
        loggers.check("tensorboard")
