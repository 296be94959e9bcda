"""What Jumper looks like: pieces where they are, the end of a chain marked, who is to move in words."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from boardrl import drawing
from boardrl.drawing import Circle, Part, Polygon
from games.jumper import Jumper
from games.jumper.picture import CHAIN, CROSS, FILL, MARGIN, status

GAME = Jumper(5)
CHAIN_TEXT = "5\nW - - - -\n- X - W -\n- - W - -\n- X - B -\n- - - - -\nW 2 2"


def test_pieces_and_crosses_are_drawn_on_their_cells() -> None:
    picture = GAME.draw(GAME.from_text(CHAIN_TEXT))
    parts = [part for part in picture.pieces if isinstance(part, Part)]
    named = {(part.name, part.label) for part in parts}
    assert named == {("p0", "white"), ("p8", "white"), ("p12", "white"), ("p18", "black")}
    discs = {(s.x - MARGIN - 0.5, s.y - MARGIN - 0.5, s.fill) for part in parts for s in part.shapes[1:2]}
    white, black = FILL[1], FILL[2]
    assert {(0, 0, white), (3, 1, white), (2, 2, white), (3, 3, black)} == {
        (round(x), round(y), fill) for x, y, fill in discs
    }
    rings = [s for s in picture.pieces if isinstance(s, Circle) and s.line == CHAIN]
    assert [(round(s.x - MARGIN - 0.5), round(s.y - MARGIN - 0.5)) for s in rings] == [(2, 2)]
    crosses = [s for s in picture.pieces if isinstance(s, Polygon) and s.fill == CROSS]
    arrows = [s for s in picture.pieces if isinstance(s, Polygon) and s.fill == CHAIN]
    assert (len(crosses), len(arrows)) == (2 * 2, 2)  # dead cells, and where the chain may go on
    written = drawing.svg(picture)
    assert written.count("data-cell=") == 25
    assert "white hops on from 2 2 or stops" in written


def test_what_is_clicked() -> None:
    chain, start = GAME.from_text(CHAIN_TEXT), GAME.init()
    hop = next(action for action in np.flatnonzero(GAME.legal(chain)).tolist() if action != GAME.stop)
    assert GAME.clicks(chain, hop) == ["c4"]  # from 2 2 to 0 4
    assert GAME.clicks(chain._replace(chain=np.int32(-1)), hop) == ["c12", "c4"]
    assert GAME.clicks(chain, GAME.stop) == []
    assert GAME.clicks(start, 7) == ["c7"]
    assert GAME.routes(start, 7) == GAME.routes(chain, GAME.stop) == {}
    half = MARGIN + 0.5
    assert GAME.routes(chain, hop) == {"p4": [(half + 2, half + 2), (half + 4, half)]}


def test_the_terminal_shows_the_board() -> None:
    lines = GAME.show(GAME.from_text(CHAIN_TEXT)).plain.splitlines()
    assert lines[0].split() == ["0", "1", "2", "3", "4"]
    assert lines[3] == " 2  ·  · [W] ·  · "
    assert lines[4] == " 3  ·  x  ·  B  · "
    assert lines[6] == "white 3, black 1; white hops on from 2 2 or stops"


@pytest.mark.parametrize(
    ("rows", "words"),
    [("W W W\nB B X\nW B W", "white 5, black 3: white wins"), ("W W X\nB B X\nX X X", "white 2, black 2: a draw")],
)
def test_the_end_is_told(rows: str, words: str) -> None:
    assert status(Jumper(3), Jumper(3).from_text("3\n" + rows)) == words


def test_moves_in_words() -> None:
    state = GAME.from_text(CHAIN_TEXT)
    assert GAME.move_text(state, np.int32(GAME.stop)) == "stops"
    start = GAME.init()
    assert GAME.move_text(start, np.int32(7)) == "places 1 2"
    hop = int(np.flatnonzero(GAME.legal(state))[0])
    assert GAME.move_text(state, np.int32(hop)) == "hops 2 2 to 0 4"
    dealt = Jumper(5, 0.4)
    assert dealt.move_text(dealt.init(), np.int32(7)) == "dealt: white places 1 2"
    assert status(dealt, dealt.init()) == "white 0, black 0; the start is dealt"


def test_the_papers_inputs() -> None:
    seen = np.asarray(GAME.encodings["brunton2013"](GAME, GAME.from_text(CHAIN_TEXT), jnp.int32(0)))
    assert seen.shape == (3 * 25 + 2,)
    cells = seen[:75].reshape(25, 3)
    assert np.flatnonzero(cells[:, 0]).tolist() == [18]  # black
    assert np.flatnonzero(cells[:, 1]).tolist() == [0, 8, 12]  # white
    assert np.flatnonzero(cells[:, 2]).tolist() == [6, 16]  # dead
    assert seen[75:].tolist() == [1, 1]


def test_the_same_inputs_as_each_side_sees_them() -> None:
    state = GAME.from_text(CHAIN_TEXT)  # White is to move
    white, black = (np.asarray(GAME.encodings["own_first"](GAME, state, jnp.int32(seat))) for seat in (0, 1))
    cells = white[:75].reshape(25, 3)
    assert [np.flatnonzero(cells[:, kind]).tolist() for kind in range(3)] == [[0, 8, 12], [18], [6, 16]]
    np.testing.assert_array_equal(black[:75].reshape(25, 3), cells[:, [1, 0, 2]])
    assert (white[75:].tolist(), black[75:].tolist()) == ([1, 1], [1, 0])
    np.testing.assert_array_equal(GAME.encodings["own_first"](GAME, GAME.rotate(state), jnp.int32(1)), white)
