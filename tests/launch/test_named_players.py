"""Players that games bring along: files that are in the package and say how they were made; how well one plays."""

from __future__ import annotations

import json
import pathlib
import tomllib

import jax.numpy as jnp
import numpy as np
import pytest

from boardrl import registry
from boardrl.matches import arena, intervals
from boardrl.values import weight_file
from games.ludo import Ludo, best
from launch.console import named_players

GAMES = [registry.make(name) for name in registry.names() if not name.startswith("pgx_")]  # guests bring no players
FILES = [(game, name) for game in GAMES for name in getattr(game, "weight_files", {})]


@pytest.mark.parametrize(("game", "name"), FILES, ids=[f"{game.spec.name}-{name}" for game, name in FILES])
def test_shipped_weights(game: registry.Game, name: str) -> None:
    found = weight_file.load(name, game)
    assert found.made_by.startswith(f"python -m launch.train --game={game.spec.name}")
    assert np.abs(found.values).max() > 0
    path = game.weight_files[name]  # type: ignore[attr-defined]
    root = pathlib.Path(__file__).parents[2]
    settings = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["setuptools"]
    package = path.parent.parent
    assert (package / "__init__.py").exists()
    assert any(path.relative_to(package).match(pattern) for pattern in settings["package-data"]["*"])


@pytest.mark.parametrize("game", [game for game in GAMES if hasattr(game, "named_players")], ids=lambda g: g.spec.name)
def test_all_named_players_can_be_made(game: registry.Game) -> None:
    names = list(game.named_players)  # type: ignore[attr-defined]
    assert [player.name for player in named_players.make(",".join(names), game)] == names


def test_the_net_of_ludo_best_is_in_the_package_and_says_how_it_was_made() -> None:
    content = json.loads(best.PATH.read_text())
    assert content["made_by"].startswith("python -m launch.train --game=ludo:rules=sdu_java,must_move=true")
    assert best.PATH.parent.name == "weights"  # as package-data has it
    assert best.PATH.stat().st_size < 200_000
    game = Ludo(rules="sdu_java")
    state = game.init()
    ahead = state._replace(pieces=state.pieces.at[2].set(jnp.array([57, 57, 57, 40], jnp.int8)))
    values = best.value(game, ahead, jnp.int32(0))
    assert values.shape == (4,)
    assert float(values[2]) > 2.5  # three pieces are at the goal: nearly 3 points
    assert float(values.sum()) == pytest.approx(6, abs=0.3)  # what a player can get is cut at 3
    assert "ludo_best" not in Ludo(rules="sdu_java", players=2).named_players


def test_jumper_best_beats_fixed_weights_at_equal_depth() -> None:
    game = registry.make("jumper:size=6")
    pair = named_players.make("jumper_best(depth=2),brunton2013_even(depth=2)", game)
    score = arena.match(game, pair, num_games=200, seed=0, opening=4, processes=1).players[0]
    decided = score.wins + score.losses
    assert intervals.wilson(score.wins, decided).low > 0.55
