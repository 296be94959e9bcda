"""Loggers: other places for the metrics of a run, by name: `--log=tensorboard`.

A logger is a class in the entry point group `boardrl.loggers`, made by `Class(run directory)`, with the methods of
`Logger`. metrics.jsonl is always written: loggers are shown its rows, those before a resumption too.
"""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from boardrl import options, registry
from boardrl.errors import UserError
from boardrl.system import atomic_files

Row = Mapping[str, Any]
FOLDER = "tensorboard"  # within a run directory
STRENGTHS = ("win_rate", "low", "high", "points")


class Logger(Protocol):
    """Takes the metrics of one run."""

    def begin(self, rows: Sequence[Row]) -> None:
        """Called first, with all rows so far; what the logger has from a session before is replaced."""

    def row(self, row: Row) -> None:
        """A new row of metrics.jsonl (boardrl.runs.log_rows)."""

    def figure(self, name: str, path: pathlib.Path, games: int) -> None:
        """A picture (PNG) that was drawn after so many games."""

    def close(self) -> None:
        """The session is over."""


class Loggers:
    """Several loggers as one."""

    def __init__(self, loggers: Sequence[Logger] = ()) -> None:
        self._loggers = loggers

    def begin(self, rows: Sequence[Row]) -> None:
        for logger in self._loggers:
            logger.begin(rows)

    def row(self, row: Row) -> None:
        for logger in self._loggers:
            logger.row(row)

    def figure(self, name: str, path: pathlib.Path, games: int) -> None:
        for logger in self._loggers:
            logger.figure(name, path, games)

    def close(self) -> None:
        for logger in self._loggers:
            logger.close()


def check(text: str) -> list[Any]:
    """The classes of the loggers in a text like `tensorboard`; raises UserError for one that cannot be used."""
    found = [registry.load(name, registry.LOGGERS) for name in options.split(text)]
    for made in found:
        if hasattr(made, "check"):
            made.check()
    return found


@contextlib.contextmanager
def opened(text: str, path: pathlib.Path) -> Iterator[Loggers]:
    """The loggers of a text, for a run directory; they are closed at the end of the block."""
    loggers = Loggers([made(path) for made in check(text)])
    try:
        yield loggers
    finally:
        loggers.close()


class TensorBoard:
    """Writes event files for TensorBoard: `tensorboard --logdir=runs`; steps are games."""

    def __init__(self, path: pathlib.Path) -> None:
        self.check()
        self._folder = path / FOLDER
        self._writer: Any = None

    @staticmethod
    def check() -> None:
        try:
            import tensorboardX  # noqa: F401
        except ImportError as error:
            raise UserError(
                f"--log=tensorboard needs tensorboardX, which cannot be imported ({error}): "
                "pip install 'boardrl[tensorboard]', or -e '.[tensorboard]' in a checkout"
            ) from None

    def begin(self, rows: Sequence[Row]) -> None:
        import tensorboardX

        # Rows since the last checkpoint are computed again after a kill, so that old files would have them twice.
        atomic_files.remove(self._folder)
        self._writer = tensorboardX.SummaryWriter(str(self._folder), flush_secs=10)
        for row in rows:
            self.row(row)

    def row(self, row: Row) -> None:
        games, kind = row["games"], row["kind"]
        if kind == "train":
            numbers = {f"train/{name}": value for name, value in row.items() if name not in ("kind", "games")}
        else:
            numbers = {f"{kind}/{row['opponent']}/{name}": row[name] for name in STRENGTHS}
        for name, value in numbers.items():
            self._writer.add_scalar(name, value, games)

    def figure(self, name: str, path: pathlib.Path, games: int) -> None:
        import matplotlib.image

        picture = matplotlib.image.imread(path)[..., :3]  # [H, W, 3] from 0 to 1
        self._writer.add_image(name, (255 * picture).astype(np.uint8), games, dataformats="HWC")

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
