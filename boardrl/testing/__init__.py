"""The conformance kit: `check_game(game)` checks a game against every promise of the protocol."""

from boardrl.testing.check import check_game, examine, variants
from boardrl.testing.play import replay
from boardrl.testing.report import ConformanceError, Failure, Finding, Report

__all__ = ["ConformanceError", "Failure", "Finding", "Report", "check_game", "examine", "replay", "variants"]
