"""The game of Ludo: its rules and its optional members."""

from __future__ import annotations

import dataclasses
from typing import Any

from games.ludo import best, picture, text
from games.ludo.encode import ACTION_ENCODINGS, ENCODINGS
from games.ludo.events import CAUSES, EVENTS
from games.ludo.presets import PRESETS
from games.ludo.rules import LudoRules
from games.ludo.strategies import STRATEGIES


@dataclasses.dataclass(frozen=True)
class Ludo(LudoRules):
    lanes_last = True
    strategies = STRATEGIES
    defaults = {
        # The dice explore enough, so no decision needs to be random.
        "td_lambda": {
            "games": 100_000,
            "lanes": 512,
            "window": 16,
            "thin": 4,
            "hidden": (64,),
            "decay": 0.9,
            "epsilon": 0.0,
            "learning_rate": 3e-3,
            "evaluate_against": "random,mixed",
            "evaluate_every": 10_000,
            "evaluate_games": 500,
            "final_games": 20_000,
        },
        "dqn": {
            "games": 20_000,
            "lanes": 128,
            "window": 16,
            "hidden": (64,),
            "steps": 5,
            "epsilon": 0.5,
            "epsilon_end": 0.05,
            "evaluate_against": "random,mixed",
            "final_games": 20_000,
        },
        # With an annealed learning rate, and exploration to the end.
        "genetic": {
            "games": 480_000,
            "genome": "truth_table(encoding=saederup)",
            "games_per_generation": 3_200,
            "evaluate_against": "random,mixed",
        },
        "q_strategies": {
            "preset": "alhajry2012",
            "games": 20_000,
            "epsilon_end": 0.3,
            "epsilon_games": 0,
            "learning_rate_end": 0.0,
            "evaluate_against": "random,mixed",
            "final_games": 20_000,
        },
    }
    presets = PRESETS
    encodings = ENCODINGS
    action_encodings = ACTION_ENCODINGS
    events = EVENTS
    event_causes = CAUSES
    to_text = text.to_text
    from_text = text.from_text
    move_text = text.move_text
    draw = picture.draw
    clicks = picture.clicks
    routes = picture.routes
    show = picture.show

    @property
    def values(self) -> dict[str, Any]:
        """`best`: the net of `ludo_best`, on boards of the size that it was trained on."""
        return {"best": best.value} if best.fits(self) else {}

    @property
    def named_players(self) -> dict[str, str]:
        return {"ludo_best": "greedy(value=best)"} if best.fits(self) else {}

    @property
    def printed(self) -> dict[str, dict[str, float]]:
        """TD(λ) after 80,000 games of self-play, alhajry2012, Figure 2."""
        if self != Ludo():
            return {}
        return {"random": {"alhajry2012, TD(λ)": 0.66}, "mixed": {"alhajry2012, TD(λ)": 0.30}}
