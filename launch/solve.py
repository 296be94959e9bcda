"""Solves a game: its exact value when all play their best, and a best line.

    python -m launch.solve --game=jumper:size=4 --json=out.json

Games of two players without dice are searched to their end; others are solved by value iteration over all their
states. The JSON has the keys of launch.analyse.
"""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import jax
import numpy as np

from boardrl import host, registry
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.exact.solve import Solution, solve
from launch import analyse, cli
from launch.console import output, positions, search_progress
from search import evaluators, searchers
from search.analysis import turns
from search.budget import Budget
from search.searcher import Searcher

MOST_MOVES = 1000  # of a best line


@dataclasses.dataclass(frozen=True)
class Config:
    game: str = setting("tic_tac_toe", "the game, with its options")
    position: str = setting("", "file with the position, as the game writes it; empty: the first")
    ms: float = setting(0.0, "milliseconds after which a search gives up; 0: no limit")
    kilobytes: int = setting(1 << 20, "memory of a search, the table above all")
    symmetry: bool = setting(True, "let the table know mirror images as one position, where the game has them")
    json: str = setting("", "file for the result; empty: none")
    overwrite: bool = setting(False, "replace the --json file if it exists")


def main(config: Config) -> None:
    path = output.free_path("json", config.json, overwrite=config.overwrite)
    game: Any = registry.make(config.game)
    state = positions.read(game, config.position)
    if "negascout" not in searchers.fitting(game):
        analyse.show(by_iteration(game, state), path)
        return
    facet = host.of(game)
    options = searchers.find("negascout").options(symmetry=config.symmetry and facet.module.NUM_SYMMETRIES > 1)
    budget = Budget(ms=config.ms, kilobytes=config.kilobytes)
    # A game's evaluation puts the better moves first in the deeper searches; the last one goes to the end without it.
    evaluator = evaluators.default(facet, limited=False)
    searcher = Searcher(game, "negascout", options, budget=budget, evaluator=evaluator)
    result = search_progress.search(searcher, state)
    if not result.exact:
        last = list(searcher.nodes_to.items())[-4:]
        reached = ", ".join(f"{nodes:,} to depth {depth}" for depth, nodes in last)
        raise UserError(
            f"{config.game} was not solved in {result.milliseconds / 1e3:,.0f} s and {result.nodes:,} nodes, "
            f"of which {reached}, of at most {game.spec.max_steps}; give more --ms or --kilobytes, or a smaller board"
        )
    analyse.show(analyse.content_of(searcher, searcher.complete(result)), path)


def by_iteration(game: Any, state: Any) -> dict[str, Any]:
    """What value iteration finds, in the words of a search: depth 0, and a node for every state."""
    began = time.monotonic()
    solution = solve(game)
    number = int(solution.index(state))
    if number < 0:
        raise UserError("the position cannot be reached from the first one; give one that can")
    ms = (time.monotonic() - began) * 1e3
    tables = (solution.values, solution.optimal, *(np.asarray(part) for part in jax.tree.leaves(solution.graph)))
    return {
        "value": [float(value) for value in solution.values[number]],
        "pv": turns.text(host.of(game), best_line(solution, number)),
        "depth": 0,
        "nodes": solution.num_states,
        "nodes_per_second": solution.num_states / ms * 1e3,
        "milliseconds": ms,
        "bytes": sum(table.nbytes for table in tables),
        "exact": True,
        "evaluation": "none",
    }


def best_line(solution: Solution, number: int) -> list[np.ndarray]:
    """Rows from a state on, each player taking the first of its best actions, until the dice or the end."""
    game: Any = solution.game
    facet = host.of(game)
    rows = facet.row(solution.states())
    path = [rows[number]]
    for _ in range(MOST_MOVES):
        if solution.graph.actor[number] < 0:
            break
        number = int(solution.graph.child[number, int(solution.optimal[number].argmax())])
        path.append(rows[number])
    return path


if __name__ == "__main__":
    cli.run(main, Config)
