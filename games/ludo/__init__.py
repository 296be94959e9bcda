"""Ludo: every rule variant of the papers in one set of rules."""

from games.ludo.game import Ludo

__all__ = ["Ludo"]
