"""A searcher of another package: looks one turn ahead, and takes the last of the best moves."""

import numba
import numpy as np

from boardrl.host.slots import WORDS, actor, successors
from search.declaration import Declaration
from search.kernel.addresses import PV, ROWS, WORK, block, matrix, vector
from search.kernel.control_block import STOPPED, count
from search.kernel.nodes import leaf_value
from search.searcher import Searcher


@numba.njit(cache=True, nogil=True)
def search(memory, depth, alpha, beta):
    """The value of the position in rows[0] to who acts there, one turn ahead."""
    control = block(memory)
    rows, work = matrix(control, ROWS, WORDS, np.uint64), vector(control, WORK, np.uint64)
    pv = matrix(control, PV, control[PV + 2], np.int32)
    me, best = np.int64(actor(rows[0], work)), -np.inf
    count(control)
    for number in range(successors(rows[0], rows[1:], work)):
        count(control)
        value = leaf_value(control, 1 + number, np.int64(actor(rows[1 + number], work)), depth - 1, me)
        if value >= best:
            best = value
            pv[0, 0], pv[0, 1] = 1, number
        if control[STOPPED]:
            break
    return best


LOOKAHEAD = Declaration(
    name="lookahead",
    kernel=__name__,
    searcher=Searcher,
    num_players=2,
    returns="zero_sum",
    dice=False,
    to_actor=True,
)
