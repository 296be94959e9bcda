"""Results that take long, kept in a file as soon as they are there: a call that was stopped goes on with the next."""

from __future__ import annotations

import json
import pathlib
import threading
from typing import Any


class Kept:
    """Lines of JSON, each with a key of its own."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self._writing = threading.Lock()
        self.rows: dict[str, Any] = {}
        for line in path.read_text().splitlines() if path.exists() else []:
            try:
                row = json.loads(line)
            except ValueError:  # cut off when the process was killed
                continue
            self.rows[row["key"]] = row["found"]

    def add(self, key: str, found: Any) -> None:
        with self._writing:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a") as file:
                file.write(json.dumps({"key": key, "found": found}) + "\n")
            self.rows[key] = found
