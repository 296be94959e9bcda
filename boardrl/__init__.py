"""Board-game reinforcement learning: rules once, in JAX; learning, search and matches for every game.

The public names, each documented in docs/api.md. They are imported when they are first used: `import boardrl` alone
loads neither JAX nor the games.

    import boardrl

    game = boardrl.make("pig:target=30")
    print(boardrl.match(game, ["perfect", "random"], num_games=1000, seed=0))
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from boardrl.system import llvm_memory, numba_cache, numba_inference, numba_inner, numba_lookups

llvm_memory.install()
numba_cache.install()
numba_inference.install()
numba_inner.install()
numba_lookups.install()

if TYPE_CHECKING:
    from boardrl.errors import Exhausted, UserError
    from boardrl.exact.perft import perft
    from boardrl.exact.solve import Solution, solve
    from boardrl.game import CHANCE, TERMINAL, Deterministic, Game, Spec, one_hot, select
    from boardrl.matches.arena import Match, match
    from boardrl.play.players import HostPlayer, Player
    from boardrl.play.players import make as make_player
    from boardrl.play.policy import Policy
    from boardrl.registry import algorithm, describe, make, names
    from boardrl.runs.learned import load_run
    from boardrl.runs.run_directory import Learned
    from boardrl.testing.check import check_game
    from boardrl.testing.report import ConformanceError
    from boardrl.tournaments.tournament import Tournament
    from boardrl.tournaments.tournament import play as tournament

__all__ = [
    "CHANCE",
    "TERMINAL",
    "ConformanceError",
    "Deterministic",
    "Exhausted",
    "Game",
    "HostPlayer",
    "Learned",
    "Match",
    "Player",
    "Policy",
    "Solution",
    "Spec",
    "Tournament",
    "UserError",
    "algorithm",
    "check_game",
    "describe",
    "load_run",
    "make",
    "make_player",
    "match",
    "names",
    "one_hot",
    "perft",
    "select",
    "solve",
    "tournament",
]

_PLACES = {  # of each public name: its module, and what it is called there if that is something else
    "CHANCE": "boardrl.game",
    "TERMINAL": "boardrl.game",
    "ConformanceError": "boardrl.testing.report",
    "Deterministic": "boardrl.game",
    "Exhausted": "boardrl.errors",
    "Game": "boardrl.game",
    "HostPlayer": "boardrl.play.players",
    "Learned": "boardrl.runs.run_directory",
    "Match": "boardrl.matches.arena",
    "Player": "boardrl.play.players",
    "Policy": "boardrl.play.policy",
    "Solution": "boardrl.exact.solve",
    "Spec": "boardrl.game",
    "Tournament": "boardrl.tournaments.tournament",
    "UserError": "boardrl.errors",
    "algorithm": "boardrl.registry",
    "check_game": "boardrl.testing.check",
    "describe": "boardrl.registry",
    "load_run": "boardrl.runs.learned",
    "make": "boardrl.registry",
    "make_player": "boardrl.play.players:make",
    "match": "boardrl.matches.arena",
    "names": "boardrl.registry",
    "one_hot": "boardrl.game",
    "perft": "boardrl.exact.perft",
    "select": "boardrl.game",
    "solve": "boardrl.exact.solve",
    "tournament": "boardrl.tournaments.tournament:play",
}


def __getattr__(name: str) -> Any:
    """A public name when it is first used (PEP 562)."""
    if name not in _PLACES:
        raise AttributeError(f"module 'boardrl' has no attribute {name!r}")
    module, _, attribute = _PLACES[name].partition(":")
    found = getattr(importlib.import_module(module), attribute or name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
