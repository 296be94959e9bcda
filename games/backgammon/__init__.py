"""Backgammon: explicit dice, one checker move an action, cubeless money play."""

from games.backgammon.game import Backgammon

__all__ = ["Backgammon"]
