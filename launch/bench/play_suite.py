"""Suite `play`: matches. Of two nets with luck taken out beside the same match without; and beside peers' matches."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from typing import Any, Literal

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np

from algorithms import td_lambda
from boardrl import optional, registry
from boardrl.game import Game
from boardrl.matches import arena, luck
from boardrl.matches import duplicate as duplicates
from boardrl.matches.luck import Control
from boardrl.play import rollout
from boardrl.play.players import Player, make_lineup
from boardrl.play.policy import Policy
from boardrl.values import nets
from launch.bench.row import Row, missing

TURNS = 32  # of one call, as in a match
CALLS = 4  # of one measurement
UPDATES = 300  # of learning before the nets play, so that games go as games of nets do
MATCH_GAMES = 20_000  # of one measurement of a match against OpenSpiel's
THEIR_GAMES = 300
NET_GAMES = 2048  # of one measurement of a match of nets
FITTED = (192, 32)  # units of a net that is fitted to the players
HIDDEN = 64  # units of the nets that pgx's match is played by, as many as ours have


def rows(batch: int) -> Sequence[Row]:
    plain = turns_rate("ludo", batch)
    adjusted, shared = turns_rate("ludo", batch, control=True), turns_rate("ludo", batch, duplicate=True)
    both = turns_rate("ludo", batch, control=True, duplicate=True)
    return [
        Row("ludo, match of two nets, luck taken out", "games/s", net_games(control="own"), "plain", net_games()),
        Row("ludo, match of two nets, by a fitted net", "games/s", net_games(control="fitted"), "plain", net_games()),
        Row("ludo, two nets, luck taken out in JAX", "turns/s", adjusted, "plain", plain),
        Row("ludo, two nets, duplicate dice", "turns/s", shared, "plain", plain),
        Row("ludo, two nets, both", "turns/s", both, "plain", plain),
        Row("ludo, two nets, plain", "turns/s", plain, "pgx backgammon, two nets", pgx_turns(batch)),
        Row("ludo, two nets, luck taken out", "turns/s", adjusted, "pgx backgammon, two nets", pgx_turns(batch)),
        Row("pig, a match of random players", "games/s", pig_games(), "OpenSpiel evaluate_bots", openspiel_games()),
    ]


def two_nets(game: Game[Any]) -> tuple[Policy, Policy]:
    """Two players by TD(λ) after a little learning, by the settings that suit the game."""
    suited = optional.defaults(game).get("td_lambda", {})
    known = {field.name for field in dataclasses.fields(td_lambda.Config)}
    config = td_lambda.Config(**{key: value for key, value in suited.items() if key in known})
    found = []
    for seed in (0, 1):
        state = td_lambda.init(config, game, jax.random.key(seed))
        for _ in range(UPDATES):
            state, _ = td_lambda.update(config, game, (), state)
        found.append(jax.device_get(td_lambda.policy(config, game, state)))
    return found[0], found[1]


_nets: dict[str, tuple[Policy, Policy]] = {}


def turns_rate(name: str, batch: int, *, control: bool = False, duplicate: bool = False) -> Callable[[], float]:
    """Turns per second of a match of two nets, as `arena.match` plays it, on the device alone."""
    game = registry.make(name)
    if name not in _nets:
        _nets[name] = two_nets(game)
    policies = tuple(jax.tree.map(jnp.asarray, policy) for policy in _nets[name])
    num_players = game.spec.num_players
    seats = (jnp.arange(batch)[:, None] + jnp.arange(num_players)[None, :]) % 2
    lanes = rollout.start(game, batch, courses=True)
    options: dict[str, Any] = {"num_turns": TURNS}
    if duplicate:
        lanes = lanes._replace(dice=duplicates.first_dice(batch, 2))
        options["key_dice"] = duplicates.key_of(jax.random.key(1))
    if control:
        found = luck.of_player(Player("net", policies[0]))
        assert found is not None
        first = luck.none_yet(game)
        lanes = lanes._replace(tally=jax.tree.map(lambda x: jnp.broadcast_to(x, (batch, *x.shape)), first))
        options["tally"] = found.tally(game)
    key = jax.random.key(0)

    def run() -> float:
        nonlocal lanes, key
        began = time.perf_counter()
        for _ in range(CALLS):
            key, key_play = jax.random.split(key)
            lanes, ended = rollout.play(game, policies, seats.astype(jnp.int32), lanes, key_play, **options)
        jax.block_until_ready((lanes, ended))
        return batch * TURNS * CALLS / (time.perf_counter() - began)

    run()  # compiles
    return run


def net_games(*, control: Literal["", "own", "fitted"] = "") -> Callable[[], float]:
    """Games per second of a whole match of two nets, each with two seats, as `arena.play` plays it.

    Args:
      control: none; the values of one of the nets; those of a net of the size that `--paper=arena` fits.
    """
    game = registry.make("ludo")
    if "ludo" not in _nets:
        _nets["ludo"] = two_nets(game)
    players = [Player(f"net {number}", policy) for number, policy in enumerate(_nets["ludo"])]
    seats = np.array([[0, 1, 0, 1], [1, 0, 1, 0]])
    options: dict[str, Any] = {}
    if control == "own":
        options["control"] = luck.of_player(players[0])
    elif control == "fitted":
        net = nets.ValueNet(game, nets.MLP(FITTED, game.spec.num_players))
        options["control"] = Control("fitted", net, net.init(jax.random.key(0)))

    def run() -> float:
        began = time.perf_counter()
        arena.play(game, players, seats, num_games=NET_GAMES, seed=0, **options)
        return NET_GAMES / (time.perf_counter() - began)

    run()  # compiles
    return run


def pig_games() -> Callable[[], float]:
    """Games per second of a whole match of two random players of pig."""
    game = registry.make("pig")
    lineup = make_lineup("random,random", game)

    def run() -> float:
        began = time.perf_counter()
        arena.match(game, lineup, num_games=MATCH_GAMES, seed=0)
        return MATCH_GAMES / (time.perf_counter() - began)

    run()  # compiles
    return run


def openspiel_games() -> Callable[[], float]:
    """Games per second of OpenSpiel's own loop over its random bots in C++."""
    try:
        import pyspiel
    except ImportError:
        raise missing("OpenSpiel") from None
    game = pyspiel.load_game("pig")
    bots = [pyspiel.make_uniform_random_bot(seat, 7 + seat) for seat in range(2)]

    def run() -> float:
        began = time.perf_counter()
        for number in range(THEIR_GAMES):
            pyspiel.evaluate_bots(game.new_initial_state(), bots, number)
        return THEIR_GAMES / (time.perf_counter() - began)

    return run


