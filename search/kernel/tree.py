"""The tree of Monte Carlo tree search in flat arrays, allocated once out of the byte budget.

Nodes are numbered in the order of their creation: the children of a node are adjacent, and come after it. So the
subtree of a move can be kept by moving its nodes to the front, in their order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from boardrl.errors import UserError
from boardrl.host import Facet
from boardrl.host.compile_options import compiled
from search.evaluators import Evaluator
from search.kernel import control_block
from search.kernel.control_block import OPTIONS

NUM_NODES = OPTIONS  # the word of the control block that counts the nodes

VISITS, ODDS, VALUES = 0, 1, 2  # columns of the scores; from VALUES on: the mean value to each player
FIRST, CHILDREN, WHO, SOLVED = 0, 1, 2, 3  # columns of the links: first child (0: none yet), their number, the actor
LOWEST, HIGHEST = 0, 1  # leaf values met

PATH = 1024  # maximal length of a simulation's path
NONE = -1  # no node


class Arrays(NamedTuple):
    """The arrays that the kernel reads and writes."""

    rows: np.ndarray  # [N + 1, WORDS] uint64; the last is free for evaluating a single position
    scores: np.ndarray  # [N, 2 + P] float64
    links: np.ndarray  # [N, 4] int32
    path: np.ndarray  # [PATH] int64
    span: np.ndarray  # [2] float64: lowest and highest leaf value
    weights: np.ndarray  # float32, of the evaluator
    scratch: np.ndarray  # float32
    work: np.ndarray  # uint64, of the facet


class Tree(NamedTuple):
    """The memory of a search by simulations."""

    arrays: Arrays
    moved: np.ndarray  # [N] int32: a node's new number while a subtree is kept
    control: np.ndarray  # int64, see `search.kernel.control_block`

    @property
    def rows(self) -> np.ndarray:
        return self.arrays.rows

    @property
    def weights(self) -> np.ndarray:
        return self.arrays.weights

    @property
    def scratch(self) -> np.ndarray:
        return self.arrays.scratch

    @property
    def work(self) -> np.ndarray:
        return self.arrays.work

    @property
    def num_bytes(self) -> int:
        return sum(array.nbytes for array in self.arrays) + self.moved.nbytes + self.control.nbytes


def allocate(facet: Facet, evaluator: Evaluator, *, kilobytes: int, searcher: str) -> Tree:
    """A tree of at most that many kilobytes."""
    spec, module = facet.game.spec, facet.module
    scratch = max(evaluator.scratch, spec.num_players, spec.num_outcomes)
    scratch += scratch % 2  # so that it is a number of whole words
    row_bytes = 8 * module.WORDS + 4 * evaluator.row_scratch
    node_bytes = row_bytes + 8 * (VALUES + spec.num_players) + 4 * 4 + 4
    work_words = max(module.WORK_WORDS, evaluator.work_words)
    fixed = evaluator.held_bytes + evaluator.weights.nbytes + 4 * scratch + 8 * work_words
    fixed += 8 * (control_block.WORDS + PATH + 2) + row_bytes
    num_nodes = (1024 * kilobytes - fixed) // node_bytes
    least = 1 + max(module.ROOM, spec.num_outcomes)
    if num_nodes < least:
        raise UserError(
            f"kilobytes={kilobytes} is too little for {searcher} in {spec.name}; "
            f"give at least {-(-(fixed + least * node_bytes) // 1024)}"
        )
    num_nodes = min(num_nodes, np.iinfo(np.int32).max)
    arrays = Arrays(
        rows=facet.rows(num_nodes + 1),
        scores=np.zeros((num_nodes, VALUES + spec.num_players)),
        links=np.zeros((num_nodes, 4), np.int32),
        path=np.zeros(PATH, np.int64),
        span=np.zeros(2),
        weights=evaluator.weights,
        scratch=np.zeros(scratch + evaluator.row_scratch * (num_nodes + 1), np.float32),
        work=np.zeros(work_words, np.uint64),
    )
    tree = Tree(arrays, np.zeros(num_nodes, np.int32), np.zeros(control_block.WORDS, np.int64))
    assert tree.num_bytes + evaluator.held_bytes <= 1024 * kilobytes
    return tree


def plant(tree: Tree, row: np.ndarray, who: int) -> None:
    """A new tree of one node."""
    arrays = tree.arrays
    arrays.rows[0], arrays.scores[0], arrays.links[0] = row, 0.0, (0, 0, who, 0)
    arrays.span[:] = np.inf, -np.inf
    tree.control[NUM_NODES] = 1


def clear(tree: Tree) -> None:
    """Removes all nodes, and what an evaluator has learned."""
    tree.control[NUM_NODES] = 0
    tree.arrays.scratch[...] = 0
    tree.arrays.work[...] = 0


@compiled
def find(rows, scores, num_nodes, row):
    """The most visited node of a position, or NONE."""
    best = NONE
    for node in range(num_nodes):
        if rows[node, 0] == row[0] and (rows[node] == row).all() and (best < 0 or scores[node, 0] > scores[best, 0]):
            best = node
    return best


@compiled
def keep(rows, scores, links, moved, num_nodes, root):
    """Moves a node and all below it to the front; returns how many nodes are left."""
    for node in range(root, num_nodes):
        moved[node] = NONE
    moved[root] = 0
    kept = 0
    for node in range(root, num_nodes):  # children come behind their parents
        if moved[node] != NONE:
            moved[node] = kept
            kept += 1
            for child in range(links[node, FIRST], links[node, FIRST] + links[node, CHILDREN]):
                moved[child] = 0  # to be numbered
    for node in range(root, num_nodes):
        to = moved[node]
        if to != NONE:
            rows[to] = rows[node]
            scores[to] = scores[node]
            links[to] = links[node]
            if links[to, CHILDREN]:
                links[to, FIRST] = moved[links[to, FIRST]]
    return kept
