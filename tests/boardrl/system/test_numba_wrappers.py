"""Functions without a wrapper for Python: compiled code calls them, from the cache too; Python gets an error."""

import os
import subprocess
import sys

import pytest

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


@pytest.fixture(scope="module")
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
