"""Play for the conformance kit: random games, and moves that Hypothesis draws and shrinks."""

from __future__ import annotations

import contextlib
import functools
import importlib
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from boardrl.errors import UserError
from boardrl.game import CHANCE, TERMINAL, Game, select
from boardrl.play.sampling import sample
from boardrl.testing import states
from boardrl.testing.node import Node, Verdict, look

CHUNK_STEPS = 32  # T: moves between two checks of the verdicts
DRAWS = 1 << 24  # a drawn move is one of this many equal parts of [0, 1): the resolution of float32
# Hypothesis prefers integers that it finds in the sources of imported modules. There are none this large, so that the
# same seed draws the same moves everywhere.
FAR = 3 << 39


class Chunk(NamedTuple):
    """T steps of B games: every node, and the verdict of each property on it."""

    nodes: Node  # [T, B] numpy
    verdicts: dict[str, Verdict]  # [T, B] numpy
    counted: np.ndarray  # [T, B] bool: counts a terminal state once, however many moves are tried on it
    first: int  # number of steps before the first row
    prefix: Callable[[int], list[int]]  # the moves of one game before the first row

    def path(self, step: int, lane: int) -> list[int]:
        """The moves from `init` to a node, without those tried on a finished game."""
        made = self.nodes.actor[:step, lane] != TERMINAL
        return self.prefix(lane) + self.nodes.move[:step, lane][made].tolist()

    def node(self, step: int, lane: int) -> Node:
        return jax.tree.map(lambda leaf: leaf[step, lane], self.nodes)


class Sample(NamedTuple):
    """A node reached in random play, and the moves to it."""

    moves: list[int]
    node: Node  # numpy


@functools.partial(jax.jit, static_argnames="game")
def play(game: Game[Any], state: Any, draws: Array, weighted: Array) -> tuple[Any, tuple[Node, dict[str, Verdict]]]:
    """Plays [T, B] drawn moves from [B] states and checks every property at every step; finished games stay as is.

    Args:
      draws: [T, B] float32 in [0, 1), the position of each move among the possible ones.
      weighted: [] bool: draw outcomes by their probabilities; else uniformly among the possible ones.
    """

    def visit(state: Any, draw: Array) -> tuple[Any, tuple[Node, dict[str, Verdict]]]:
        node = look(game, state, pick(game, state, draw, weighted), batch_players=True)
        return select(node.actor == TERMINAL, state, node.after), (node, states.verdicts(game, node))

    return jax.lax.scan(lambda state, draw: jax.vmap(visit)(state, draw), state, draws)


def pick(game: Game[Any], state: Any, draw: Array, weighted: Array) -> Array:
    """[] int32: a legal action, a possible outcome or, if the game is over, any move at all."""
    actor = game.actor(state)
    move = sample(game.legal(state).astype(jnp.float32), draw)
    if game.spec.num_outcomes:
        chance = game.chance(state)
        outcome = sample(jnp.where(weighted, chance, (chance > 0).astype(chance.dtype)), draw)
        move = jnp.where(actor == CHANCE, outcome, move)
    return jnp.where(actor == TERMINAL, jnp.floor(draw * game.spec.num_moves).astype(jnp.int32), move)


def random_play(game: Game[Any], *, games: int, seed: int) -> Iterator[Chunk]:
    """Random games from the first state to the end, chunk by chunk; the same seed plays the same games.

    The last chunks try every move on the finished games.
    """
    rng = np.random.default_rng(seed)
    state = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (games, *jnp.shape(leaf))), game.init())
    made: list[np.ndarray] = []
    over: Any = np.zeros(games, bool)
    for _ in range(math.ceil((game.spec.max_steps + 1) / CHUNK_STEPS)):
        state, chunk = _advance(game, state, rng.random((CHUNK_STEPS, games), np.float32), made, over)
        yield chunk
        over = chunk.nodes.actor[-1] == TERMINAL
        if over.all():
            break
    moves, tries = game.spec.num_moves, CHUNK_STEPS * games
    for first in range(0, moves, tries):
        tried = (first + np.arange(tries, dtype=np.float32).reshape(CHUNK_STEPS, games)) % moves
        state, chunk = _advance(game, state, (tried + np.float32(0.5)) / np.float32(moves), made, over)
        yield chunk
        over = chunk.nodes.actor[-1] == TERMINAL


