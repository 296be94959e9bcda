"""Functions that only compiled code calls: linked into callers, from the cache too; Python gets an error."""

import os
import subprocess
import sys

import pytest
from numba import njit

from boardrl.host.compile_options import INNER
from boardrl.system.numba_inner import is_inner

MODULE = """
import numpy as np
from boardrl.host.compile_options import compiled, inner

@inner
def twice(row, scale):
    return row[0] * 2 * scale

@compiled
def result(row):
    return twice(row, 1.5)

@compiled
def more(row):
    return twice(row, 1.5) + 1

@inner
def sum_from(row, k, least):
    if row.shape[0] < least:
        raise ValueError("too few", row.shape[0])
    return twice(row, 0.0) if k == row.shape[0] else row[k] + sum_from(row, k + 1, least)

@compiled
def checked_sum(row, k, least):
    return sum_from(row, k, least)

row = np.ones(3)
"""
FROM_COMPILED = "from kernel import *; print(result(row), twice.stats.cache_hits, result.stats.cache_hits)"
WITH_CACHED = "from kernel import *; print(more(row), twice.stats.cache_hits, len(twice.overloads))"
FROM_PYTHON = """
from kernel import *
print(result(row))
for _ in range(2):  # before and after it is compiled for these types by a call from Python
    try:
        twice(row, 1.5)
    except TypeError as error:
        print(error)
"""


@pytest.fixture
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kernels")
    (folder / "kernel.py").write_text(MODULE)

    def program(text):
        path = os.pathsep.join([str(folder), os.getcwd()])
        done = subprocess.run(
            [sys.executable, "-c", text], capture_output=True, text=True, env=os.environ | {"PYTHONPATH": path}
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return program


def test_compiled_functions_call_it_and_python_cannot(run):
    refused = "twice has no wrapper for Python: only compiled functions can call it"
    assert run(FROM_PYTHON) == ["3.0", refused, refused]
    assert run(FROM_COMPILED) == ["3.0 Counter() Counter({(Array(float64, 1, 'C', False, aligned=True),): 1})"]
    (line,) = run(WITH_CACHED)  # what calls it is new, it is not
    assert line.startswith("4.0 Counter({(Array(float64, 1")
    assert line.endswith(" 1")
    assert run(FROM_PYTHON) == ["3.0", refused, refused]


IN_CALLERS = """
from kernel import *
from boardrl.system.numba_inner import is_inner
print(result(row), checked_sum(row, 1, 2))
try:
    checked_sum(row, 0, 4)
except ValueError as error:
    print(error)
for function in (twice, sum_from, result, checked_sum):
    print(function.__name__, *(is_inner(compiled.library) for compiled in function.overloads.values()))
"""


def test_their_machine_code_is_in_their_callers(run):
    for inner in (" True", ""):  # compiled; then the cache has the callers, and nobody asks for what they call
        answers, error, *rows = run(IN_CALLERS)
        assert answers == "3.0 2.0"
        assert error == "('too few', 3)"
        assert rows == [f"twice{inner}", f"sum_from{inner}", "result False", "checked_sum False"]


@njit(**INNER | {"cache": False})
def last(k, scale):
    return scale if k == 0 else last(k - 1, scale * 1.0)


@njit(**INNER | {"cache": False})
def is_even(k):
    return True if k == 0 else is_odd(k - 1)


@njit(**INNER | {"cache": False})
def is_odd(k):
    return False if k == 0 else is_even(k - 1)


def test_what_a_recursion_calls_by_address_has_machine_code():
    """For other types, or by another function."""
    by_types = njit(lambda k: last(k, 3))
    by_another = njit(lambda k: is_even(k))
    assert by_types(4) == 3.0
    assert [by_another(k) for k in range(5)] == [True, False, True, False, True]
    for function in (last, is_even, is_odd):
        assert not any(is_inner(compiled.library) for compiled in function.overloads.values())
