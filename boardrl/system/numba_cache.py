"""Numba's cache of compiled code on disk, in sealed files (boardrl.system.sealed_files).

Numba does not check its cache files, so a truncated or corrupt one causes an error at every start, and it does not sync
what it writes. `install` replaces its cache class with one that does both, for all functions with `cache=True` that are
defined afterwards. Sealed files have different names, so files that Numba wrote itself are left alone.
"""

from __future__ import annotations

import io
import pathlib
import pickle
import sys
from typing import Any

from numba.core import caching

from boardrl.system import sealed_files

_unwritable = False


class SealedFiles(caching.IndexDataCacheFile):
    """The index of one function's compiled versions, and one file for each of them."""

    def __init__(self, cache_path: str, filename_base: str, source_stamp: Any) -> None:
        super().__init__(cache_path, f"{filename_base}.sealed", source_stamp)

    def save(self, key: Any, data: Any) -> None:
        """Saves the code compiled for a key; if that fails, it will be compiled again next time."""
        try:
            # The key is stored with the data: two processes may have used one file for two keys.
            super().save(key, (key, data))
        except OSError as error:
            global _unwritable
            if not _unwritable:
                _unwritable = True
                reason = error.strerror or error
                print(f"warning: compiled code cannot be saved in {self._cache_path!r}: {reason}", file=sys.stderr)

    def load(self, key: Any) -> Any:
        """The code compiled for a key; None if there is none."""
        name = self._load_index().get(key)
        found = None if name is None else self._load_data(name)
        return None if found is None or found[0] != key else found[1]

    def _load_index(self) -> dict[Any, str]:
        return self._read(self._index_path) or {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        self._write(self._index_path, overloads)

    def _load_data(self, name: str) -> Any:
        return self._read(self._data_path(name))

    def _save_data(self, name: str, data: Any) -> None:
        self._write(self._data_path(name), data)

    def _write(self, path: str, content: Any) -> None:
        sealed_files.write(pathlib.Path(path), self._dump((self._version, self._source_stamp)) + self._dump(content))

    def _read(self, path: str) -> Any:
        """The content of a file if this version of Numba wrote it for this source, else None."""
        content = sealed_files.read(pathlib.Path(path))
        if content is None:
            return None
        stream = io.BytesIO(content)
        if pickle.load(stream) != (self._version, self._source_stamp):
            return None
        return pickle.load(stream)


def install() -> None:
    """Uses sealed cache files for all functions defined from now on."""
    caching.IndexDataCacheFile = SealedFiles  # type: ignore[misc]
