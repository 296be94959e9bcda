"""All memory of a search, allocated once out of its byte budget."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from boardrl.errors import UserError
from boardrl.host import Facet
from search.evaluators import Evaluator
from search.kernel import addresses, control_block, move_ordering
from search.kernel.transposition_table import ENTRY_BYTES

MOST_PLIES = 255
AMPLE = 4  # times ROOM rows a ply, if memory allows: turns of many actions may have many successors
ADDRESSES = {
    "rows": addresses.ROWS,
    "scores": addresses.SCORES,
    "table": addresses.TABLE,
    "killers": addresses.KILLERS,
    "history": addresses.HISTORY,
    "pv": addresses.PV,
    "weights": addresses.WEIGHTS,
    "scratch": addresses.SCRATCH,
    "work": addresses.WORK,
}


class Memory(NamedTuple):
    """The arrays of a search; the rows are those of the current line, each followed by its successors."""

    rows: np.ndarray  # [R, WORDS] uint64
    scores: np.ndarray  # [R, S] float64 of successors: for move ordering, or probabilities and bounds of outcomes
    table: np.ndarray  # [N, 2] uint64
    killers: np.ndarray  # [plies + 1, 2] int32
    history: np.ndarray  # [P, HISTORY_SIZE] int32
    pv: np.ndarray  # [plies + 1, plies + 2] int32: from each ply the best line's length and successors' numbers
    control: np.ndarray  # int64, see `search.kernel.control_block`
    weights: np.ndarray  # float32, of the evaluator
    scratch: np.ndarray  # float32
    work: np.ndarray  # uint64, of the facet

    @property
    def num_bytes(self) -> int:
        return sum(array.nbytes for array in self)


def allocate(
    facet: Facet,
    evaluator: Evaluator,
    *,
    kilobytes: int,
    depth: int,
    score_columns: int,
    use_table: bool,
    searcher: str,
) -> Memory:
    """Memory of at most that many kilobytes for searches of `depth` turns (0: as many as there is memory for)."""
    game, module = facet.game.spec, facet.module
    room = max(module.ROOM, game.num_outcomes)
    row_bytes = 8 * (module.WORDS + score_columns) + 4 * evaluator.row_scratch
    weights = evaluator.weights
    scratch = max(evaluator.scratch, game.num_players, game.num_outcomes)
    scratch += scratch % 2  # so that it is a number of whole words
    work_words = max(module.WORK_WORDS, evaluator.work_words)
    fixed = evaluator.held_bytes + 8 * control_block.WORDS + weights.nbytes + 4 * scratch + 8 * work_words
    fixed += 4 * move_ordering.HISTORY_SIZE * game.num_players + 2 * ENTRY_BYTES + row_bytes

    def bytes_of(plies: int) -> int:
        return fixed + plies * room * row_bytes + 4 * (plies + 1) * (plies + 2 + move_ordering.KILLERS_A_PLY)

    total = 1024 * kilobytes
    plies_a_turn = 2 if game.num_outcomes else 1  # an action, and dice
    least = min((depth or 1) * plies_a_turn, MOST_PLIES)
    if bytes_of(least) > total:
        raise UserError(
            f"kilobytes={kilobytes} is too little for {searcher} to depth {depth or 1} in {game.name}; "
            f"give at least {-(-bytes_of(least) // 1024)}"
        )
    plies, most = least, min(game.max_steps, MOST_PLIES)
    while plies < most and bytes_of(plies + 1) <= total // 2:
        plies += 1
    spare = total - bytes_of(plies)
    extra_rows = min(spare // (2 * row_bytes), (AMPLE - 1) * room * plies)
    spare -= extra_rows * row_bytes
    entries = 2
    while use_table and 2 * entries * ENTRY_BYTES <= spare + 2 * ENTRY_BYTES:
        entries *= 2
    num_rows = 1 + plies * room + extra_rows
    scratch += evaluator.row_scratch * num_rows
    memory = Memory(
        rows=facet.rows(num_rows),
        scores=np.zeros((num_rows, score_columns)),
        table=np.zeros((entries, 2), np.uint64),
        killers=np.zeros((plies + 1, move_ordering.KILLERS_A_PLY), np.int32),
        history=np.zeros((game.num_players, move_ordering.HISTORY_SIZE), np.int32),
        pv=np.zeros((plies + 1, plies + 2), np.int32),
        control=np.zeros(control_block.WORDS, np.int64),
        weights=weights,
        scratch=np.zeros(scratch, np.float32),
        work=np.zeros(work_words, np.uint64),
    )
    assert memory.num_bytes + evaluator.held_bytes <= total
    for name, place in ADDRESSES.items():
        array = getattr(memory, name)
        memory.control[place : place + 3] = (array.ctypes.data, *array.shape, 1)[:3]
    return memory


def clear(memory: Memory, *, table: bool = True) -> None:
    """Clears what earlier searches have stored, in the transposition table too unless told otherwise."""
    for array in (memory.killers, memory.history, memory.scratch, memory.work):
        array[...] = 0
    if table:
        memory.table[...] = 0


@contextlib.contextmanager
def without_table(memory: Memory) -> Iterator[None]:
    """Within the block searches use a transposition table of two entries in place of their own."""
    place = slice(addresses.TABLE, addresses.TABLE + 3)
    own, small = memory.control[place].copy(), np.zeros((2, 2), np.uint64)
    memory.control[place] = (small.ctypes.data, *small.shape)
    try:
        yield
    finally:
        memory.control[place] = own
