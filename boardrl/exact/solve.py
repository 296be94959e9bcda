"""Exact values of small games by value iteration over all states, and the perfect player."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from boardrl import registry
from boardrl.errors import UserError
from boardrl.exact.state_graph import MAX_STATES, Graph, Lookup, build, find, make_lookup, unpack
from boardrl.game import CHANCE, TERMINAL, Game
from boardrl.host.compile_options import compiled
from boardrl.play.policy import Policy
from boardrl.runs import progress

TOLERANCE = 1e-12  # largest change of a value in the last sweep
MAX_SWEEPS = 10_000  # per component
CALL_UPDATES = 5_000_000  # updates of values per compiled call; the progress bar is updated between calls
TIE = 1e-9  # actions that differ by less are equally good


@dataclasses.dataclass(frozen=True, eq=False)
class Solution:
    """All reachable states, row 0 being the initial one, and their values when all players play perfectly.

    The value of a state is the limit, as k grows, of the value of the game stopped after k more steps and scored in its
    last position. Every actor maximises its own return, and chooses uniformly among its equally good actions.
    """

    game: Game[Any]
    graph: Graph
    values: np.ndarray  # [N, P] float64
    optimal: np.ndarray  # [N, A] bool
    lookup: Lookup

    @property
    def num_states(self) -> int:
        return len(self.values)

    def states(self) -> Any:
        """[N] all states, with numpy leaves."""
        return jax.device_get(jax.jit(jax.vmap(functools.partial(unpack, self.game)))(self.graph.rows))

    def index(self, state: Any) -> Array:
        """[] int32 row of a state, or -1 if it is not reachable; can be traced by JAX."""
        return find(self.lookup, state)


@functools.lru_cache(maxsize=2)
def solve(game: Game[Any], *, limit: int = MAX_STATES) -> Solution:
    """The exact solution of a game with at most `limit` states, or fewer if its tables would exceed the memory."""
    graph = build(game, limit=limit)
    values = _iterate(game, graph)
    optimal = _optimal(values, graph.actor, graph.child, game.spec.num_actions)
    return Solution(game, graph, values, optimal, make_lookup(graph.rows))


# --- the perfect player -----------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Perfect:
    """Policy: uniform over the best actions."""

    game: Game[Any]

    def __call__(self, params: PerfectParams, state: Any) -> Array:
        row = find(params.lookup, state)
        return jnp.where((row >= 0) & params.optimal[row], 0.0, -jnp.inf)


class PerfectParams(NamedTuple):
    lookup: Lookup
    optimal: Array  # [N, A] bool


@functools.lru_cache(maxsize=2)
def perfect(game: Game[Any]) -> Policy:
    """The perfect player of a game small enough to solve."""
    solution = solve(game)  # type: ignore[arg-type]  # the protocol does not declare games hashable
    return Policy(Perfect(game), PerfectParams(solution.lookup, jnp.asarray(solution.optimal)))


# --- value iteration --------------------------------------------------------------------------------------------------


def _iterate(game: Game[Any], graph: Graph) -> np.ndarray:
    """[N, P] values of all states, computed in reverse topological order of the strongly connected components.

    The states of a component are swept until their values converge; in a game without cycles every state is its own
    component.
    """
    values = graph.returns.copy()
    order, ends = _components(graph.child)
    component, sweeps = 0, 0
    with progress.track(f"solving {game.spec.name}", len(values), "states") as bar:
        while component < len(ends) and sweeps < MAX_SWEEPS:
            component, sweeps = _sweep(values, graph.actor, graph.child, graph.chance, order, ends, component, sweeps)
            bar.update(int(ends[component - 1]) if component else 0)
    if sweeps == MAX_SWEEPS:
        raise UserError(
            f"the values of {registry.describe(game)} do not converge within {MAX_SWEEPS:,} sweeps; "
            "expected a game in which best play comes to an end"
        )
    return values


@compiled
def _components(child: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Strongly connected components, in reverse topological order (children's components first).

    Tarjan 1972, with an explicit stack in place of recursion. Returns the [N] states in that order and the end of each
    component.
    """
    num_states, num_moves = child.shape
    met = np.full(num_states, -1, np.int32)  # discovery index of a state
    low = np.empty(num_states, np.int32)  # smallest discovery index on the stack that it leads back to
    move = np.zeros(num_states, np.int32)  # the next move to follow
    open_ = np.zeros(num_states, np.bool_)  # discovered, and its component not yet complete
    path = np.empty(num_states, np.int32)
    stack = np.empty(num_states, np.int32)
    order = np.empty(num_states, np.int32)
    ends = np.empty(num_states, np.int32)
    # All states are reachable from row 0.
    path[0] = stack[0] = met[0] = low[0] = 0
    open_[0] = True
    num_path = num_stack = num_met = 1
    num_ordered = num_ends = 0
    while num_path:
        n = path[num_path - 1]
        if move[n] < num_moves:
            c = child[n, move[n]]
            move[n] += 1
            if c >= 0 and met[c] < 0:
                met[c] = low[c] = num_met
                num_met += 1
                open_[c] = True
                path[num_path] = stack[num_stack] = c
                num_path += 1
                num_stack += 1
            elif c >= 0 and open_[c]:
                low[n] = min(low[n], met[c])
            continue
        num_path -= 1
        if num_path:
            parent = path[num_path - 1]
            low[parent] = min(low[parent], low[n])
        if low[n] == met[n]:
            while True:
                num_stack -= 1
                member = stack[num_stack]
                open_[member] = False
                order[num_ordered] = member
                num_ordered += 1
                if member == n:
                    break
            ends[num_ends] = num_ordered
            num_ends += 1
    return order, ends[:num_ends].copy()


