"""What the tests of the lowering share: a function lowered and jitted, and their results compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np

from boardrl.lowering import Lowered, lower

Results = dict[str, Any]
CHUNK = 10  # results that are compiled together: Numba's time grows faster than the function


class Both(NamedTuple):
    host: list[Lowered]
    device: Callable[..., Results]


KNOWN: dict[str, Both] = {}


def both(name: str, function: Callable[..., Results], examples: Any, x64: bool) -> Both:
    """The function lowered, in chunks of its results, and jitted, once."""
    if name not in KNOWN:
        with jax.enable_x64(x64):
            keys = list(jax.eval_shape(function, *examples))
            host = []
            for start in range(0, len(keys), CHUNK):
                chunk = keys[start : start + CHUNK]

                def part(*args: Any, chunk: list[str] = chunk) -> Results:
                    results = function(*args)
                    return {key: results[key] for key in chunk}

                host.append(lower(part, *examples, name=f"{name}_{start // CHUNK}"))
            KNOWN[name] = Both(host, jax.jit(function))
    return KNOWN[name]


def agree(
    name: str, function: Callable[..., Results], *args: Any, rtol: float = 0.0, atol: float = 0.0, x64: bool = False
) -> None:
    """Both give the same for these arguments: the same bits, or floats within a tolerance."""
    host, device = both(name, function, args, x64)
    with jax.enable_x64(x64):
        want = jax.tree.map(np.asarray, device(*args))
    got: Results = {}
    for part in host:
        got |= part(*args)
    assert got.keys() == want.keys()
    for key in want:
        a, b = got[key], want[key]
        assert a.dtype == b.dtype, key
        if b.dtype.kind == "f":
            a, b = flushed(a), flushed(b)
            np.testing.assert_allclose(a, b, rtol=rtol, atol=atol, err_msg=key)
            if rtol == 0:
                zero = b == 0
                np.testing.assert_array_equal(np.signbit(a[zero]), np.signbit(b[zero]), err_msg=key)
        else:
            np.testing.assert_array_equal(a, b, err_msg=key)


def flushed(x: np.ndarray) -> np.ndarray:
    """XLA flushes numbers below the least normal one to 0; host code does not, and no game depends on them."""
    return np.where(np.abs(x) < np.finfo(x.dtype).tiny, np.copysign(0, x), x).astype(x.dtype)
