"""One random step of a game, in Python: for warming up and for sample positions."""

from __future__ import annotations

import numpy as np

from boardrl.game import CHANCE
from boardrl.host import Facet


def step(facet: Facet, row: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The row after a random outcome or a uniformly random legal action; the game must not be over."""
    spec, after, work = facet.game.spec, facet.rows(), facet.work()
    if facet.actor(row, work) == CHANCE:
        probs = np.zeros(spec.num_outcomes, np.float32)
        facet.chance(row, probs, work)
        move = rng.choice(len(probs), p=probs.astype(np.float64) / probs.sum(dtype=np.float64))
    else:
        move = rng.choice(facet.actions(row))
    facet.step(row, int(move), after, work)
    return after
