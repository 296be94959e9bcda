"""Suite `simulate`: uniformly random play with automatic reset, ours and that of pgx and ludopy."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from boardrl import host, registry
from boardrl.errors import UserError
from boardrl.host import random_games
from boardrl.play import rollout
from boardrl.play.policy import Policy, Uniform
from games.jumper import Jumper
from launch.bench.row import Row

TURNS = 256  # per measurement and lane


def rows(batch: int) -> Sequence[Row]:
    tic_tac_toe = pgx_steps("tic_tac_toe", batch)
    backgammon = pgx_steps("backgammon", batch, turns=32)  # pgx has neither pig nor Ludo: the nearest race with dice
    othello, connect_four = pgx_steps("othello", batch, turns=64), pgx_steps("connect_four", batch)
    jumper_6, jumper_8 = our_steps("jumper:size=6", batch), our_steps("jumper:size=8", batch)
    # ludopy can only play one game at a time, so our batch size is free. Each turn of a lane is one roll of the die, as
    # seat 0 begins without a draw.
    ludo_rolls = our_steps("ludo:rules=ludopy150", 4 * batch, turns=True)
    return [
        Row("tic_tac_toe", "steps/s", our_steps("tic_tac_toe", batch), "pgx tic_tac_toe", tic_tac_toe),
        Row("pig", "steps/s", our_steps("pig", batch), "pgx backgammon", backgammon),
        Row("ludo", "steps/s", our_steps("ludo", batch), "pgx backgammon", backgammon),
        Row("ludo:rules=ludopy150", "rolls/s", ludo_rolls, "ludopy", ludopy_rolls()),
        Row("jumper:size=6", "steps/s", jumper_6, "pgx othello", othello),
        Row("jumper:size=8", "steps/s", jumper_8, "pgx othello", othello),
        Row("jumper:size=6", "steps/s", jumper_6, "pgx connect_four", connect_four),
        Row("jumper:size=6, one core", "turns/s", our_jumper_turns(6)),
        Row("jumper:size=8, one core", "turns/s", our_jumper_turns(8)),
    ]


def our_steps(name: str, batch: int, *, turns: bool = False) -> Callable[[], float]:
    """Actions and outcomes per second in `batch` games; with `turns`, turns per second, one a lane."""
    game = registry.make(name)
    policies = (Policy(Uniform(game)),)
    lanes = rollout.start(game, batch)
    key = jax.random.key(0)

    def run() -> float:
        nonlocal lanes, key
        key, key_play = jax.random.split(key)
        began = time.perf_counter()
        lanes, steps = rollout.count_steps(game, policies, lanes, key_play, num_turns=TURNS)
        made = int(steps)  # waits until they are
        return (batch * TURNS if turns else made) / (time.perf_counter() - began)

    run()  # compiles
    return run


def our_jumper_turns(size: int, num_games: int = 20_000) -> Callable[[], float]:
    """Whole turns per second of random games on the compiled rules, with every distinct board generated each turn."""
    facet = host.of(Jumper(size))
    kernel = host.specialise(random_games, facet)
    rows, ends, wins = facet.rows(1 << 16), facet.rows(1 << 16), np.zeros(2, np.int64)
    kernel.by_turns(1, 0, True, rows, ends, wins)  # compiles

    def run() -> float:
        began = time.perf_counter()
        turns, _ = kernel.by_turns(num_games, 0, True, rows, ends, wins)
        return turns / (time.perf_counter() - began)

    return run


def ludopy_rolls(rolls: int = 4000) -> Callable[[], float]:
    """Rolls of the die per second of ludopy's own Game, which plays one game at a time."""
    try:
        import ludopy
    except ImportError:
        raise UserError("suite simulate compares with ludopy, which is not installed: pip install ludopy") from None
    choices = np.random.default_rng(0)
    game = ludopy.Game()

    def run() -> float:
        nonlocal game
        began = time.perf_counter()
        for _ in range(rolls):
            (_, movable, *_), _ = game.get_observation()
            game.answer_observation(choices.choice(movable) if len(movable) else -1)
            if game.get_winner_of_game() >= 0:
                game = ludopy.Game()
        return rolls / (time.perf_counter() - began)

    return run


def pgx_steps(name: str, batch: int, turns: int = TURNS) -> Callable[[], float]:
    """Steps per second of a pgx game: random legal actions and its own automatic reset."""
    try:
        import pgx
        from pgx.experimental import auto_reset
    except ImportError:
        raise UserError("suite simulate compares with pgx, which is not installed: pip install -e '.[bench]'") from None
    env = pgx.make(name)
    step = jax.vmap(auto_reset(env.step, env.init))

    def turn(state: Any, key: jax.Array) -> tuple[Any, jax.Array]:
        key_action, key_step = jax.random.split(key)
        logits = jnp.log(state.legal_action_mask.astype(jnp.float32))
        action = jax.random.categorical(key_action, logits, axis=-1)
        state = step(state, action, jax.random.split(key_step, batch))
        return state, state.terminated.sum()

    play = jax.jit(lambda state, key: jax.lax.scan(turn, state, jax.random.split(key, turns)))
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        state = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.key(0), batch))
        state, _ = jax.block_until_ready(play(state, jax.random.key(1)))  # compiles
    key = jax.random.key(2)

    def run() -> float:
        nonlocal state, key
        key, key_play = jax.random.split(key)
        began = time.perf_counter()
        state, _ = jax.block_until_ready(play(state, key_play))
        return batch * turns / (time.perf_counter() - began)

    return run
