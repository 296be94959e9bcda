"""Training runs below one folder: their names, and their learning curves as they grow."""

from __future__ import annotations

import os
import pathlib
from typing import Any

from boardrl.errors import UserError
from boardrl.runs import checkpoint, log_rows, run_directory
from boardrl.runs.run_config import read_config
from boardrl.system import untrusted_files
from launch.serve.permitted import RUNS

MOST_RUNS = 500
MOST_READ = 8 << 20  # bytes of a log that are read at once
MOST_POINTS = 400  # of a curve
METRICS = "metrics.jsonl"


def listed(folder: pathlib.Path) -> list[dict[str, Any]]:
    """The runs of a folder, newest first; whatever else lies there is left out."""
    found = []
    try:
        paths = sorted((path for path in folder.iterdir()), key=lambda path: -os.lstat(path).st_mtime)
    except OSError:
        return []
    for path in paths[:MOST_RUNS]:
        if not untrusted_files.is_folder(path):
            continue
        try:
            config = read_config(path)
        except UserError:
            continue
        steps = checkpoint.steps(path / run_directory.CHECKPOINTS)
        row = {"run": f"{RUNS}/{path.name}", "game": config["game"], "algo": config["algo"], "seed": config["seed"]}
        found.append({**row, "updates": steps[-1] if steps else None})
    return found


class Curve:
    """The learning curve of a run under way: reads what its log has got since the last look."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path, self.config = path, read_config(path)
        self._begin()

    def _begin(self) -> None:
        self._read, self._rest = 0, b""
        self.strength: list[dict[str, Any]] = []
        self.losses: list[tuple[int, float]] = []

    def look(self) -> bool:
        """Reads on; whether anything is new."""
        try:
            with untrusted_files.open_binary(self.path / METRICS) as file:
                size = os.fstat(file.fileno()).st_size
                if size < self._read:  # resumed from an earlier checkpoint
                    self._begin()
                file.seek(self._read)
                data = file.read(MOST_READ)
        except OSError:
            return False
        self._read += len(data)
        lines, _, self._rest = (self._rest + data).rpartition(b"\n")
        rows = log_rows.read(METRICS, lines).rows
        for row in rows:
            if row["kind"] == "train":
                self.losses.append((row["games"], float(row["loss"] if "loss" in row else row["mean"])))
            else:
                names = ("games", "opponent", "win_rate", "low", "high", "played")
                self.strength.append({"kind": row["kind"], **{name: row[name] for name in names}})
        return bool(rows)

    def content(self) -> dict[str, Any]:
        """The curve for the page."""
        thin = max(1, -(-len(self.losses) // MOST_POINTS))
        steps = checkpoint.steps(self.path / run_directory.CHECKPOINTS)
        return {
            "run": f"{RUNS}/{self.path.name}",
            "game": self.config["game"],
            "algo": self.config["algo"],
            "updates": steps[-1] if steps else None,
            "strength": self.strength[-MOST_POINTS:],
            "losses": [[games, round(loss, 6)] for games, loss in self.losses[::-thin][::-1]],
        }
