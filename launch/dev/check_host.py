"""Compares the compiled rules of a game with its rules in JAX, at every position of random games.

    python -m launch.dev.check_host --game=ludo:rules=sdu_java --rolls=1000000

Exit code 0 if there is no difference, 1 if there is one, 2 for wrong usage.
"""

from __future__ import annotations

import dataclasses
import sys
import time

from boardrl import host, registry
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.host import random_games
from boardrl.runs import progress
from boardrl.testing import host_check
from launch import cli


@dataclasses.dataclass(frozen=True)
class Settings:
    game: str = setting("", "the game with its options, like ludo:rules=sdu_java")
    rolls: int = setting(1_000_000, "number of rolls to compare; steps, for a game without chance")
    seed: int = setting(0, "random seed; the same seed compares the same positions")


def main(settings: Settings) -> None:
    game = registry.make(settings.game)
    if settings.rolls < 1 or not 0 <= settings.seed < 2**31:
        raise UserError(f"--rolls={settings.rolls} --seed={settings.seed}: expected 1 or more, and 0 to {2**31 - 1}")
    with progress.track("comparing", settings.rolls, "rolls") as bar:
        agreement = host_check.compare(game, num_rolls=settings.rolls, seed=settings.seed, bar=bar)
    print(f"{settings.game}: {agreement.steps:,} steps, {agreement.rolls:,} rolls, {agreement.games:,} games compared")
    for name, count in agreement.differences.items():
        print(f"  {name:8} {count:,} differences")
    print(f"  random play on the compiled rules: {_speed(settings):,.0f} rolls (or steps) a second of one core")
    if any(agreement.differences.values()):
        sys.exit(1)


def _speed(settings: Settings) -> float:
    game = registry.make(settings.game)
    kernel = host.specialise(random_games, host.of(game))
    kernel.count(1, settings.seed)  # compiles
    began = time.process_time()  # without the time of other programs on the core
    steps, rolls, _ = kernel.count(500_000, settings.seed)
    return (rolls or steps) / (time.process_time() - began)


if __name__ == "__main__":
    cli.run(main, Settings)
