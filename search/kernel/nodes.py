"""What minimax, alpha-beta and expectimax do alike at a node: value a leaf.

A kernel that these kernels import from; it is specialised with them.
"""

from __future__ import annotations

import numba
import numpy as np

from boardrl.game import TERMINAL
from boardrl.host.compile_options import INNER
from boardrl.host.slots import WORDS, returns
from search.evaluators.slots import evaluate
from search.kernel.addresses import ROWS, SCRATCH, WEIGHTS, WORK, matrix, vector
from search.kernel.control_block import CUTS, OVERFLOWS, VIEW


@numba.njit(**INNER, forceinline=True)
def leaf_value(control, at, who, left, seat):
    """The value to `seat` of the leaf in rows[at], where `who` acts: its returns, or what the evaluator says.

    The evaluator takes the view of the seat that searches; another seat's value is the opposite, as in zero-sum games.
    A leaf with depth `left` is one that there is no memory to expand.
    """
    rows, work = matrix(control, ROWS, WORDS, np.uint64), vector(control, WORK, np.uint64)
    weights, scratch = vector(control, WEIGHTS, np.float32), vector(control, SCRATCH, np.float32)
    if who == TERMINAL:
        returns(rows[at], scratch, work)
        return np.float64(scratch[seat])
    control[CUTS] += 1
    control[OVERFLOWS] += left > 0
    value = np.float64(evaluate(rows, at, control[VIEW], weights, scratch, work))
    return value if seat == control[VIEW] else -value
