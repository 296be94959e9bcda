"""The presets ludopy150 and ludopy131 against ludopy itself: same dice and choices, every position compared.

BOARDRL_LUDOPY_GAMES=2000 plays more games than CI does.
"""

import functools
import os
import pathlib

import jax
import jax.numpy as jnp
import ludopy_recorder
import numpy as np
import pytest

from boardrl.game import CHANCE, TERMINAL, select
from games.ludo import Ludo

NUM_GAMES = int(os.environ.get("BOARDRL_LUDOPY_GAMES", "200"))
DATA = pathlib.Path(__file__).parents[1] / "data"


@functools.partial(jax.jit, static_argnames="game")
def replay(game, die, choice):
    """[T, ...] who rolled, what could move and the pieces after each roll, and the last state."""

    def roll(state, played):
        face, piece = played
        rolled = game.step(state, face - 1)
        decides = game.actor(rolled) >= 0
        after = select(decides, game.step(rolled, piece), rolled)
        seen = (game.actor(state) == CHANCE, state.turn, game.legal(rolled) & decides, after.pieces)
        return select(face > 0, after, state), seen

    return jax.lax.scan(roll, game.init(), (die.astype(jnp.int32), choice.astype(jnp.int32)))


def differences(game, games):
    """How often our rules and the recorded games part, over all rolls of all games."""
    last, (waits, turn, movable, pieces) = jax.vmap(lambda *rolls: replay(game, *rolls))(games.die, games.choice)
    rolled = games.die > 0
    ranks = np.array(last.ranks)
    order = np.where(games.order < 0, 0, np.take_along_axis(ranks, np.maximum(games.order, 0), 1))
    expected_order = np.where(games.order < 0, 0, np.arange(1, game.players + 1))
    return {
        "a roll is due": int((~np.array(waits))[rolled].sum()),
        "seat": int((np.array(turn) != games.seat)[rolled].sum()),
        "movable": int((np.array(movable) != games.movable)[rolled].sum()),
        "pieces": int((np.array(pieces) != games.pieces)[rolled].sum()),
        "not over": int((np.array(jax.vmap(game.actor)(last)) != TERMINAL).sum()),
        "winner": int((ranks[np.arange(len(ranks)), games.winner] != 1).sum()),
        "order": int((order != expected_order).sum()),
    }


@pytest.mark.parametrize(
    ("players", "ranked", "num_games"),
    [(4, False, NUM_GAMES), (4, True, NUM_GAMES // 10), (3, True, NUM_GAMES // 10), (2, False, NUM_GAMES // 5)],
)
def test_ludopy150(players, ranked, num_games):
    games = ludopy_recorder.record(num_games, players=players, ranked=ranked, seed=players)
    assert len(games.winner) == num_games
    found = differences(Ludo(rules="ludopy150", players=players, play_on=ranked), games)
    assert found == dict.fromkeys(found, 0)


def test_ludopy131():
    with np.load(DATA / "ludopy131_games.npz") as stored:
        games = ludopy_recorder.Games(**stored)
    assert len(games.winner) >= 40
    found = differences(Ludo(rules="ludopy131"), games)
    assert found == dict.fromkeys(found, 0)
    # The recording tells the two versions apart.
    assert differences(Ludo(rules="ludopy150"), games)["pieces"] > 0
