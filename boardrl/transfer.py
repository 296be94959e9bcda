"""Learned players in a game with other rules than they learned by."""

from __future__ import annotations

from typing import Any

import jax

from boardrl import registry
from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.players import HostPlayer
from boardrl.policy import Policy


def transfer(
    algorithm: Any, settings: Any, own: Game[Any], state: Any, other: Game[Any]
) -> tuple[Policy, HostPlayer | None]:
    """The policy, and the host player if there is one, of what was learned in one game, for another.

    The other must be the same game with other options, and its parameters must have the same shapes.
    """
    texts = [registry.describe(game) for game in (own, other)]
    if len({text.partition(":")[0] for text in texts}) > 1:
        raise UserError(f"{texts[0]} is another game than {texts[1]}")
    algorithm.check(settings, other)
    had, wanted = (_shapes(algorithm, settings, game) for game in (own, other))
    if had != wanted:
        raise UserError(f"what was learned for {texts[0]} has other shapes than {texts[1]} needs")
    host = algorithm.player(settings, other, state) if hasattr(algorithm, "player") else None
    return algorithm.policy(settings, other, state), host


def _shapes(algorithm: Any, settings: Any, game: Game[Any]) -> Any:
    """What can be compared of the parameters of a policy."""

    def params() -> Any:
        return algorithm.policy(settings, game, algorithm.init(settings, game, jax.random.key(0))).params

    leaves, structure = jax.tree.flatten(jax.eval_shape(params))
    return structure, [(leaf.shape, leaf.dtype) for leaf in leaves]
