"""Numba without SciPy's linear algebra until compiled code needs it."""

import subprocess
import sys

SCRIPT = """
import sys
import numba, numpy
import boardrl.lowering
numba.njit(lambda x: x.sum())(numpy.ones(3))
print("scipy.linalg" in sys.modules)
print(numba.njit(lambda x, y: numpy.dot(x, y))(numpy.ones(3), numpy.arange(3.0)), "scipy.linalg" in sys.modules)
"""


def test_linear_algebra_is_imported_when_it_is_compiled():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("False\n3.0 True\n", "")
