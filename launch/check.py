"""Holds a game to every promise of the protocol, for every player count it accepts.

    python -m launch.check --game=pig
    python -m launch.check --game=pig:players=3,target=30 --games=256 --seed=7
    python -m launch.check --replay=game.json

With --replay a recorded game is verified instead: every move by the rules, and the result.

Exit code 0 if the game keeps them all, 1 if it breaks one, 2 if the command is mistaken.
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
import sys
import tempfile

from boardrl import options, registry, testing
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.matches import replay_file
from boardrl.runs import progress
from boardrl.system import machine
from launch import cli
from launch.console import named_players

GAME_BYTES = 1 << 10  # at least, of all that is kept of a game that is played


@dataclasses.dataclass(frozen=True)
class Settings:
    """Flags of this command."""

    game: str = setting("", "a game, with options if need be; without players= every player count is checked")
    games: int = setting(64, "random games played from start to end")
    seed: int = setting(0, "the same seed checks the same states")
    replay: str = setting("", "a file of launch.play --record or launch.evaluate --record to verify by the rules")
    examples: int = setting(50, "sequences of moves drawn by Hypothesis, each from many positions at once")


def main(settings: Settings) -> None:
    if settings.replay:
        verify(pathlib.Path(settings.replay), settings.game)
        return
    if not settings.game:
        raise UserError(f"no game is given; expected --game=NAME, one of {', '.join(registry.names())}")
    game = registry.make(settings.game)
    games = [game] if _names_players(settings.game) else testing.variants(game)
    broken = False
    machine.require(settings.games * GAME_BYTES, f"--games={settings.games}", "give fewer games")
    with tempfile.TemporaryDirectory() as scratch:
        # Hypothesis keeps a cache, by default in the working directory, where nobody asked for it.
        os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", scratch)
        for variant in games:
            report = testing.examine(
                variant,
                games=settings.games,
                seed=settings.seed,
                examples=settings.examples,
                make_player=named_players.make,
            )
            print(table(report), flush=True)
            broken = broken or bool(report.broken)
    if broken:
        sys.exit(1)


def verify(path: pathlib.Path, expected: str) -> None:
    """Follows a recorded game by the rules; UserError if they do not allow it, or for another game than the named."""
    replay = replay_file.read(path)
    game = replay_file.game_of(path, replay, expected)
    total = len(replay.moves) + len(replay.outcomes)
    with progress.track("following", total, "steps") as bar:
        for number, _ in enumerate(replay_file.follow(path, replay, game), 1):
            bar.update(number)
    ended = "broken off" if replay.result is None else "cut" if replay.result.cut else "over"
    result = f", returns {', '.join(f'{value:g}' for value in replay.result.returns)}" if replay.result else ""
    print(f"{path}: {replay.text}, {total:,} steps by the rules, {ended}{result}")


def table(report: testing.Report) -> str:
    """The findings as aligned lines, and a sentence for each that is broken."""
    lines = [report.game, f"  {'property':34}{'states':>12}  result"]
    for finding in report.findings:
        states = "" if finding.states is None else f"{finding.states:,}"
        lines.append(f"  {finding.name:34}{states:>12}  {_result(finding)}")
    for finding in report.broken:
        lines.append(f"broken: {finding.name} ({finding.promise}): {finding.failure}")
    lines += [f"note: {note}" for note in report.notes]
    kept = sum(_result(finding) == "ok" for finding in report.findings)
    lines.append(f"{report.game}: {kept} properties hold, {len(report.broken)} broken\n")
    return "\n".join(lines)


def _result(finding: testing.Finding) -> str:
    if finding.failure is not None:
        return "BROKEN"
    if not finding.checked:
        return "not checked, as the game is broken above"
    return "no such states" if finding.states == 0 else "ok"


def _names_players(text: str) -> bool:
    parts = options.split(text.partition(":")[2])
    return any(part.partition("=")[0].strip() == "players" for part in parts)


if __name__ == "__main__":
    cli.run(main, Settings)
