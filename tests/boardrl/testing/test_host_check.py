"""The comparison of compiled rules with those in JAX sees what differs, and random play is counted."""

import dataclasses

import numpy as np
import pytest

from boardrl import host
from boardrl.game import TERMINAL
from boardrl.host import random_games
from boardrl.testing import host_check
from games.pig import Pig

GAME = Pig(target=20)


def test_equal_rules_do_not_differ():
    agreement = host_check.compare(GAME, num_rolls=1000, seed=0)
    assert agreement.rolls >= 1000
    assert agreement.games > 100
    asked = ("actor", "legal", "chance", "returns", "observe", "step", "init", "key")
    assert agreement.differences == dict.fromkeys(asked, 0)


@pytest.mark.parametrize(
    ("member", "wrong", "caught"),
    [
        ("step", lambda game, state, move: state._replace(total=state.total + 1), {"step"}),
        ("returns", lambda game, state: -Pig.returns(game, state), {"returns"}),
        ("observe", lambda game, state, player: -Pig.observe(game, state, player), {"observe"}),
        ("chance", lambda game, state: Pig.chance(game, state) * 0.5, {"chance"}),
    ],
)
def test_planted_differences_are_found(member, wrong, caught, monkeypatch):
    @dataclasses.dataclass(frozen=True)
    class Odd(Pig):
        pass

    odd, facet = Odd(target=20), host.of(GAME)
    setattr(Odd, member, wrong)
    monkeypatch.setattr(host, "of", lambda game: facet)
    found = host_check.compare(odd, num_rolls=1000, seed=0).differences
    assert {name for name, count in found.items() if count} == caught


def test_random_play_counts_rolls_and_games():
    kernel = host.specialise(random_games, host.of(GAME))
    steps, rolls, games = kernel.count(10_000, 3)
    assert steps == 10_000
    assert kernel.count(10_000, 3) == (steps, rolls, games)
    # Half of the decisions after a roll that did not end the turn are to hold.
    assert 0.4 < rolls / steps < 0.6
    assert games > 100


def test_recorded_play_is_one_unbroken_game_after_another():
    facet = host.of(GAME)
    kernel = host.specialise(random_games, facet)
    rows, moves, after, work = facet.rows(500), np.zeros(500, np.int32), facet.rows(), facet.work()
    kernel.record(rows, moves, 0)
    first, ended = facet.row(GAME.init()), 0
    for row, move, following in zip(rows, moves, rows[1:], strict=False):
        facet.step(row, move, after, work)
        over = facet.actor(row, work) == TERMINAL
        assert (following == (first if over else after)).all()
        ended += over
    assert ended > 3
