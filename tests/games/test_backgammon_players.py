"""pubeval by hand, GNU Backgammon in a process of its own, and players of whole turns."""

from __future__ import annotations

import os
import time

import jax
import numpy as np
import pytest

from boardrl import registry
from boardrl.errors import UserError
from boardrl.play import players
from games.backgammon import gnubg_program, pubeval, text
from games.backgammon.board import BAR, START
from games.backgammon.players import TurnPlayer, choose_by_pubeval
from games.backgammon.turns import turns

GAME = registry.make("backgammon")
NEEDS_GNUBG = pytest.mark.skipif(gnubg_program.find() is None, reason="GNU Backgammon is not installed")


def state_of(written):
    return jax.tree.map(np.asarray, GAME.from_text(written))


def test_inputs_of_pubeval():
    mine, theirs = np.zeros((1, 25), int), np.zeros((1, 25), int)
    mine[0, [0, 5, 23]] = 1, 5, 3  # six are off
    theirs[0, [4, BAR]] = 1, 2  # a blot on the mover's 20-point
    x = pubeval.inputs(mine, theirs)[0]
    assert dict(zip(np.flatnonzero(x).tolist(), x[x != 0].tolist(), strict=True)) == {
        2: 1.0,  # the 24-point, two or more
        3: 1.0,  # exactly three
        5 * 4: 1.0,  # a blot on the 20-point
        5 * 18 + 2: 1.0,  # the 6-point
        5 * 18 + 4: 1.0,  # (5 - 3) / 2
        5 * 23 + 1: 1.0,  # one on the ace point
        120: 1.0,
        121: 6 / 15,
    }
    w = pubeval.weights()["contact"]
    wanted = w[[2, 3, 20, 92, 94, 116, 120]].sum() + w[121] * 6 / 15
    assert pubeval.scores(mine, theirs, race=False)[0] == pytest.approx(wanted)
    assert pubeval.scores(0 * mine, theirs, race=False)[0] == np.inf


def test_races():
    mine, theirs = np.zeros(25, int), np.zeros(25, int)
    mine[11] = theirs[11] = 1  # they stand on neighbouring points and have passed
    assert pubeval.is_race(mine, theirs)
    mine[12] = 1  # on the 13-point, with the other on its own 12-point, which is the mover's 13
    assert not pubeval.is_race(mine, theirs)


def test_pubeval_opens_as_it_is_known_to():
    """It makes its own 5-point with a 3-1, and its bar point with a 6-1."""
    for dice, move in (("3-1", "8/5 6/5"), ("6-1", "13/7 8/7")):
        state = state_of(f"4HPwATDgc/ABMA 1 plays {dice}")
        found = turns(GAME, state)
        assert GAME.turn_to_text(state, found[choose_by_pubeval(state, found)].actions) == move


def test_a_turn_is_planned_once():
    planned = []

    def last(state, found):
        planned.append(text.to_text(GAME, state))
        return list(found)[-1]

    player, rng = TurnPlayer(last), np.random.default_rng(0)
    state = state_of("4HPwATDgc/ABMA 0 plays 2-2-2-2")
    for _ in range(4):
        state = jax.tree.map(np.asarray, GAME.step(state, np.int32(player.choose(GAME, state, rng))))
    assert int(state.turn) == 1
    assert planned == ["4HPwATDgc/ABMA 0 plays 2-2-2-2"]


@NEEDS_GNUBG
def test_gnubg_plays():
    player = players.make("gnubg(ply=0)", GAME)
    state, rng = state_of("4HPwATDgc/ABMA 1 plays 3-1"), np.random.default_rng(0)
    actions = []
    while int(state.turn) == 1:
        actions.append(player.host.choose(GAME, state, rng))
        state = jax.tree.map(np.asarray, GAME.step(state, np.int32(actions[-1])))
    assert GAME.turn_to_text(state_of("4HPwATDgc/ABMA 1 plays 3-1"), actions) == "8/5 6/5"


@NEEDS_GNUBG
def test_gnubg_ends_with_its_parent():
    program = gnubg_program.Gnubg()
    start = START.tolist()
    assert program.position_id(start, start) == "4HPwATDgc/ABMA"
    assert len(program.positions(start, start, (3, 1))) == 16
    pid = program._process.pid
    os.kill(pid, 0)
    program.close()
    assert program._process.wait(10) is not None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@NEEDS_GNUBG
def test_a_dead_program_is_reported():
    program = gnubg_program.Gnubg()
    program._process.kill()
    program._process.wait()
    time.sleep(0.05)
    with pytest.raises(UserError, match="has ended by itself"):
        program.position_id(START.tolist(), START.tolist())
    program.close()


def test_bad_players_are_refused(monkeypatch):
    with pytest.raises(UserError, match="expected 0 to 4"):
        players.make("gnubg(ply=9)", GAME)
    with pytest.raises(UserError, match="pubeval"):
        players.make("pubeval(depth=2)", GAME)
    with pytest.raises(UserError, match="unknown player 'pubeval'"):
        players.make("pubeval", registry.make("tic_tac_toe"))
    monkeypatch.setattr("games.backgammon.players.find", lambda: None)
    with pytest.raises(UserError, match="apt install gnubg"):
        players.make("gnubg", GAME)
