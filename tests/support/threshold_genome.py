"""A genome as another package would bring it: one gene says how much a turn of pig must be worth to hold."""

import dataclasses

import jax.numpy as jnp
import numpy as np

from algorithms.genomes.genome import Expressed, Genes
from boardrl.play.policy import Policy


@dataclasses.dataclass(frozen=True)
class Hold:
    """Rolls until the turn is worth the parameter, or wins."""

    target: int

    def __call__(self, params, state):
        mine = jnp.where(jnp.arange(state.scores.shape[0]) == state.turn, state.scores, 0).sum()
        enough = (state.total.astype(jnp.float32) >= params) | (mine + state.total >= self.target)
        return jnp.where(jnp.stack([~enough, enough]), 0.0, -jnp.inf)


@dataclasses.dataclass(frozen=True)
class Threshold:
    most: float = 40.0

    def check(self, game):
        pass

    def genes(self, game):
        return Genes(("hold_at",), np.array([1.0], np.float32), np.array([self.most], np.float32))

    def blank(self, game):
        return jnp.zeros((), jnp.float32)

    def express(self, game, genes, seeds):
        return Expressed(jnp.asarray(genes[:, 0]), {})

    def policy(self, game, params):
        return Policy(Hold(game.target), params)

    def player(self, game, params):
        return None
