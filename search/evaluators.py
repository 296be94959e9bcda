"""Evaluators by kind, made into code for one game."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Sequence
from typing import Any

import numpy as np

from boardrl import host
from boardrl.errors import UserError
from boardrl.host import Facet
from boardrl.policy import Value
from search import evaluate_linear, evaluate_net, evaluate_none


@dataclasses.dataclass(frozen=True, eq=False)
class Evaluator:
    """Code that stands for `search.evaluator` in a kernel, and the numbers that it weighs with."""

    name: str
    module: types.ModuleType
    weights: np.ndarray  # float32
    symmetric: bool = True  # whether mirror images of a position have the same value
    scratch: int = 1  # float32s that it needs to work in, an even number past those of the players


def none(facet: Facet) -> Evaluator:
    """The game as it stands: for searches to the end."""
    return Evaluator("none", host.specialise(evaluate_none, facet), np.zeros(1, np.float32))


def linear(facet: Facet, weights: Sequence[float]) -> Evaluator:
    """A weighted sum of the game's features."""
    spec = facet.game.spec
    if not facet.module.NUM_FEATURES:
        raise UserError(f"{spec.name} offers no features to weigh; leave the weights out or choose another game")
    if len(weights) != facet.module.NUM_FEATURES:
        names = ", ".join(getattr(facet.game, "feature_names", ()))
        raise UserError(
            f"{len(weights)} weights do not fit {spec.name}: expected {facet.module.NUM_FEATURES}"
            + (f", for {names}" if names else "")
        )
    module = host.specialise(evaluate_linear, facet, LEAST=float(spec.min_return), MOST=float(spec.max_return))
    return Evaluator("linear", module, np.array(weights, np.float32))


def net(facet: Facet, value: Value, params: Any) -> Evaluator:
    """A value function in JAX, such as a flax net, compiled for rows of the lowered facet."""
    if facet is not host.lowered(facet.game):
        raise ValueError("nets are compiled for lowered rows; make the searcher with facet=host.lowered(game)")
    spec = facet.game.spec
    compiled = host.lower_value(value, params, facet.game)
    module = host.specialise(
        evaluate_net, facet, evaluator=compiled.module, LEAST=float(spec.min_return), MOST=float(spec.max_return)
    )
    scratch = module.NET_WORK + 2 * compiled.module.EVALUATOR_WORDS
    return Evaluator("net", module, compiled.params(params).view(np.float32), symmetric=False, scratch=scratch)


def default(facet: Facet, weights: Sequence[float] = ()) -> Evaluator:
    """By these weights; without any by those that the game offers as `feature_weights`; else none."""
    chosen: Any = tuple(weights) or getattr(facet.game, "feature_weights", ())
    return linear(facet, chosen) if chosen else none(facet)
