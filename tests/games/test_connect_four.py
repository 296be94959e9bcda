"""Connect four: known counts, wins in all directions, its texts, and the conformance kit."""

from __future__ import annotations

import jax.numpy as jnp
import pytest

from boardrl import registry
from boardrl.errors import UserError
from boardrl.exact.perft import counts
from boardrl.game import TERMINAL

WON = [
    "....... ....... ....... ....... OOO.... XXXX... 1",  # across
    "....... ....... X...... X...... X.O.... XOO.... 1",  # down
    "....... ....... ...X... ..XO... .XOO... XOXO... 1",  # rising
    "....... ....... X...... OX..... OOX.... OXOX... 1",  # falling
]


def test_lines_of_play() -> None:
    # Seven columns a move; of the lines of seven moves only those that stay in one column do not fit.
    assert [line.nodes for line in counts(registry.make("connect_four"), 7)] == [7**n for n in range(1, 7)] + [7**7 - 7]


@pytest.mark.parametrize("text", WON)
def test_four_in_a_row_win(text: str) -> None:
    game = registry.make("connect_four")
    state = game.from_text(text)
    assert int(game.actor(state)) == TERMINAL
    assert game.returns(state).tolist() == [1.0, -1.0]
    assert not bool(game.legal(state).any())
    mirrored = game.symmetric(state, jnp.int32(1))
    assert game.to_text(mirrored).split()[0] == text.split()[0][::-1]


def test_a_piece_falls_on_the_pieces_below() -> None:
    game = registry.make("connect_four")
    state = game.init()
    for move in (3, 3, 3):
        state = game.step(state, jnp.int32(move))
    assert game.to_text(state) == "....... ....... ....... ...X... ...O... ...X... 1"


@pytest.mark.parametrize(
    ("text", "words"),
    [("", "expected 6 rows of 7"), ("X...... ....... ....... ....... ....... ....... 0", "hangs in the air")],
)
def test_bad_texts(text: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        registry.make("connect_four").from_text(text)
