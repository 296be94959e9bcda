"""Learned players by other rules: allowed where the shapes fit, and said."""

from __future__ import annotations

import dataclasses
import functools
import pathlib
import types

import jax.numpy as jnp
import pytest

from boardrl.errors import UserError
from boardrl.play import players
from boardrl.play.policy import Policy
from boardrl.play.transfer import transfer
from boardrl.runs.run_directory import Learned
from games.pig import Pig
from games.tic_tac_toe import TicTacToe
from launch.console import named_players


def check(settings, game):
    if game.target > 40:
        raise UserError("target=50 is too far for it")


@dataclasses.dataclass(frozen=True)
class Ahead:
    """Rolls or holds by its lead, weighed by what was learned for each seat."""

    game: Pig

    def __call__(self, params, state):
        return jnp.stack([params @ state.scores.astype(jnp.float32), jnp.float32(0.0)])


ALGORITHM = types.SimpleNamespace(
    check=check,
    policy=lambda settings, game, state: Policy(Ahead(game), state),
)
OWN, STATE = Pig(target=20), jnp.array([1.0, 2.0])


def load(path: pathlib.Path) -> Learned:
    moved = functools.partial(transfer, ALGORITHM, None, OWN, STATE)
    return Learned(OWN, ALGORITHM.policy(None, OWN, STATE), path / "checkpoints" / "7", None, moved)


@pytest.fixture(autouse=True)
def _kinds(monkeypatch):
    table = {"a run directory": functools.partial(players.learned, load=load)}
    monkeypatch.setattr(players, "kinds", lambda: players.Kinds(table))


def test_what_fits_plays_by_other_rules_and_says_so(tmp_path, capsys):
    assert players.make(str(tmp_path), OWN).trained_on == ""
    game = Pig(target=30)
    player, _ = named_players.make(f"{tmp_path},random", game)
    assert player.trained_on == "pig:target=20"
    assert player.policy.apply == Ahead(game)
    assert player.policy.params.tolist() == [1.0, 2.0]
    line = f"player '{tmp_path}' was trained on pig:target=20 and plays pig:target=30\n"
    assert capsys.readouterr().err == line


@pytest.mark.parametrize(
    ("game", "why"),
    [
        (Pig(players=3, target=20), "what was learned has other shapes than pig:players=3,target=20 needs"),
        (TicTacToe(), "pig:target=20 is another game than tic_tac_toe"),
        (Pig(target=50), "target=50 is too far for it"),
    ],
)
def test_what_does_not_fit_is_refused(game, why, tmp_path):
    with pytest.raises(UserError, match=r"learned pig:target=20, not .*, and cannot play it: ") as refused:
        players.make(str(tmp_path), game)
    assert why in str(refused.value)
