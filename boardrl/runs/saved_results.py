"""Results of long computations, stored in a file one by one: an interrupted command continues after the last one."""

from __future__ import annotations

import fcntl
import json
import os
import pathlib
import threading
import weakref
from collections.abc import Mapping
from typing import Any, NoReturn

from boardrl.errors import UserError
from boardrl.system import atomic_files, machine, untrusted_files

ROOM = 20  # most bytes of memory for each byte of the file
AGAIN = "give the same command again"


class Kept:
    """Lines of JSON, each with a unique key; a last line that was truncated by a kill is dropped."""

    def __init__(self, path: pathlib.Path, settings: Mapping[str, Any] | None = None) -> None:
        """Opens the file and reads its rows.

        Args:
          settings: the settings that the results depend on, stored in the first line of the file; a file with other
            settings is refused, and the file stays locked while this object lives. None: no settings and no lock.
        """
        self.path, self._settings = path, settings
        self.rows: dict[str, Any] = {}
        self._adding = threading.Lock()
        self._locked = False
        if settings is not None and os.path.exists(path):
            self._lock()
        for number, row in enumerate(self._read()):
            if number == 0 and settings is not None:
                self._compare(row.get("settings"), settings)
            elif isinstance(row.get("key"), str) and "found" in row:
                self.rows[row["key"]] = row["found"]
            else:
                self._refuse(number)

    def add(self, key: str, found: Any) -> None:
        line = _line({"key": key, "found": found})
        with self._adding, atomic_files.writing(self.path, then=AGAIN):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if self._settings is not None and not self._locked:
                atomic_files.write(self.path, _line({"settings": dict(self._settings)}))
                self._lock()
            with self.path.open("ab", buffering=0) as file:
                while line:
                    line = line[file.write(line) :]
            self.rows[key] = found

    def _lock(self) -> None:
        """Locks the file for the lifetime of this object."""
        with atomic_files.writing(self.path, then=AGAIN):
            descriptor = os.open(self.path, os.O_RDWR)
        weakref.finalize(self, os.close, descriptor)
        self._locked = True
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(f"{str(self.path)!r} is in use by another process; wait for it to end or stop it") from None

    def _read(self) -> list[dict[str, Any]]:
        """The rows of all complete lines; removes an incomplete last line from the file."""
        if not os.path.exists(self.path):
            return []
        try:
            content = untrusted_files.read(self.path, most=machine.free_memory() // ROOM, follow=True)
        except OSError as error:
            raise UserError(f"{str(self.path)!r} cannot be read: {error.strerror}; name another file") from None
        whole = content[: content.rfind(b"\n") + 1]
        rows = []
        for number, line in enumerate(whole.split(b"\n")[:-1]):
            try:
                rows.append(untrusted_files.parse(line))
            except ValueError:
                self._refuse(number)
            if not isinstance(rows[-1], dict):
                self._refuse(number)
        if not rows and content:
            self._refuse(0)
        if len(whole) < len(content):
            with atomic_files.writing(self.path, then=AGAIN), self.path.open("r+b") as file:
                file.truncate(len(whole))
        return rows

    def _compare(self, had: Any, wanted: Mapping[str, Any]) -> None:
        if not isinstance(had, dict):
            self._refuse(0)
        # Compare as JSON: tuples become lists.
        for name, value in json.loads(json.dumps(dict(wanted))).items():
            if name not in had or had[name] != value:
                raise UserError(
                    f"{str(self.path)!r} was started with {name}={had.get(name)!r}, not {value!r}; "
                    "give the settings that it was started with, or name another file"
                )

    def _refuse(self, number: int) -> NoReturn:
        raise UserError(
            f"{str(self.path)!r} is damaged or not a file of results: line {number + 1} is not a row of results; "
            "name another file, or remove it"
        )


def _line(row: Mapping[str, Any]) -> bytes:
    return (json.dumps(row) + "\n").encode()