def _advance(
    game: Game[Any], state: Any, draws: np.ndarray, made: list[np.ndarray], over: np.ndarray
) -> tuple[Any, Chunk]:
    """One chunk of random play, and `made` with its moves appended, -1 where no move was made."""
    state, (nodes, verdicts) = play(game, state, draws, np.True_)
    nodes, verdicts = jax.tree.map(np.asarray, (nodes, verdicts))
    terminal, past = nodes.actor == TERMINAL, list(made)
    made.append(np.where(terminal, -1, nodes.move))

    def prefix(lane: int) -> list[int]:
        moves = np.concatenate([np.zeros(0, np.int32), *(rows[:, lane] for rows in past)])
        return moves[moves >= 0].tolist()

    counted = ~terminal | ~np.concatenate([over[None], terminal[:-1]])
    return state, Chunk(nodes, verdicts, counted, CHUNK_STEPS * len(past), prefix)


def drawn_play(game: Game[Any], starts: Sequence[Any], draws: Sequence[float]) -> Chunk:
    """At most CHUNK_STEPS drawn moves from each of the states, with outcomes drawn uniformly."""
    state = jax.tree.map(lambda *leaves: np.stack(leaves), *starts)
    rows = np.zeros((CHUNK_STEPS, len(starts)), np.float32)
    rows[: len(draws)] = np.asarray(draws, np.float32)[:, None]
    _, (nodes, verdicts) = play(game, state, rows, np.False_)
    nodes, verdicts = jax.tree.map(lambda leaf: np.asarray(leaf)[: len(draws)], (nodes, verdicts))
    terminal = nodes.actor == TERMINAL
    counted = ~terminal | ~np.concatenate([np.zeros_like(terminal[:1]), terminal[:-1]])
    return Chunk(nodes, verdicts, counted, 0, lambda lane: [])


def require_hypothesis() -> Any:
    """Imports Hypothesis; imported late because most commands do not need it."""
    try:
        return importlib.import_module("hypothesis")
    except ImportError:
        raise UserError("the conformance kit needs hypothesis; install it with pip install hypothesis") from None


def hypothesis_play(
    game: Game[Any], starts: Sequence[Sample], see: Callable[[Chunk], bool], *, examples: int, seed: int
) -> None:
    """Passes `see` the moves that Hypothesis draws, the same ones from every start, and shrinks those it rejects."""
    hypothesis = require_hypothesis()
    st = hypothesis.strategies

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        report_multiple_bugs=False,
        phases=(hypothesis.Phase.generate, hypothesis.Phase.shrink),
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(
        st.integers(FAR + 1, FAR + CHUNK_STEPS).flatmap(
            lambda length: st.lists(st.integers(FAR, FAR + DRAWS - 1), min_size=length - FAR, max_size=length - FAR)
        )
    )
    def run(draws: list[int]) -> None:
        chunk = drawn_play(game, [start.node.state for start in starts], [(draw - FAR) / DRAWS for draw in draws])
        if not see(chunk._replace(prefix=lambda lane: list(starts[lane].moves))):
            raise _Refused

    with contextlib.suppress(_Refused):
        run()


class _Refused(Exception):
    """Raised to make Hypothesis shrink an example."""


def broken(verdict: Verdict) -> np.ndarray:
    """Where a property applies and does not hold."""
    return np.asarray(verdict.applies) & ~np.asarray(verdict.holds)


class Collector:
    """Collects samples of every kind of node (each seat's decisions, chance, terminal) from chunks of play."""

    def __init__(self, *, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self._kinds: dict[int, dict[tuple[int, ...], Sample]] = defaultdict(dict)  # by the moves to them

    def see(self, chunk: Chunk) -> None:
        # Many of the first steps, few of each later chunk, so that a long game does not fill the memory.
        most = 1 + 32 * CHUNK_STEPS // (CHUNK_STEPS + chunk.first)
        actor = chunk.nodes.actor
        for kind in np.unique(actor):
            places = np.argwhere((actor == kind) & chunk.counted)
            for step, lane in self._rng.permutation(places)[:most]:
                sample = Sample(chunk.path(step, lane), chunk.node(step, lane))
                self._kinds[int(kind)].setdefault(tuple(sample.moves), sample)

    def samples(self, most: int) -> list[Sample]:
        """At most `most` samples, round-robin over the kinds, beginning with the initial state if it was seen."""
        kinds = [list(self._kinds[kind].values()) for kind in sorted(self._kinds)]
        decks = [[kind[i] for i in self._rng.permutation(len(kind))] for kind in kinds]
        mixed = [deck[i] for i in range(max(map(len, decks))) for deck in decks if i < len(deck)]
        return sorted(mixed, key=lambda sample: len(sample.moves) > 0)[:most]


def replay(game: Game[Any], moves: Sequence[int]) -> Any:
    """The state after these moves from the initial one; a ConformanceError lists such moves."""
    state = game.init()
    for move in moves:
        state = game.step(state, jnp.int32(move))
    return state
