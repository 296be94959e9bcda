"""Monte Carlo tree search: UCT (Kocsis and Szepesvári 2006) for any number of players, with explicit chance nodes.

A kernel (`boardrl.host.template`): `search.tree_searcher` calls `search` of a copy compiled for one game and evaluator.

Every value is a vector over players, and each player chooses where it acts by the upper confidence bound of its own
value:

    mean_a(child) + c · range · √(ln visits(node) / visits(child))

where `range` is that of the leaf values met so far, so that the exploration constant c means the same in every game.
A chance node takes its outcomes by their odds, evenly: visit n takes the quantile frac(u + n φ), which leaves less to
luck than independent draws. Positions whose value is known for certain are not sampled any more (MCTS-Solver, Winands,
Björnsson and Saito 2008, here for vectors and for chance nodes): a search ends when the root is one of them.

Common random numbers: below alternatives of one decision the same visit meets the same dice, in the tree and in
playouts, so that what they share cancels out of the comparison. Different outcomes of the dice have different streams.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.game import CHANCE, TERMINAL
from boardrl.host.compile_options import compiled, inner
from boardrl.host.slots import NUM_OUTCOMES, NUM_PLAYERS, ROOM, actor, chance, returns, settle, successors
from search.declaration import Declaration
from search.evaluators.slots import prepare_all, sample_all
from search.kernel.control_block import OVERFLOWS, STOPPED, count
from search.kernel.random_stream import GOLDEN, below, fraction, mix
from search.kernel.tree import CHILDREN, FIRST, HIGHEST, LOWEST, NUM_NODES, ODDS, SOLVED, VALUES, VISITS, WHO
from search.tree_searcher import TreeSearcher

CERTAIN_MOST = False  # whether the most that a player can get decides what the others get
MOST = 1.0  # that a player can get
TIE = 1e-9  # moves that differ by less are equally good
GOLDEN_FRACTION = 0.6180339887498949  # the golden ratio less 1: its multiples spread evenly over [0, 1)


@compiled
def search(control, tree, depth, exploration, seed):
    """Simulates until a limit is reached or the root's value is certain; the tree holds what was found."""
    rows, scores, links, path, span, weights, scratch, work = tree
    leaf_value = np.zeros(NUM_PLAYERS)
    if links[0, FIRST] == 0 and not links[0, SOLVED]:
        expand(control, tree, 0)
    while not links[0, SOLVED]:
        count(control)
        if control[STOPPED]:
            break

        # 1. Down the tree, to a position that is certain or has no children yet.
        at, length, left, stream = 0, 1, depth, seed
        path[0] = 0
        while not links[at, SOLVED]:
            # A position gets children at its second visit: most are never visited again.
            if links[at, FIRST] == 0 and (scores[at, VISITS] == 0 or left <= 0 or not expand(control, tree, at)):
                break
            if links[at, SOLVED]:
                break
            if length >= path.shape[0]:
                control[OVERFLOWS] += 1
                break
            who = links[at, WHO]
            if who == CHANCE:
                child = take_outcome(scores, links, at, stream)
                stream = mix(stream + np.uint64(child - links[at, FIRST] + 1) * GOLDEN)
            else:
                child = take_action(scores, links, at, exploration * max(span[HIGHEST] - span[LOWEST], 0.0), stream)
                stream = mix(stream)
            left -= links[child, WHO] == CHANCE if who == CHANCE else links[child, WHO] != who
            at = child
            path[length] = at
            length += 1

        # 2. What the leaf is worth.
        if links[at, SOLVED]:
            for player in range(NUM_PLAYERS):
                leaf_value[player] = scores[at, VALUES + player]
        else:
            visit = np.uint64(scores[at, VISITS])
            sample_all(rows, at, leaf_value, mix(stream + visit * GOLDEN), weights, scratch, work)
        for player in range(NUM_PLAYERS):
            span[LOWEST] = min(span[LOWEST], leaf_value[player])
            span[HIGHEST] = max(span[HIGHEST], leaf_value[player])

        # 3. Back up: running means, exact values where all that matters below is certain.
        for place in range(length - 1, -1, -1):
            node = path[place]
            if place + 1 < length and links[path[place + 1], SOLVED] and prove(scores, links, node):
                for player in range(NUM_PLAYERS):
                    leaf_value[player] = scores[node, VALUES + player]
            scores[node, VISITS] += 1
            if not links[node, SOLVED]:
                for player in range(NUM_PLAYERS):
                    mean = scores[node, VALUES + player]
                    scores[node, VALUES + player] = mean + (leaf_value[player] - mean) / scores[node, VISITS]


