"""Checks of settings that several learners share; each refuses a bad value in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from boardrl import optional, options
from boardrl.errors import UserError
from boardrl.game import Game


def check(config: Any, game: Game[Any], *, fractions: Sequence[str], counts: Sequence[str]) -> None:
    """Refuses values out of range, nets without units and too many opponents.

    Args:
      fractions: names of fields from 0 to 1.
      counts: names of fields that are at least 1.
    """
    check_fractions(config, fractions)
    check_counts(config, counts)
    if getattr(config, "steps", 1) > game.spec.max_steps:
        raise UserError(f"--steps={config.steps} is longer than any game: expected at most {game.spec.max_steps}")
    check_hidden(getattr(config, "hidden", ()))
    seats = game.spec.num_players
    if len(options.split(config.opponents)) >= seats:
        raise UserError(
            f"--opponents={config.opponents} leaves no seat to learn: {seats} players, so name fewer than {seats}"
        )


def check_fractions(config: Any, names: Sequence[str]) -> None:
    for name in names:
        if not 0 <= getattr(config, name) <= 1:
            raise UserError(f"--{name}={getattr(config, name)} is out of range: expected 0 to 1")


def check_counts(config: Any, names: Sequence[str]) -> None:
    for name in names:
        if getattr(config, name) < 1:
            raise UserError(f"--{name}={getattr(config, name)} is too small: expected at least 1")


def check_hidden(hidden: Sequence[int]) -> None:
    if min(hidden, default=1) < 1:
        raise UserError(f"--hidden={'+'.join(map(str, hidden))} has a layer without units: expected like 64+64")


def check_opening(config: Any) -> None:
    if config.opening < 0:
        raise UserError(f"--opening={config.opening} is no number of steps: expected 0 or more")


def check_divides(config: Any, divisor: str, whole: str) -> None:
    """Refuses a setting that does not divide another."""
    part, total = getattr(config, divisor), getattr(config, whole)
    if part < 1 or total % part:
        raise UserError(f"--{divisor}={part} does not divide --{whole}={total}: expected 1 or a divisor")


def check_encoding(config: Any, game: Game[Any]) -> None:
    """Refuses an encoding that the game does not offer; none is its `observe`."""
    known = optional.encodings(game)
    if config.encoding and config.encoding not in known:
        raise UserError(
            f"--encoding={config.encoding} is not one of {game.spec.name}; expected one of {', '.join(known) or 'none'}"
        )
