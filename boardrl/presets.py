"""Settings of papers by name: those that a game offers for an algorithm, and the algorithm's own."""

from __future__ import annotations

from typing import Any

from boardrl import optional, registry
from boardrl.errors import UserError, did_you_mean
from boardrl.game import Game


def known(algo: str, game: Game[Any] | None) -> dict[str, dict[str, Any]]:
    """{name: {setting: value}} for an algorithm: its own, for any game, and those of the game."""
    own: dict[str, dict[str, Any]] = getattr(registry.algorithm(algo), "PRESETS", {})
    return {**own, **of_game(algo, game)}


def of_game(algo: str, game: Game[Any] | None) -> dict[str, dict[str, Any]]:
    """{name: {setting: value}} that a game offers for an algorithm, as its optional member `presets`."""
    own = {} if game is None else optional.presets(game).get(algo, {})
    return {name: dict(preset) for name, preset in own.items()}


def find(name: str, algo: str, game: Game[Any] | None) -> dict[str, Any]:
    """The settings of a preset."""
    found = known(algo, game)
    if name not in found:
        of, then = (f" for {game.spec.name}", "") if game else ("", "; name a --game, as most belong to one")
        hint = did_you_mean(name, found)
        raise UserError(
            f"unknown preset {name!r} of {algo}{of}{hint}; known presets: {', '.join(found) or 'none'}{then}"
        )
    return dict(found[name])
