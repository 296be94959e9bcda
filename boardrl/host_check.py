"""The compiled rules of a game against its rules in JAX, over random games."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import Array

from boardrl import host, host_random, progress
from boardrl.game import CHANCE, TERMINAL, Game

CHUNK = 1 << 15  # positions compared at once


class Agreement(NamedTuple):
    """How much was compared, and what differed."""

    steps: int
    rolls: int
    games: int
    differences: dict[str, int]  # numbers that differ, by function


def compare(game: Game[Any], *, num_rolls: int, seed: int, bar: progress.Bar | None = None) -> Agreement:
    """Plays at random on the compiled rules and asks the rules in JAX about every position and every move.

    In a game without chance the steps are counted in place of the rolls.
    """
    facet = host.of(game)
    kernel = host.specialise(host_random, facet)
    spec = game.spec
    steps, rolls, games, chunk = 0, 0, 0, 0
    differences = dict.fromkeys(("actor", "legal", "chance", "returns", "step"), 0)
    returns, work = np.zeros(spec.num_players, np.float32), facet.work()
    while (rolls if spec.num_outcomes else steps) < num_rolls:
        rows, afters = facet.rows(CHUNK), facet.rows(CHUNK)
        moves, actors = np.zeros(CHUNK, np.int32), np.zeros(CHUNK, np.int32)
        masks, probs = np.zeros((CHUNK, spec.num_actions), np.bool_), np.zeros((CHUNK, spec.num_outcomes), np.float32)
        kernel.record(rows, afters, moves, actors, masks, probs, seed + chunk)
        asked = jax.device_get(_ask(game, facet.state(rows), moves))
        found = {"actor": actors, "legal": masks, "chance": probs, "step": afters}
        expected = {"actor": asked.actor, "legal": asked.legal, "chance": asked.chance, "step": facet.row(asked.step)}
        for name, values in found.items():
            differences[name] += int((values != expected[name]).sum())
        for index in np.flatnonzero(actors == TERMINAL):
            facet.returns(rows[index], returns, work)
            differences["returns"] += int((returns != asked.returns[index]).sum())
        steps, rolls = steps + CHUNK, rolls + int((actors == CHANCE).sum())
        games += int((actors == TERMINAL).sum())
        chunk += 1
        if bar is not None:
            bar.update(min(rolls if spec.num_outcomes else steps, num_rolls))
    return Agreement(steps, rolls, games, differences)


class _Answers(NamedTuple):
    actor: Array  # [N]
    legal: Array  # [N, A]
    chance: Array  # [N, C]
    returns: Array  # [N, P]
    step: Any  # [N] states


@functools.partial(jax.jit, static_argnames="game")
def _ask(game: Game[Any], states: Any, moves: Array) -> _Answers:
    def one(state: Any, move: Array) -> _Answers:
        return _Answers(
            game.actor(state), game.legal(state), game.chance(state), game.returns(state), game.step(state, move)
        )

    return jax.vmap(one)(states, moves)
