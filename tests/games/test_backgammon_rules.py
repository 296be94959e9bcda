"""Backgammon's rules against what GNU Backgammon gave, pgx's moves of one die, and positions made by hand."""

from __future__ import annotations

import json
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
import pgx.backgammon
import pytest

from boardrl import registry
from boardrl.errors import UserError
from boardrl.game import CHANCE
from boardrl.testing import host_check
from games.backgammon import text
from games.backgammon.board import BAR, CHECKERS, ODDS, OPENING_ODDS, PLACES, POINTS, ROLLS
from games.backgammon.moves import position, with_one_die
from games.backgammon.turns import turns
from launch.dev import check_gnubg, check_open_spiel

GAME = registry.make("backgammon")
STEP, RETURNS = jax.jit(GAME.step), jax.jit(GAME.returns)
RECORDED = json.loads((pathlib.Path(__file__).parents[1] / "data" / "backgammon_gnubg.json").read_text())


def sides(**points):
    """25 places of checkers by name: `p6=5` five on the 6-point, `bar=1`."""
    places = [0] * PLACES
    for name, count in points.items():
        places[BAR if name == "bar" else int(name[1:]) - 1] = count
    return places


def ends(mine, theirs, dice):
    """The mover's side of all positions that a roll can lead to."""
    return {own for own, _ in check_gnubg.reached(mine, theirs, text.outcome_of(dice))}


def test_positions_after_all_rolls_are_gnu_backgammons():
    assert len(RECORDED) >= 100
    for record in RECORDED:
        mine, theirs = text.from_position_id(record["position"])
        ours = [check_gnubg.digest(check_gnubg.reached(mine, theirs, outcome)) for outcome in range(len(ROLLS))]
        assert ours == record["after"], record["position"]


def test_positions_after_whole_turns_and_points_are_open_spiels():
    pytest.importorskip("pyspiel")
    *_, (counts, _) = found = list(check_open_spiel.compared(250, seed=1))
    assert counts.turns == 250
    assert counts.games >= 1
    assert [difference for _, differences in found for difference in differences] == []


def test_a_rule_that_differs_from_open_spiels_is_reported(monkeypatch):
    pytest.importorskip("pyspiel")
    monkeypatch.setattr(check_open_spiel, "reached", lambda mine, theirs, outcome: {(mine, theirs)})
    (_, (difference,)), *_ = check_open_spiel.compared(1, seed=1)
    assert difference.what.startswith("1 positions by our rules")


def test_moves_of_one_die_are_those_of_pgx():
    """pgx has no rule about two dice, but the same moves of each."""
    boards = [text.from_position_id(record["position"]) for record in RECORDED]
    mine, theirs = (np.array(side, np.int8) for side in zip(*boards, strict=True))
    ours = jax.jit(jax.vmap(jax.vmap(lambda a, b, d: with_one_die(position(a, b), d), (None, None, 0)), (0, 0, None)))
    found = np.asarray(ours(mine, theirs, jnp.arange(1, 7, dtype=jnp.int8)))
    # pgx counts points the other way, and has bars and checkers that are off at the end.
    points = mine[:, POINTS - 1 :: -1].astype(np.int32) - theirs[:, :POINTS]
    off = [CHECKERS - side.sum(1, dtype=np.int32) for side in (mine, theirs)]
    tail = np.stack([mine[:, BAR], -theirs[:, BAR].astype(np.int32), off[0], -off[1]], 1)
    masks = jax.jit(jax.vmap(jax.vmap(pgx.backgammon._legal_action_mask_for_single_die, (None, 0)), (0, None)))
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):  # its code is not strict
        theirs_found = np.asarray(masks(np.concatenate([points, tail], 1).astype(np.int32), jnp.arange(6)))
    by_source = theirs_found.reshape(len(boards), 6, 26, 6).any(-1)  # no move, the bar, then the points
    wanted = np.concatenate([by_source[:, :, :1:-1], by_source[:, :, 1:2]], -1)
    assert found.sum() > 1000
    np.testing.assert_array_equal(found, wanted)


def test_the_higher_die_is_played_if_either_can_be_but_not_both():
    mine, theirs = sides(p13=1), sides(p23=2, p24=2)  # 13/7 and 13/8 are open, but the points 2 and 1 are held
    assert ends(mine, theirs, (6, 5)) == {tuple(sides(p7=1))}
    assert ends(mine, sides(p23=2, p24=2, p18=2), (6, 5)) == {tuple(sides(p8=1))}  # the 7-point is held too
    assert ends(mine, sides(p24=2), (6, 5)) == {tuple(sides(p2=1))}


@pytest.mark.parametrize(
    ("mine", "theirs", "returns"),
    [
        (sides(), sides(p6=1), (1, -1)),
        (sides(), sides(p6=15), (2, -2)),
        (sides(), sides(p6=14, p19=1), (3, -3)),
        (sides(), sides(p6=14, bar=1), (3, -3)),
        (sides(), sides(p6=14, p18=1), (2, -2)),
        (sides(p1=2), sides(), (-1, 1)),
    ],
)
def test_points(mine, theirs, returns):
    state = GAME.init()._replace(checkers=jnp.array([mine, theirs], jnp.int8))
    assert tuple(RETURNS(state).tolist()) == returns
    plain = registry.make("backgammon:gammons=false")
    assert tuple(plain.returns(state).tolist()) == tuple(np.sign(returns))
    assert plain.spec.max_return == 1