def pgx_turns(batch: int) -> Callable[[], float]:
    """Steps per second of a match of two policy nets in pgx's backgammon, whose dice are thrown inside `step`.

    Both nets look at every position and who sits decides, as pgx's own examples have it and as ours do.
    """
    try:
        import pgx
        from pgx.experimental import auto_reset
    except ImportError:
        raise missing("pgx") from None
    env = pgx.make("backgammon")
    step = jax.vmap(auto_reset(env.step, env.init))
    net = nn.Sequential([nn.Dense(HIDDEN), nn.relu, nn.Dense(env.num_actions)])

    def turn(carry: tuple[Any, Any], key: jax.Array) -> tuple[tuple[Any, Any], jax.Array]:
        params, state = carry
        key_action, key_step = jax.random.split(key)
        seen = state.observation.reshape(batch, -1).astype(jnp.float32)
        first, second = (jnp.asarray(net.apply(one, seen)) for one in params)
        logits = jnp.where((state.current_player == 0)[:, None], first, second)
        logits = jnp.where(state.legal_action_mask, logits, -jnp.inf)
        action = jax.random.categorical(key_action, logits, axis=-1)
        state = step(state, action, jax.random.split(key_step, batch))
        return (params, state), state.rewards

    play = jax.jit(lambda carry, key: jax.lax.scan(turn, carry, jax.random.split(key, TURNS)))
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        state = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.key(0), batch))
        seen = state.observation.reshape(batch, -1).astype(jnp.float32)
        params = tuple(net.init(jax.random.key(seed), seen[0]) for seed in (1, 2))
        carry, _ = jax.block_until_ready(play((params, state), jax.random.key(1)))  # compiles
    key = jax.random.key(2)

    def run() -> float:
        nonlocal carry, key
        began = time.perf_counter()
        for _ in range(CALLS):
            key, key_play = jax.random.split(key)
            carry, _ = jax.block_until_ready(play(carry, key_play))
        return batch * TURNS * CALLS / (time.perf_counter() - began)

    return run
