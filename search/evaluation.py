"""How positions at the depth limit are valued: the options of players and commands, and what they select."""

from __future__ import annotations

import dataclasses
import os
import pathlib
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from boardrl import host, registry
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.play import players
from boardrl.play.players import Learned
from boardrl.values import weight_file
from search import evaluators
from search.budget import Budget
from search.declaration import Declaration
from search.evaluators import Evaluator

Load = Callable[[pathlib.Path], Learned]  # loads what was learned in a run directory


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """Options that select the evaluator: a net, weights from a file, weighted features or playouts.

    The default is the game's own weights of its features; where it has none, playouts, or `td` for mcts with dice.
    """

    evaluation: str = setting(
        "", "features, playouts(games=N), td or none; empty: features with weights, else td or playouts"
    )
    net: str = setting(
        "", "a run directory, or a file of launch.export, whose value net values positions; none: features"
    )
    batched: bool | None = setting(None, "value the net in JAX, many positions at once; none: if it is large")
    learned: str = setting("", "a file of weights (launch.export), or the name of one that the game brings")
    features: str = setting("", "which set of the game's features; none: its first")
    weights: tuple[float, ...] = setting((), "of the game's features; none: the game's own")

    @property
    def given(self) -> list[str]:
        """The options that are set and select an evaluator."""
        return [name for name in ("evaluation", "net", "learned", "features", "weights") if getattr(self, name)]


def choose(game: Any, asked: Evaluation, declaration: Declaration, budget: Budget, *, load: Load) -> Evaluator:
    """The evaluator that was asked for.

    Args:
      declaration, budget: of the search; the default follows from them.
      load: gives what was learned in a run directory, for `net`.
    """
    if len(asked.given) > 1 and asked.given not in (["features", "weights"], ["evaluation", "weights"]):
        both = " and ".join(f"{name}=" for name in asked.given)
        raise UserError(f"{both} are given, and each says how positions are valued; leave all but one out")
    if asked.net:
        return learned_net(game, asked, load)
    if asked.learned:
        found = weight_file.load(asked.learned, game)
        return evaluators.named(game, found.features, found.values)
    if asked.features:
        return evaluators.named(game, asked.features, asked.weights)
    facet = host.of(game)
    if asked.evaluation or asked.weights:
        return evaluators.of_text(
            asked.evaluation, facet, asked.weights, games=declaration.playouts, simulates=declaration.samples
        )
    return evaluators.default(
        facet,
        games=declaration.playouts,
        limited=budget.limited or declaration.samples,
        simulates=declaration.samples,
    )


def learned_net(game: Any, asked: Evaluation, load: Load) -> Evaluator:
    """The value net of a run, or of a file."""
    path = pathlib.Path(asked.net)
    if not os.path.exists(path):
        raise UserError(
            f"net={asked.net!r} does not exist; expected a run directory, a checkpoint in it or a file of launch.export"
        )
    if path.is_file():
        from boardrl.values import net_file

        net, params = net_file.load(path, game)
        return evaluators.learned(game, net, jax.tree.map(jnp.asarray, params), batched=asked.batched)
    found = load(path)
    policy = players.fit(found, game, f"net={asked.net!r}").policy
    value = getattr(policy.apply, "value", None)
    if value is None:
        raise UserError(f"net={asked.net!r} holds no value net of {registry.describe(game)}; choose another run")
    return evaluators.learned(game, value, policy.params, batched=asked.batched)