def test_dice():
    assert sum(ODDS) == pytest.approx(1)
    assert {ROLLS[k]: float(36 * ODDS[k]) for k in (0, 20)} == {(1, 1): pytest.approx(1), (6, 5): pytest.approx(2)}
    state = GAME.init()
    assert np.asarray(GAME.chance(state))[:3].tolist() == [0.5, 0.5, 0]
    for seat in (0, 1):
        opening = STEP(state, jnp.int32(seat))
        assert int(opening.turn) == seat
        np.testing.assert_array_equal(GAME.chance(opening), OPENING_ODDS)
        assert [ROLLS[k] for k in np.flatnonzero(OPENING_ODDS == 0)] == [(face, face) for face in range(1, 7)]


def test_who_cannot_move_is_passed_over():
    closed = GAME.from_text(f"{text.position_id(sides(bar=1), sides(p1=2, p2=2, p3=2, p4=2, p5=2, p6=2))} 0 rolls")
    after = STEP(closed, jnp.int32(text.outcome_of((6, 5))))
    assert (int(after.turn), int(GAME.actor(after))) == (1, CHANCE)


def test_a_double_is_four_moves_of_one_player():
    state = GAME.from_text("4HPwATDgc/ABMA 1 plays 1-1-1-1")
    seen = []
    for _ in range(4):
        seen.append(GAME.to_text(state).split()[1:])
        state = STEP(state, jnp.argmax(GAME.legal(state)).astype(jnp.int32))
    assert seen == [["1", "plays", "-".join("1" * left)] for left in (4, 3, 2, 1)]
    assert (int(state.turn), int(GAME.actor(state))) == (0, CHANCE)


def test_turns_of_the_opening():
    """The different ways to play each roll from the start; GNU Backgammon gave the same numbers."""
    counts = {}
    for outcome, dice in enumerate(ROLLS):
        state = jax.tree.map(np.asarray, STEP(GAME.from_text("4HPwATDgc/ABMA 0 rolls"), jnp.int32(outcome)))
        counts[dice] = len(turns(GAME, state))
    assert counts[3, 1] == 16
    assert counts == {dice: int(after.split()[0]) for dice, after in zip(ROLLS, RECORDED[0]["after"], strict=True)}


def test_compiled_rules_do_not_differ():
    agreement = host_check.compare(GAME, num_rolls=5_000, seed=1)
    assert agreement.games >= 20
    assert agreement.differences == dict.fromkeys(agreement.differences, 0)


def test_texts():
    state = GAME.from_text("4HPwATDgc/ABMA 1 plays 3-1")
    assert GAME.to_text(state) == "4HPwATDgc/ABMA 1 plays 3-1"
    by_text = {GAME.move_text(state, action): action for action in np.flatnonzero(GAME.legal(state)).tolist()}
    assert set(by_text) == {"6/3", "8/5", "13/10", "24/21"}  # the lower die first leads nowhere else
    assert GAME.move_text(GAME.init(), 1) == "seat 1 begins"
    assert GAME.move_text(GAME.from_text("4HPwATDgc/ABMA"), 20) == "rolls 6-5"
    after = STEP(state, jnp.int32(by_text["8/5"]))
    assert GAME.turn_to_text(state, [by_text["8/5"], int(jnp.argmax(GAME.legal(after)))]) in ("8/5 6/5", "8/5 5/4")
    hit = GAME.from_text(f"{text.position_id(sides(bar=1, p6=1), sides(p3=1, p6=2))} 0 plays 5-3")
    assert "bar/22*" in [GAME.move_text(hit, action) for action in np.flatnonzero(GAME.legal(hit)).tolist()]
    last = GAME.from_text(f"{text.position_id(sides(p3=1), sides(p6=1))} 0 plays 5")
    assert [GAME.move_text(last, action) for action in np.flatnonzero(GAME.legal(last)).tolist()] == ["3/off"]


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("", "position id"),
        ("4HPwATDgc/ABM* 0 rolls", "base 64"),
        ("4HPwATDgc/ABMA 2 rolls", "seat to act"),
        ("4HPwATDgc/ABMA 0 plays 7-1", "dice that are left"),
        ("4HPwATDgc/ABMA 0 plays 3-3-1", "after a double"),
        ("//////////////", "position id"),
        (f"{text.position_id(sides(p6=10, p5=6), sides(p6=1))}", "more than 15"),
        (f"{text.position_id(sides(p6=1), sides(p19=1))}", "on one point"),
        (f"{text.position_id(sides(), sides())}", "borne off all"),
        (f"{text.position_id(sides(bar=1), sides(p1=2, p2=2))} 0 plays 2-1", "no checker can move"),
    ],
)
def test_bad_texts_are_refused(written, reason):
    with pytest.raises(UserError, match=reason):
        GAME.from_text(written)


def test_picture_has_every_checker():
    state = GAME.from_text("4HPwATDgc/ABMA 0 plays 3-1")
    shapes = [type(shape).__name__ for shape in GAME.draw(state).pieces]
    assert shapes.count("Circle") == 2 * CHECKERS
    assert "seat 0 (white) has 3-1 to play" in GAME.show(state).plain
    assert GAME.show(state).plain.count("5x") == 2
