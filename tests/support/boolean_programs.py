"""Random programs on booleans, and the two ways to run them: for the property test of booleans in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from boardrl.lowering import lower

MOST = 200  # elements of an array
SHAPES = ((2,), (9,), (36,), (63,), (64,), (65,), (128,), (200,), (3, 3), (6, 7), (8, 8), (2, 49), (13, 15), (3, 4, 5))
Program = Callable[..., tuple[Any, ...]]
Operation = Callable[[np.random.Generator, "Pool"], Any]


class Pool:
    """The values that a program has so far, by kind."""

    def __init__(self, bools: list[Any], numbers: list[Any], ints: list[Any]) -> None:
        self.bools, self.numbers, self.ints = list(bools), list(numbers), list(ints)

    def bool(self, rng: np.random.Generator) -> Any:
        return self.bools[rng.integers(len(self.bools))]

    def number(self, rng: np.random.Generator) -> Any:
        return self.numbers[rng.integers(len(self.numbers))]

    def like(self, rng: np.random.Generator, x: Any) -> Any:
        """A boolean array of the same shape."""
        same = [y for y in self.bools if y.shape == x.shape]
        return same[rng.integers(len(same))]


def mask(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    return jnp.asarray(rng.random(shape) < rng.random())


def logic(rng: np.random.Generator, pool: Pool) -> Any:
    x = pool.bool(rng)
    y = mask(rng, x.shape) if rng.random() < 0.2 else pool.like(rng, x)
    two = (jnp.logical_and, jnp.logical_or, jnp.logical_xor, lax.eq, lax.ne, lax.lt, lax.le, lax.gt, lax.ge,
           jnp.maximum, jnp.minimum)  # fmt: skip
    return ~x if rng.random() < 0.15 else two[rng.integers(len(two))](x, y)


def blend(rng: np.random.Generator, pool: Pool) -> Any:
    x = pool.bool(rng)
    which = pool.number(rng) > int(rng.integers(-2, 9)) if rng.random() < 0.5 else pool.like(rng, x)
    return jnp.where(which, x, pool.like(rng, x))


def spread(rng: np.random.Generator, pool: Pool) -> Any:
    """One boolean for all elements, joined to an array."""
    x = pool.bool(rng)
    flag = pool.number(rng) == int(rng.integers(0, 3))
    return x & flag if rng.random() < 0.5 else x | flag


def shift(rng: np.random.Generator, pool: Pool) -> Any:
    x = pool.bool(rng)
    axis = int(rng.integers(x.ndim))
    by = int(rng.integers(0, x.shape[axis] + 1))
    ends = [(by, by) if a == axis else (0, 0) for a in range(x.ndim)]
    wide = jnp.pad(x, ends, constant_values=bool(rng.random() < 0.2))
    start = int(rng.integers(0, 2 * by + 1))
    return lax.slice_in_dim(wide, start, start + x.shape[axis], axis=axis)


def pad(rng: np.random.Generator, pool: Pool) -> Any:
    x = pool.bool(rng)
    least = [-1 if size > 2 else 0 for size in x.shape]
    config = [(int(rng.integers(low, 3)), int(rng.integers(low, 3)), int(rng.integers(0, 2))) for low in least]
    return lax.pad(x, jnp.array(bool(rng.random() < 0.5)), config)


def cut(rng: np.random.Generator, pool: Pool) -> Any:
    x = pool.bool(rng)
    parts = []
    for size in x.shape:
        a, b = sorted(int(k) for k in rng.integers(0, size + 1, 2))
        parts.append(slice(a, max(b, a + 1) if a < size else size, int(rng.integers(1, 4))))
    return x[tuple(parts)]


def arrange(rng: np.random.Generator, pool: Pool) -> Any:
    x = pool.bool(rng)
    match rng.integers(8):
        case 0:
            return x.T
        case 1:
            return jnp.flip(x, int(rng.integers(x.ndim)))
        case 2:
            return x.reshape(-1)
        case 3:
            shapes = [s for s in SHAPES if np.prod(s) == x.size]
            return x.reshape(shapes[rng.integers(len(shapes))]) if shapes else x.reshape(-1)
        case 4:
            return jnp.broadcast_to(x[None], (2, *x.shape))
        case 5:
            return jnp.broadcast_to(x[..., None], (*x.shape, 3))
        case 6:
            return jnp.roll(x, int(rng.integers(1, 9)), int(rng.integers(x.ndim)))
        case _:
            return jnp.tile(x.reshape(-1), 2)


def join(rng: np.random.Generator, pool: Pool) -> Any:
    x = pool.bool(rng)
    y, axis = pool.like(rng, x), int(rng.integers(x.ndim))
    if rng.random() < 0.3:
        return jnp.stack([x, y], int(rng.integers(x.ndim + 1)))
    if rng.random() < 0.3:
        return jnp.concatenate([x.reshape(-1), (pool.number(rng) > 1)[None], y.reshape(-1)])
    return jnp.concatenate([x, y, mask(rng, x.shape)], axis)


def gather(rng: np.random.Generator, pool: Pool) -> Any:
    """Places that are known, one that is not, or a row of a table."""
    x = pool.bool(rng)
    flat = x.reshape(-1)
    match rng.integers(4):
        case 0:
            return flat[jnp.asarray(rng.integers(0, x.size, int(rng.integers(2, 90))), jnp.int32)]
        case 1:
            return x[pool.number(rng)]
        case 2:
            return flat[pool.number(rng)]
        case _:
            return mask(rng, (5, int(rng.integers(2, 70))))[pool.number(rng)]


def update(rng: np.random.Generator, pool: Pool) -> Any:
    x = pool.bool(rng)
    value = pool.number(rng) > 2 if rng.random() < 0.5 else bool(rng.random() < 0.5)
    place = tuple(pool.number(rng) for _ in x.shape)
    mode = ("drop", "clip", None)[rng.integers(3)]
    return x.at[place].set(value, mode=mode)


def reduce(rng: np.random.Generator, pool: Pool) -> Any:
    x = pool.bool(rng)
    axes = None if rng.random() < 0.4 else tuple(a for a in range(x.ndim) if rng.random() < 0.6)
    match rng.integers(5):
        case 0:
            return x.any(axes)
        case 1:
            return x.all(axes)
        case 2:
            return x.sum(axes, dtype=(jnp.int32, jnp.int8, jnp.float32)[rng.integers(3)])
        case 3:
            return jnp.argmax(x.reshape(-1)).astype(jnp.int32)
        case _:
            return jnp.argmin(x.reshape(-1)).astype(jnp.int32)


def compare(rng: np.random.Generator, pool: Pool) -> Any:
    """Numbers compared: an iota or a table with one number, an array of small integers with one or with another."""
    signs = (lax.eq, lax.ne, lax.lt, lax.le, lax.gt, lax.ge)
    sign = signs[rng.integers(len(signs))]
    match rng.integers(4):
        case 0:
            size = int(rng.integers(2, MOST))
            table = jnp.arange(size, dtype=jnp.int32) + int(rng.integers(-3, 4))
            return sign(table, jnp.broadcast_to(pool.number(rng), (size,)))
        case 1:
            size = int(rng.integers(2, 99))
            return sign(jnp.broadcast_to(pool.number(rng), (size,)), jnp.asarray(rng.integers(-4, 9, size), jnp.int32))
        case 2:
            x = pool.ints[rng.integers(len(pool.ints))]
            number = pool.number(rng).astype(x.dtype)
            return sign(x, jnp.broadcast_to(number, x.shape))
        case _:
            x = pool.ints[rng.integers(len(pool.ints))]
            flat = x.reshape(-1)[jnp.asarray(rng.integers(0, x.size, int(rng.integers(2, 70))), jnp.int32)]
            return flat == pool.number(rng).astype(x.dtype)


def count(rng: np.random.Generator, pool: Pool) -> Any:
    """Booleans as integers, and back."""
    x = pool.bool(rng)
    numbers = x.astype(jnp.int32) + pool.like(rng, x).astype(jnp.int32) * 2
    return numbers > int(rng.integers(0, 3)) if rng.random() < 0.5 else jnp.where(x, numbers, -1).max()


def branch(rng: np.random.Generator, pool: Pool) -> Any:
    """Control flow that carries booleans."""
    x = pool.bool(rng)
    y, table, by = pool.like(rng, x), mask(rng, x.shape), int(rng.integers(1, 5))
    number = pool.number(rng)
    match rng.integers(3):
        case 0:
            return lax.cond(number > 1, lambda a, b: a & ~b, lambda a, b: (a | b) & table, x, y)
        case 1:
            return lax.fori_loop(0, by, lambda k, a: jnp.flip(a ^ y, 0) | (table & (k == 1)), x)
        case _:
            turns = lax.while_loop(
                lambda c: c[0] < by, lambda c: (c[0] + 1, jnp.roll(c[1], 1) & table | y), (number % 3, x)
            )
            return turns[1]


OPERATIONS: tuple[Operation, ...] = (
    *(logic, logic, logic, blend, spread, shift, shift, pad, cut, arrange, join, gather, update),
    *(reduce, reduce, compare, compare, count, branch),
)


def program(seed: int, length: int = 14) -> tuple[Program, list[np.ndarray]]:
    """A program, and arguments for it."""
    rng = np.random.default_rng(seed)
    shape, other = (SHAPES[rng.integers(len(SHAPES))] for _ in range(2))
    examples: list[np.ndarray] = [rng.random(shape) < 0.5, rng.random(shape) < 0.5, rng.random(other) < 0.5]
    kind = (np.int8, np.uint8, np.int16, np.int32)[rng.integers(4)]
    examples += [rng.integers(0, 4, shape).astype(kind), np.int32(0), np.int32(1)]

    def run(a: Any, b: Any, c: Any, board: Any, k: Any, n: Any) -> tuple[Any, ...]:
        rng = np.random.default_rng(seed + 1_000_003)
        pool, results = Pool([a, b, c], [k, n], [board]), []
        for _ in range(length):
            value = OPERATIONS[rng.integers(len(OPERATIONS))](rng, pool)
            if value.size == 0 or value.size > MOST:
                continue
            if value.dtype == jnp.bool_ and value.ndim:
                pool.bools.append(value)
            elif value.dtype == jnp.int32 and not value.ndim:
                pool.numbers.append(value % 11)
            elif value.dtype.kind in "iu" and value.ndim:
                pool.ints.append(value)
            results.append(value)
        return tuple(results[-6:]) or (a,)

    return run, examples


def arguments(seed: int, examples: list[np.ndarray], count: int) -> Iterator[list[np.ndarray]]:
    """Random arguments of the same shapes; some numbers are out of range."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        density = rng.random()
        drawn: list[Any] = [rng.random(x.shape) < density for x in examples[:3]]
        drawn.append(rng.integers(-1, 4, examples[3].shape).astype(examples[3].dtype))
        drawn += [np.int32(rng.integers(-5, 70)), np.int32(rng.integers(-3, 220))]
        yield drawn


def differences(seeds: Sequence[int], count: int = 6, name: str = "booleans") -> list[str]:
    """What programs give in host code and in JAX, where that differs; compiled as one, under a name of their own."""
    programs = [program(seed) for seed in seeds]

    def run(*args: Any) -> list[tuple[Any, ...]]:
        return [call(*part) for (call, _), part in zip(programs, args, strict=True)]

    examples = [example for _, example in programs]
    compiled, wanted = lower(run, *examples, name=f"{name}_{'_'.join(map(str, seeds))}"), jax.jit(run)
    found = []
    drawn = [arguments(seed, example, count) for seed, example in zip(seeds, examples, strict=True)]
    for args in zip(*drawn, strict=True):
        for seed, results in zip(seeds, zip(compiled(*args), wanted(*args), strict=True), strict=True):
            for k, (got, want) in enumerate(zip(*results, strict=True)):
                if got.dtype != want.dtype or not np.array_equal(got, np.asarray(want)):
                    found.append(f"program {seed}, result {k}: {got!r} instead of {np.asarray(want)!r}")
    return found
