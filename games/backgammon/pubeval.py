"""Tesauro's public linear evaluator, `pubeval`: the benchmark of backgammon programs since 1993.

Score = Σ w x over 122 inputs, with one set of weights for races and one for contact, by the position before the move.
Gerald Tesauro gave the weights (files WT.race and WT.cntc) to the public in rec.games.backgammon in 1993
(https://bkgm.com/rgb/rgb.cgi?view+610; OpenBSD's and GNU Backgammon's sources have the same numbers).
"""

from __future__ import annotations

import functools
import json
import pathlib

import numpy as np

from games.backgammon.board import BAR, CHECKERS, POINTS

PATH = pathlib.Path(__file__).parent / "weights" / "pubeval.json"
INPUTS = 5 * POINTS + 2


@functools.cache
def weights() -> dict[str, np.ndarray]:
    """[122] weights by the kind of position, `race` and `contact`."""
    read = json.loads(PATH.read_text())
    return {kind: np.array(read[kind], np.float64) for kind in ("race", "contact")}


def is_race(mine: np.ndarray, theirs: np.ndarray) -> bool:
    """Whether no checker of either side can be hit or blocked any more; 25 places each, in the side's own view."""
    furthest = [int(np.flatnonzero(side).max(initial=-1)) for side in (mine, theirs)]
    return furthest[0] + furthest[1] < POINTS - 1


def inputs(mine: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """[N, 122] of [N, 25] sides after the move of `mine`.

    From the mover's 24-point down, five units a point: an opposing blot, one own checker, two or more, three, and half
    of those above three. Then half the opponent's checkers on the bar, and the share of own checkers that are off.
    """
    own, blot = mine[:, POINTS - 1 :: -1], theirs[:, :POINTS] == 1
    units = np.stack([blot, own == 1, own >= 2, own == 3, np.where(own >= 4, (own - 3) / 2, 0)], -1)
    rest = np.stack([theirs[:, BAR] / 2, (CHECKERS - mine.sum(1)) / CHECKERS], -1)
    return np.concatenate([units.reshape(len(mine), -1), rest], 1)


def scores(mine: np.ndarray, theirs: np.ndarray, *, race: bool) -> np.ndarray:
    """[N] the worth of positions to the side that has just moved there; having won is worth more than all else."""
    kind = "race" if race else "contact"
    return np.where(mine.sum(1) == 0, np.inf, inputs(mine, theirs) @ weights()[kind])
