"""Data as bytes: what travels between processes is JSON and raw arrays, never a pickle.

Data is None, booleans, numbers, texts, bytes, arrays, and lists, tuples (which arrive as lists) and dicts of those.
"""

from __future__ import annotations

import json
import math
from typing import Any

import jax
import numpy as np

ARRAY, BYTES = "\x00array", "\x00bytes"  # keys of the placeholders in the JSON
ALIGNMENT = 64  # of arrays in the buffer, so that they can be used where they are


def pack(data: Any) -> bytearray:
    """A buffer: the length of the JSON, the JSON, then the bytes of all arrays."""
    parts: list[np.ndarray] = []
    end = 0

    def place(array: np.ndarray) -> int:
        nonlocal end
        start, end = end, end + -(-array.nbytes // ALIGNMENT) * ALIGNMENT
        parts.append(array)
        return start

    def plain(value: Any) -> Any:
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, dict):
            if not all(type(key) is str for key in value):
                raise TypeError(f"keys of data are texts, not {list(value)!r:.80}")
            return {key: plain(one) for key, one in value.items()}
        if isinstance(value, list | tuple):
            return [plain(one) for one in value]
        if isinstance(value, bytes | bytearray):
            return {BYTES: [place(np.frombuffer(value, np.uint8)), len(value)]}
        if isinstance(value, np.ndarray | np.generic | jax.Array):
            array = np.asarray(value, order="C")
            if array.dtype.hasobject:
                raise TypeError("an array of Python objects is not data")
            return {ARRAY: [place(array), array.dtype.name, list(array.shape)]}
        raise TypeError(f"{type(value).__name__} is not data, which travels between processes")

    text = json.dumps(plain(data), separators=(",", ":")).encode()
    first = _first(len(text))
    buffer = bytearray(first + end)
    buffer[:8] = len(text).to_bytes(8, "little")
    buffer[8 : 8 + len(text)] = text
    for array in parts:
        buffer[first : first + array.nbytes] = array.reshape(-1).view(np.uint8).data
        first += -(-array.nbytes // ALIGNMENT) * ALIGNMENT
    return buffer


def unpack(buffer: Any) -> Any:
    """The data of a buffer; its arrays are read-only views of it."""
    view = memoryview(buffer).cast("B").toreadonly()
    length = int.from_bytes(view[:8], "little")
    first = _first(length)

    def filled(value: dict[str, Any]) -> Any:
        if ARRAY in value:
            start, kind, shape = value[ARRAY]
            dtype = np.dtype(kind)
            size = math.prod(shape) * dtype.itemsize
            return np.frombuffer(view[first + start : first + start + size], dtype).reshape(shape)
        if BYTES in value:
            start, size = value[BYTES]
            return bytes(view[first + start : first + start + size])
        return value

    return json.loads(bytes(view[8 : 8 + length]), object_hook=filled)


def _first(length: int) -> int:
    """Where the arrays begin, after a JSON of this length."""
    return -(-(8 + length) // ALIGNMENT) * ALIGNMENT
