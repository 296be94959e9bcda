"""Which piece each scripted player moves, on positions made by hand."""

import numpy as np
import pytest

from boardrl.errors import UserError
from boardrl.play import players
from games.ludo import Ludo

STANDARD = Ludo()
SDU = Ludo(rules="sdu_java")


def liked(game, player, position):
    """The actions that a player does not rule out."""
    policy = players.make(player, game).policy
    logits = policy.apply(policy.params, game.from_text(position))
    assert set(np.unique(logits)) <= {0.0, -np.inf}
    return np.flatnonzero(np.isfinite(logits)).tolist()


# Seat 0 counts 20 where seat 1 counts 7; globes are at 1, 9, 14, 22, ...
THREAT = "20.30.0.0 5.0.0.0 0.0.0.0 0.0.0.0 0 plays 3"  # seat 1 is 2 behind piece 0
SHELTERED = "22.30.0.0 7.0.0.0 0.0.0.0 0.0.0.0 0 plays 3"  # the same on a globe
PAIR = "20.20.30.0 5.0.0.0 0.0.0.0 0.0.0.0 0 plays 3"  # two on the square that is threatened
HIT = "4.30.0.0 46.0.0.0 0.0.0.0 0.0.0.0 0 plays 3"  # piece 0 comes to 7, where seat 1 is
SIX = "20.30.0.0 5.0.0.0 0.0.0.0 0.0.0.0 0 plays 6"


@pytest.mark.parametrize(
    ("player", "position", "pieces"),
    [
        ("random", SIX, [0, 1, 2, 3]),
        ("random(prefer_release=true)", SIX, [2, 3]),
        ("defensive", THREAT, [0]),
        ("defensive", SHELTERED, [0, 1]),
        ("defensive(threat=off_globe)", SHELTERED, [0, 1]),
        ("defensive(threat=behind)", SHELTERED, [0]),
        ("defensive", PAIR, [0, 1, 2]),
        ("defensive(threat=off_globe)", PAIR, [0, 1]),
        ("mixed", PAIR, [2]),
        ("mixed(threat=off_globe)", PAIR, [0, 1]),
        ("defensive", SIX, [2, 3]),
        ("defensive(prefer_release=false)", SIX, [0]),
        ("aggressive", HIT, [0]),
        ("aggressive", THREAT, [0, 1]),
        ("aggressive", SIX, [2, 3]),
        ("fast", THREAT, [1]),
        ("fast", SIX, [2, 3]),
        ("fast(prefer_release=false)", SIX, [1]),
        ("fast", "57.55.3.0 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 3", [2]),
        ("mixed", SIX, [2, 3]),
        ("mixed", THREAT, [0]),
        ("mixed", HIT, [0]),
        ("mixed", "4.30.0.0 46.14.0.0 0.0.0.0 0.0.0.0 0 plays 3", [1]),  # defence before attack
        ("mixed", SHELTERED, [1]),
        ("expert", SHELTERED, [1]),
        ("semismart", HIT, [0]),
        ("fifo", THREAT, [0]),
        ("fifo", "57.0.3.4 0.0.0.0 0.0.0.0 0.0.0.0 0 plays 3", [2]),
    ],
)
def test_alhajry(player, position, pieces):
    assert liked(STANDARD, player, position) == pieces


# hits with 0, goes home with 1 (two enemies on 18), star with 2 (from 29 to 32, then 38), else 3
PIECES = "4.15.29.41 46.5.5.0 0.0.0.0 0.0.0.0 0 plays 3"


@pytest.mark.parametrize(
    ("player", "position", "pieces"),
    [
        ("semismart", PIECES, [0]),
        ("semismart", "3.15.29.41 46.5.5.0 0.0.0.0 0.0.0.0 0 plays 4", [0]),
        ("semismart", "10.15.29.41 46.5.5.0 0.0.0.0 0.0.0.0 0 plays 3", [2]),
        ("semismart", "10.15.0.52 46.0.0.0 0.0.0.0 0.0.0.0 0 plays 6", [2]),
        ("semismart", "10.15.20.54 46.5.5.0 0.0.0.0 0.0.0.0 0 plays 3", [3]),
        ("semismart", "10.15.20.40 46.5.5.0 0.0.0.0 0.0.0.0 0 plays 3", [0, 2, 3]),
        ("semismart", "57.15.57.0 46.5.5.0 0.0.0.0 0.0.0.0 0 plays 3", [1]),
        ("sdu_aggressive", PIECES, [0]),
        ("sdu_aggressive", "10.15.29.41 46.5.5.0 0.0.0.0 0.0.0.0 0 plays 3", [0, 1, 2, 3]),
        ("pacifistic", PIECES, [1, 2, 3]),
        ("pacifistic", "4.0.0.0 46.5.5.0 0.0.0.0 0.0.0.0 0 plays 3", [0]),
        ("fifo", PIECES, [0]),
        ("random", PIECES, [0, 1, 2, 3]),  # it never passes
    ],
)
def test_sdu(player, position, pieces):
    assert liked(SDU, player, position + " tries=1 ranks=0.0.0.0") == pieces


def test_a_misspelt_option_is_refused():
    with pytest.raises(UserError, match="unknown option 'prefer_relase' of player 'mixed'"):
        players.make("mixed(prefer_relase=true)", STANDARD)
