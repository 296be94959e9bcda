"""Boards, moves and counts of Jumper as text, and what is said of bad ones."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import jax
import numpy as np
import plain_jumper as plain
import pytest

from boardrl.errors import UserError
from games.jumper import Jumper, count
from games.jumper.rules import NO_CHAIN, State
from games.jumper.text import read_board, read_turn, turn_text

GAME = Jumper(5)
#         0 1 2 3 4
BOARD = """5
W - - - -
- B - W -
- - - - -
- X - B -
- - - - w
"""


def play(game: Jumper, state: State, actions: list[int]) -> State:
    for action in actions:
        assert bool(game.legal(state)[action])
        state = game.step(state, np.int32(action))
    return state


def test_a_board_without_a_side_is_whites_turn_and_comes_back_with_it() -> None:
    state = GAME.from_text(BOARD)
    assert (int(state.turn), int(state.chain)) == (0, NO_CHAIN)
    assert GAME.to_text(state) == BOARD.upper() + "W"


@pytest.mark.parametrize("side", ["W", "B", "W 2 2"])
def test_the_side_and_a_chain_under_way_survive(side: str) -> None:
    board = "5\nW - - - -\n- X - W -\n- - W - -\n- X - B -\n- - - - -\n" + side
    state = GAME.from_text(board)
    assert GAME.to_text(state) == board
    again = GAME.from_text(GAME.to_text(state))
    jax.tree.map(np.testing.assert_array_equal, again, state)
    assert GAME.from_text(board).board.dtype == np.int8


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "empty text is not a board"),
        ("x\n- - -", "bad first line 'x'"),
        ("2\n- -\n- -", "bad first line '2'"),
        ("5\n- - - - -", "row 1 of the board is missing"),
        (BOARD.replace("- B - W -", "- B - W"), "bad row 1 of the board, '- B - W': expected 5"),
        (BOARD.replace("- X - B -", "- X - Q -"), "bad row 3 of the board"),
        (BOARD + "X", "bad line 'X' after the board"),
        (BOARD + "W 1 1", "no chain of W can continue from 1 1"),
        (BOARD + "W 1 7", "from 0 to 4"),
        (BOARD + "W\nB", "unexpected line 'B'"),
        ("3\n- - -\n- - -\n- - -", "a board of size 3 does not fit jumper:size=5; use jumper:size=3"),
    ],
)
def test_a_bad_board_gives_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence.replace("(", r"\(")):
        GAME.from_text(text)


def test_a_chain_is_read_as_hops_with_a_stop_where_it_could_go_on() -> None:
    state = GAME.from_text(BOARD)
    whole = read_turn(GAME, state, "0 0 2 2 0 4")
    after = play(GAME, state, whole)
    assert int(after.turn) == 1
    assert GAME.to_text(after) == "5\nW - - - W\n- X - W -\n- - W - -\n- X - B -\n- - - - W\nB"
    assert turn_text(GAME, whole) == "0 0 2 2 0 4"
    short = read_turn(GAME, state, "0 0 2 2")
    assert short[-1] == GAME.stop
    stopped = play(GAME, state, short)
    assert int(stopped.turn) == 1
    assert turn_text(GAME, short) == "0 0 2 2"
    assert turn_text(GAME, [GAME.stop]) == "stop"
    # From the middle of the chain.
    middle = GAME.step(state, np.int32(short[0]))
    assert int(middle.chain) == 12
    assert read_turn(GAME, middle, "2 2") == [GAME.stop]
    assert read_turn(GAME, middle, "2 2 0 4") == whole[1:]
    with pytest.raises(UserError, match="continues from 2 2"):
        read_turn(GAME, middle, "4 4 2 2")


def test_a_place_and_a_hop_over_an_own_piece_may_do_the_same() -> None:
    state = GAME.from_text("5\nW W - - -\n- - - - -\n- - - - -\n- - - - -\n- - - - -")
    assert read_turn(GAME, state, "0 2") == [2]
    hop = read_turn(GAME, state, "0 0 0 2")
    np.testing.assert_array_equal(play(GAME, state, hop).board, play(GAME, state, [2]).board)


@pytest.mark.parametrize(
    ("move", "sentence"),
    [
        ("", "expected like '2 3' to place"),
        ("1", "expected like"),
        ("1 a", "expected like"),
        ("0 5", "from 0 to 4"),
        ("1 1", "cell 1 1 is black, not empty"),
        ("1 1 3 3", "starts from 1 1, which is black; expected a white piece"),
        ("0 0 2 1", "hop 1, 0 0 to 2 1, is not two cells"),
        ("0 0 0 2", "hop 1, 0 0 to 0 2, jumps a cell that is empty"),
        ("0 0 2 2 4 0", "hop 2, 2 2 to 4 0, jumps a cell that is dead"),
        ("0 0 2 2 4 4", "hop 2, 2 2 to 4 4, lands on a cell that is white"),
        ("0 0 2 2 0 0", "hop 2, 2 2 to 0 0, lands on a cell that is white"),
    ],
)
def test_a_bad_move_gives_one_sentence_that_names_the_hop(move: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        read_turn(GAME, GAME.from_text(BOARD), move)


def test_no_move_is_read_when_the_game_is_over() -> None:
    full = GAME.from_text("5\n" + "W W W W W\n" * 5)
    with pytest.raises(UserError, match="the game is over"):
        read_turn(GAME, full, "0 0")


def test_part_a_counts_paths(tmp_path: pathlib.Path) -> None:
    board = tuple(map(tuple, read_board(BOARD)[0].tolist()))
    want = {m: (len(list(plain.places(board, m))), len(list(plain.jumps(board, m)))) for m in (1, 2)}
    assert want == {1: (19, 4), 2: (19, 0)}  # 0 0 and 4 4 to 2 2, each on to 0 4 or not
    for mover, counts in want.items():
        assert count.count(np.array(board, np.int8), mover) == counts
    file = tmp_path / "board.txt"
    file.write_text(BOARD)
    command = [sys.executable, "-m", "games.jumper.count"]
    for _ in range(2):  # the second time compiled code comes from the cache
        done = subprocess.run([*command, str(file)], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, "W 19 4\nB 19 0\n"), done.stderr
    file.write_text(BOARD.replace("X", "?"))
    done = subprocess.run([*command, str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("error: bad row 3 of the board")
    assert len(done.stderr.splitlines()) == 1