@inner
def take_outcome(scores, links, at, stream):
    """The child for the next visit of a chance node."""
    rest = (fraction(mix(stream)) + scores[at, VISITS] * GOLDEN_FRACTION) % 1.0
    last = links[at, FIRST] + links[at, CHILDREN] - 1
    for child in range(links[at, FIRST], last):
        rest -= scores[child, ODDS]
        if rest < 0:
            return np.int64(child)
    return np.int64(last)


@inner
def take_action(scores, links, at, width, stream):
    """The child with the actor's highest upper confidence bound; one that was never visited, if there is any."""
    first, number, who = links[at, FIRST], links[at, CHILDREN], links[at, WHO]
    log_visits = math.log(max(scores[at, VISITS], 1.0))
    start = below(mix(stream ^ GOLDEN), number)  # among those that were never visited, from anywhere on
    best, best_child = -np.inf, np.int64(first)
    for place in range(number):
        child = np.int64(first + (start + place) % number)
        bound = scores[child, VALUES + who]
        if not links[child, SOLVED]:
            if scores[child, VISITS] == 0:
                return child
            bound += width * math.sqrt(log_visits / scores[child, VISITS])
        if bound > best:
            best, best_child = bound, child
    return best_child


@inner
def expand(control, tree, at):
    """Writes the children of a node; False where there is no room."""
    rows, scores, links, _, _, weights, scratch, work = tree
    first = free = np.int64(control[NUM_NODES])
    if first + max(ROOM, NUM_OUTCOMES) > links.shape[0]:
        control[OVERFLOWS] += 1
        return False
    if links[at, WHO] == CHANCE:
        chance(rows[at], scratch, work)
        for outcome in range(NUM_OUTCOMES):
            if scratch[outcome] > 0:
                scores[free, ODDS] = scratch[outcome]
                settle(rows[at], outcome, rows[free], work)
                free += 1
    else:
        free += successors(rows[at], rows[first : links.shape[0]], work)
    certain = False
    for child in range(first, free):
        who = np.int64(actor(rows[child], work))
        scores[child, VISITS] = 0.0
        links[child, FIRST] = links[child, CHILDREN] = 0
        links[child, WHO] = who
        links[child, SOLVED] = who == TERMINAL
        for player in range(NUM_PLAYERS):
            scores[child, VALUES + player] = 0.0
        if who == TERMINAL:
            certain = True
            returns(rows[child], scratch, work)
            for player in range(NUM_PLAYERS):
                scores[child, VALUES + player] = scratch[player]
    links[at, FIRST], links[at, CHILDREN] = first, free - first
    control[NUM_NODES] = free
    prepare_all(rows, first, free - first, weights, scratch, work)  # type: ignore[arg-type]
    if certain:
        prove(scores, links, at)
    return True


@inner
def prove(scores, links, at):
    """Whether the value of a node is certain; if so, it is entered."""
    if links[at, SOLVED]:
        return True
    first, who = links[at, FIRST], links[at, WHO]
    after = first + links[at, CHILDREN]
    all_certain, best = True, -np.inf
    for child in range(first, after):
        if not links[child, SOLVED]:
            all_certain = False
        elif who >= 0:
            best = max(best, scores[child, VALUES + who])
    if not all_certain and not (CERTAIN_MOST and who >= 0 and best >= MOST):
        return False
    # The mean over the outcomes, or over the best moves, as in `boardrl.exact.solve`.
    for player in range(NUM_PLAYERS):
        scores[at, VALUES + player] = 0.0
    total = 0.0
    for child in range(first, after):
        if not links[child, SOLVED]:
            continue
        weight = scores[child, ODDS] if who == CHANCE else np.float64(scores[child, VALUES + who] >= best - TIE)
        total += weight
        for player in range(NUM_PLAYERS):
            scores[at, VALUES + player] += weight * scores[child, VALUES + player]
    for player in range(NUM_PLAYERS):
        scores[at, VALUES + player] /= total
    links[at, SOLVED] = 1
    return True


@dataclasses.dataclass(frozen=True)
class Options:
    exploration: float = setting(0.5, "the constant c of UCT, for values scaled to a range of 1")
    reuse: bool = setting(True, "keep what the tree knows of a position from move to move")

    def __post_init__(self) -> None:
        if not 0 <= self.exploration < float("inf"):
            raise UserError(f"exploration={self.exploration} is not a constant of UCT; expected 0 or more, like 0.5")


MCTS = Declaration(
    name="mcts",
    kernel=__name__,
    searcher=TreeSearcher,
    options=Options,
    constants=lambda spec: {
        "MOST": float(spec.max_return),
        "CERTAIN_MOST": spec.num_players == 2 and spec.return_sum is not None,
    },
    samples=True,
    playouts=1,
)
