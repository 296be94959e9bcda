"""Genome `weights`: the weights of a game's features, or of a net, by which its players value positions.

Players search so many turns ahead with them, or take the action whose afterstate has the highest value.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Hashable
from typing import Any, Literal, cast

import jax
import numpy as np
from jax.flatten_util import ravel_pytree

from algorithms.by_search import learner
from algorithms.genomes import search_matches
from algorithms.genomes.genome import Expressed, Genes
from boardrl import optional
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.play.policy import Greedy, Policy
from boardrl.values import linear, nets
from search.player import SearchPlayer


@dataclasses.dataclass(frozen=True)
class Weights:
    depth: int | None = setting(
        None, "turns that players look ahead; 0: they take the best afterstate; none: 1 where there are no dice, else 0"
    )
    searcher: str = setting("", "who searches; empty: negascout, with dice expectimax, for more players maxn")
    kilobytes: int = setting(1024, "memory of each searcher")
    evaluator: Literal["features", "net"] | None = setting(
        None, "what is weighed: features or net; none: features where the game has some"
    )
    features: str = setting("", "which set of the game's features; empty: its first")
    hidden: tuple[int, ...] = setting((8,), "hidden layers of a net")
    activation: nets.Activation = setting("tanh", "between the layers of a net")
    low: float = setting(-1.0, "the lowest weight")
    high: float = setting(1.0, "the highest")

    def check(self, game: Game[Any]) -> None:
        if self.depth is not None and self.depth < 0:
            raise UserError(f"depth={self.depth} of genome 'weights' is no number of turns: expected 0 or more")
        if self.evaluator == "features" and optional.features(game) is None:
            raise UserError(
                f"{game.spec.name} offers no features to weigh, which genome 'weights' was asked for; give "
                "weights(evaluator=net)"
            )
        if self.searches(game):
            learner.check(self._search(game), game)

    def searches(self, game: Game[Any]) -> bool:
        """Whether players look further than their own moves."""
        return self._depth(game) > 0

    def genes(self, game: Game[Any]) -> Genes:
        num_weights = _ravelled(cast(Hashable, game), self._search(game))[0].size
        names: tuple[str, ...] = ()
        if isinstance(self._value(game), linear.Linear):
            names = linear.find(game, self.features).names
        names = names or tuple(f"w{index}" for index in range(num_weights))
        bounds = (np.full(num_weights, bound, np.float32) for bound in (self.low, self.high))
        return Genes(names, *bounds)

    def blank(self, game: Game[Any]) -> Any:
        return self._value(game).init(jax.random.key(0))

    def express(self, game: Game[Any], genes: np.ndarray, seeds: np.ndarray) -> Expressed:
        _, unravel = _ravelled(cast(Hashable, game), self._search(game))
        return Expressed(jax.vmap(unravel)(np.asarray(genes, np.float32)), {})

    def policy(self, game: Game[Any], params: Any) -> Policy:
        return Policy(Greedy(game, self._value(game)), params)

    def player(self, game: Game[Any], params: Any) -> SearchPlayer | None:
        return learner.search_player(self._search(game), game, params) if self.searches(game) else None

    def tables(self, game: Game[Any]) -> search_matches.Tables | None:
        """Where members meet who search; None where their policies play."""
        return search_matches.tables(self._search(game), cast(Hashable, game)) if self.searches(game) else None

    def _value(self, game: Game[Any]) -> Any:
        return learner.value_of(self._search(game), game)

    def _depth(self, game: Game[Any]) -> int:
        return int(game.spec.num_outcomes == 0) if self.depth is None else self.depth

    def _search(self, game: Game[Any]) -> learner.Config:
        names = ("searcher", "kilobytes", "evaluator", "features", "hidden", "activation")
        return learner.Config(depth=max(self._depth(game), 1), **{name: getattr(self, name) for name in names})


@functools.cache
def _ravelled(game: Any, config: learner.Config) -> tuple[np.ndarray, Any]:
    """The weights of nothing as one vector, and the way back."""
    with jax.ensure_compile_time_eval():  # also called while JAX traces
        flat, unravel = ravel_pytree(learner.value_of(config, game).init(jax.random.key(0)))
        return np.asarray(flat), unravel