@compiled
def _sweep(
    values: np.ndarray,
    actor: np.ndarray,
    child: np.ndarray,
    chance: np.ndarray,
    order: np.ndarray,
    ends: np.ndarray,
    component: int,
    sweeps: int,
) -> tuple[int, int]:
    """Sweeps one component after another for about CALL_UPDATES updates.

    Returns the component to continue with and its number of sweeps so far, MAX_SWEEPS if it does not converge.
    """
    work = 0
    while component < len(ends) and work < CALL_UPDATES:
        start = ends[component - 1] if component else 0
        change = 0.0
        for n in order[start : ends[component]]:
            change = max(change, _update(values, actor[n], child[n], chance[n], n))
        work += ends[component] - start
        sweeps += 1
        if change <= TOLERANCE:
            component += 1
            sweeps = 0
        elif sweeps == MAX_SWEEPS:
            break
    return component, sweeps


@compiled
def _update(values: np.ndarray, actor: int, child: np.ndarray, chance: np.ndarray, n: int) -> float:
    """Sets v(s) from the newest values of its successors; returns the size of the change.

    v(s) = Σ p v(s') at a chance node. At a decision v is the value after the action with the largest v_actor(s'); the
    other players' components are averaged over the actions that are equally good for the actor (maxⁿ: Luckhardt and
    Irani 1986).
    """
    if actor == TERMINAL:
        return 0.0
    best = -np.inf
    total = 0.0
    if actor >= 0:
        for c in child:
            if c >= 0:
                best = max(best, values[c, actor])
        for c in child:
            if c >= 0 and values[c, actor] >= best - TIE:
                total += 1.0
    change = 0.0
    for p in range(values.shape[1]):
        new = 0.0
        if actor == CHANCE:
            for m in range(len(chance)):
                if child[m] >= 0:
                    new += chance[m] * values[child[m], p]
        elif actor == p:
            new = best
        else:
            for c in child:
                if c >= 0 and values[c, actor] >= best - TIE:
                    new += values[c, p]
            new /= total
        change = max(change, abs(new - values[n, p]))
        values[n, p] = new
    return change


@compiled
def _optimal(values: np.ndarray, actor: np.ndarray, child: np.ndarray, num_actions: int) -> np.ndarray:
    """[N, A] bool: the best actions at each decision."""
    optimal = np.zeros((len(actor), num_actions), np.bool_)
    for n in range(len(actor)):
        if actor[n] >= 0:
            best = -np.inf
            for a in range(num_actions):
                if child[n, a] >= 0:
                    best = max(best, values[child[n, a], actor[n]])
            for a in range(num_actions):
                optimal[n, a] = child[n, a] >= 0 and values[child[n, a], actor[n]] >= best - TIE
    return optimal
