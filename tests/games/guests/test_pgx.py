"""Games of pgx through the adapter: the same games as pgx plays, step by step; compiled code; counts; refusals."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array

from boardrl import host, registry, testing
from boardrl.errors import UserError
from boardrl.exact import perft
from boardrl.game import TERMINAL, Game
from boardrl.play import sampling
from games.guests.pgx_adapter import as_in_pgx

GAMES = 64
# Paths of so many moves from the start. tic-tac-toe, connect four (A090224 up to the first wins), othello (Wikipedia's
# and others' tables), hex: 121 cells, then 120 and the swap, then 119 for both.
COUNTS = {
    "pgx_tic_tac_toe": [9, 72, 504, 3024, 15120],
    "pgx_connect_four": [7, 49, 343, 2401, 16807],
    "pgx_othello": [4, 12, 56, 244, 1396, 8200],
    "pgx_hex": [121, 121 * 121, 121 * (120 * 119 + 120)],
}


def differences(game: Any, num_games: int, num_steps: int) -> dict[str, int]:
    """How many states of random games of pgx's own differ from those of the adapter, by member."""

    def one(key: Array) -> dict[str, Array]:
        key_init, key_play = jax.random.split(key)
        with as_in_pgx():
            theirs = game.env.init(key_init)
        first = theirs.current_player  # seat 0's name in pgx

        def turn(carry: tuple[Any, Any], key: Array) -> tuple[tuple[Any, Any], dict[str, Array]]:
            theirs, ours = carry
            seat = jnp.where(theirs.terminated, TERMINAL, theirs.current_player ^ first)
            legal = theirs.legal_action_mask & ~theirs.terminated
            view = game.observe(ours, theirs.current_player ^ first)
            wrong = {
                "actor": seat != game.actor(ours),
                "legal": (legal != game.legal(ours)).any(),
                "observe": (view != theirs.observation.astype(jnp.float32)).any(),
            }
            move = sampling.sample(theirs.legal_action_mask.astype(jnp.float32), jax.random.uniform(key))
            with as_in_pgx():
                after = game.env.step(theirs, move)
            ours = game.step(ours, move)
            rewards = jnp.where(first == 0, after.rewards, after.rewards[::-1])
            ends = after.terminated & ~theirs.terminated  # pgx pays once, ours keeps it
            wrong["returns"] = ends & (rewards != game.returns(ours)).any()
            return (after, ours), {**wrong, "over": after.terminated}

        (last, _), wrong = jax.lax.scan(turn, (theirs, game.init()), jax.random.split(key_play, num_steps))
        return {**wrong, "unfinished": ~last.terminated}

    found = jax.jit(jax.vmap(one))(jax.random.split(jax.random.key(3), num_games))
    return {name: int(np.asarray(wrong).sum()) for name, wrong in found.items()}


@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four", "othello", "hex"])
def test_random_games_are_those_of_pgx(name: str) -> None:
    game = registry.make(f"pgx_{name}")
    found = differences(game, GAMES, game.spec.max_steps + 2)
    assert found.pop("over") >= 2 * GAMES  # steps after the end are compared too
    assert found == {"actor": 0, "legal": 0, "observe": 0, "returns": 0, "unfinished": 0}


@pytest.mark.parametrize("name", ["pgx_tic_tac_toe"])
def test_the_adapter_keeps_every_promise(name: str) -> None:
    report = testing.check_game(registry.make(name), games=8, examples=2)
    assert not report.broken


@pytest.mark.parametrize("name", COUNTS)
def test_published_counts(name: str) -> None:
    rows = perft.counts(registry.make(name), len(COUNTS[name]))
    assert [row.nodes for row in rows][-len(COUNTS[name]) :] == COUNTS[name]


def test_the_state_holds_no_observation_and_is_narrow() -> None:
    game: Game[Any] = registry.make("pgx_othello")
    state = game.init()
    assert (state.observation, state._x.board.dtype) == (None, jnp.int8)
    facet = host.of(game)
    assert facet.module.WORDS == 13  # pgx's own state is 472 bytes
    assert not facet.refused


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("pgx_backgammon", "dice"),
        ("pgx_2048", "one player"),
        ("pgx_kuhn_poker", "cards"),
        ("pgx_bridge_bidding", "four players"),
        ("pgx_sparrow_mahjong", "players"),
        ("pgx_minatar-breakout", "arcade"),
    ],
)
def test_what_cannot_be_played_is_refused_with_its_reason(name: str, reason: str) -> None:
    with pytest.raises(UserError, match=rf"^the game '{name}' is not offered: .*{reason}"):
        registry.make(name)


def test_every_game_of_pgx_is_offered_or_refused() -> None:
    from pgx import available_envs

    known = {*registry.names(), *registry.names(registry.REFUSED)}
    assert {f"pgx_{name.replace('-', '_')}" for name in available_envs()} <= known


def test_without_pgx_a_sentence_names_the_extra() -> None:
    code = (
        "import sys; sys.modules['pgx'] = None; from boardrl import registry\n"
        "try: registry.make('pgx_othello')\n"
        "except ValueError as error: print(error)"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == (
        "the game pgx_othello needs the package pgx, which is not installed: pip install -e '.[pgx]'"
    )
