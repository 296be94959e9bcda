"""Searchers made by name."""

from __future__ import annotations

from typing import Any

from search import searchers
from search.budget import Budget
from search.evaluators import Evaluator
from search.searcher import Searcher
from search.tree_searcher import TreeSearcher


def make(
    game: Any,
    name: str,
    options: Any = None,
    *,
    budget: Budget,
    evaluator: Evaluator | None = None,
) -> Searcher:
    """The searcher of a name, such as `negascout` or `mcts`.

    Args:
      options: of the searcher, see `search.searchers`; none: its defaults.
      evaluator: values positions where the search ends; none: the game's weights of features, else playouts.
    """
    kind = TreeSearcher if searchers.find(name).samples else Searcher
    return kind(game, name, options, budget=budget, evaluator=evaluator)
