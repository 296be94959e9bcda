"""Learned players in a game with other rules than they learned by."""

from __future__ import annotations

from typing import Any

import jax

from boardrl import registry
from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.play.players import HostPlayer
from boardrl.play.policy import Policy


def transfer(
    algorithm: Any, settings: Any, own: Game[Any], state: Any, other: Game[Any]
) -> tuple[Policy, HostPlayer | None]:
    """The policy, and the host player if there is one, of what was learned in one game, for another.

    The other must be the same game with other options, and what was learned must have the shapes that it needs.
    """
    texts = [registry.describe(game) for game in (own, other)]
    if len({text.partition(":")[0] for text in texts}) > 1:
        raise UserError(f"{texts[0]} is another game than {texts[1]}")
    algorithm.check(settings, other)
    try:
        policy = algorithm.policy(settings, other, state)
        shape = jax.eval_shape(policy.apply, policy.params, other.init()).shape
        host = algorithm.player(settings, other, state) if hasattr(algorithm, "player") else None
    except UserError:
        raise
    except Exception as error:  # as nets, tables and JAX each have their own for shapes that do not fit
        raise UserError(f"what was learned has other shapes than {texts[1]} needs") from error
    if shape != (other.spec.num_actions,):
        raise UserError(f"what was learned knows {shape[0]} actions, and {texts[1]} has {other.spec.num_actions}")
    return policy, host
