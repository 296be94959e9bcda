"""Properties of a game's features, weights and named players."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from boardrl import optional
from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.testing.report import Broken, entry_text, one_line, state_text
from boardrl.values import linear, weight_file
from boardrl.values.linear import FeatureSet

MakePlayer = Callable[[str, Game[Any]], Any]  # raises UserError for the text of an unknown player


def feature_sets(game: Game[Any]) -> dict[str, FeatureSet]:
    """All feature sets of a game, by the name that a user types."""
    named = optional.feature_sets(game)
    sets = {f"feature_sets[{name!r}]": linear.find(game, name) for name in named}
    return {"features": linear.find(game), **sets} if optional.features(game) is not None else sets


def features_as_declared(game: Game[Any]) -> None:
    """Features are [F] float32 with, if given, F names and F finite weights, also in the game's weight files."""
    for field, given in (
        ("feature_names", optional.feature_names(game)),
        ("feature_weights", optional.feature_weights(game)),
    ):
        if given and optional.features(game) is None:
            raise Broken(f"it has {field} but no features")
    for name, features in feature_sets(game).items():
        if not isinstance(features, FeatureSet):
            raise Broken(f"{name} is {type(features).__name__}, expected boardrl.values.linear.FeatureSet")
        try:
            found = jax.eval_shape(lambda state, f=features: f.function(game, state, jnp.int32(0)), game.init())
        except Exception as error:
            raise Broken(f"{name} raised {one_line(error)}") from error
        if not hasattr(found, "shape") or len(found.shape) != 1 or found.dtype != jnp.float32:
            raise Broken(f"{name} is {_type(found)}, expected float32[F]")
        names, values = ("feature_names", "feature_weights") if name == "features" else ("names", "weights")
        for part, given in ((names, features.names), (values, features.weights)):
            if len(given) not in (0, found.shape[0]):
                raise Broken(
                    f"{name} gives {found.shape[0]} numbers and {part} has {len(given)}; expected equal numbers"
                )
        _check_finite(f"{values} of {name}", features.weights)
    for name in optional.weight_files(game):
        try:
            _check_finite(f"weight_files[{name!r}]", weight_file.load(name, game).values)
        except UserError as error:
            raise Broken(f"weight_files[{name!r}]: {error}") from error


def features_are_finite(game: Game[Any], evidence: Any) -> int:
    """All features are finite, for every player."""
    sets = feature_sets(game)
    if not sets:
        return 0

    @jax.jit
    @jax.vmap
    def look(state: Any) -> dict[str, jax.Array]:
        seats = jnp.arange(game.spec.num_players)
        return {name: jax.vmap(lambda seat, f=f: f.function(game, state, seat))(seats) for name, f in sets.items()}

    states = jax.tree.map(lambda *leaves: np.stack(leaves), *(sample.node.state for sample in evidence.samples))
    for name, values in jax.device_get(look(states)).items():
        wrong = np.argwhere(~np.isfinite(values))
        for number, seat, index in wrong[:1].tolist():
            names = sets[name].names
            which = f"{names[index]!r} (number {index})" if names else f"number {index}"
            sample = evidence.samples[number]
            raise Broken(
                f"{name} gives player {seat} {values[number, seat, index]} as {which}",
                sample.moves,
                state_text(game, sample.node.state),
            )
    return len(evidence.samples)


def named_players_can_be_made(game: Game[Any], make: MakePlayer | None) -> int:
    """Every player of `named_players` can be made for this game."""
    named = optional.named_players(game)
    if make is None:
        return 0
    for name, text in named.items():
        try:
            make(name, game)
        except UserError as error:
            raise Broken(f"named_players[{name!r}] is {text!r}, which cannot be made: {error}") from error
    return len(named)


def observation_out_of_bounds(observations: np.ndarray) -> str:
    """A description of the first entry of [P, *obs_shape] that is not in [-1, 1]."""
    wrong = np.argwhere(~((observations >= -1) & (observations <= 1)))
    seat, *index = wrong[0].tolist()
    more = f", as are {len(wrong) - 1:,} more entries" if len(wrong) > 1 else ""
    return f"observe gives player {seat} {entry_text(observations[seat], index)}, out of [-1, 1]{more}"


def _check_finite(name: str, values: Sequence[float]) -> None:
    for index, value in enumerate(values):
        if not math.isfinite(value):
            raise Broken(f"{name} has {value} as number {index}; expected finite numbers")


def _type(found: Any) -> str:
    return f"{found.dtype}{list(found.shape)}" if hasattr(found, "shape") else type(found).__name__
