"""Tabular Q-learning: a hash table of action values, filled by games on the compiled rules of a game.

    Q(s, a) ← Q(s, a) + α (r + γ max_b Q(s', b) − Q(s, a))

with s' the same player's next decision and r all that it got until then (Watkins 1989; derakhshan2010, section 2.8).
All learners share one table.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Hashable
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from algorithms import tabular
from algorithms.learning import rewards, schedules
from algorithms.settings import checks
from algorithms.tabular import hash_table
from algorithms.tabular.hash_table import Table
from boardrl import options
from boardrl.config import setting
from boardrl.errors import Exhausted, UserError
from boardrl.game import Game
from boardrl.play.policy import Policy

ON_HOST = True  # `update` is compiled for the host, not for JAX


@dataclasses.dataclass(frozen=True)
class Config:
    games: int = setting(20_000, "train until this many games have ended")
    opponents: str = setting(
        "", "players that take a seat each, like random,random; empty: all seats play by the table"
    )
    learners: int = setting(0, "seats that learn, of those that play by the table; 0: all of them")
    encoding: str = setting(tabular.STATE, "what a decision is keyed by: state, or one of the game's action_encodings")
    joint: bool = setting(True, "one key for the encodings of all actions; false: one key for each action")
    among: str = setting("", "a scripted player; actions that it rules out are not considered; empty: all legal ones")
    entries: int = setting(1 << 18, "size of the table, a power of 2")
    rewards: str = setting("points=1", "reward of each event, like win=1,lose=-1")
    exclusive: bool = setting(False, "of the rewards that one step brings, only the first of the list counts")
    discount: float = setting(1.0, "gamma, per decision of the same player")
    learning_rate: float = setting(0.1, "learning rate alpha at the start")
    learning_rate_end: float = setting(0.1, "the same at the end of linear annealing")
    epsilon: float = setting(1.0, "probability of a random action, at the start")
    epsilon_end: float = setting(1.0, "the same at the end of linear annealing")
    epsilon_games: int = setting(0, "games over which epsilon is annealed; 0: all of --games")
    games_per_update: int = setting(1024, "games played with an unchanged table before it learns from them")


class TrainState(NamedTuple):
    table: Table
    key: Array  # raw key data
    games: Array  # [] int32: ended so far
    updates: Array  # [] int32


def check(config: Config, game: Game[Any]) -> None:
    """Refuses settings that make no sense, in one sentence."""
    fractions = ("discount", "epsilon", "epsilon_end", "learning_rate", "learning_rate_end")
    checks.check(config, game, fractions=fractions, counts=("games", "games_per_update"))
    if config.entries < 2 or config.entries & (config.entries - 1) or config.entries > 1 << 30:
        raise UserError(f"--entries={config.entries} is no size of a table; expected a power of 2 from 2 to {1 << 30}")
    seats = game.spec.num_players - len(options.split(config.opponents))
    if not 0 <= config.learners <= seats:
        raise UserError(f"--learners={config.learners} are more than the {seats} seats that play by the table")
    rewards.parse(config.rewards, game)
    coding(config, game).considered(game.init())


def coding(config: Config, game: Game[Any]) -> tabular.Coding:
    """How decisions become keys."""
    return _coding(config, cast(Hashable, game))


@functools.cache
def _coding(config: Config, game: Any) -> tabular.Coding:
    """Kept, as to check it takes longer than a game."""
    return tabular.Coding(game, config.encoding, config.joint, config.among)


def init(config: Config, game: Game[Any], key: Array) -> TrainState:
    code = coding(config, game)
    table = hash_table.empty(config.entries, words=code.num_words, values=code.num_values)
    return TrainState(table, jax.random.key_data(key), jnp.int32(0), jnp.int32(0))


def check_state(config: Config, game: Game[Any], state: TrainState) -> None:
    """Refuses a table without a free entry, in which nobody could find out that a key is missing."""
    if (np.asarray(state.table.counts) != hash_table.FREE).all():
        raise ValueError("its table has no free entry")


def update(
    config: Config, game: Game[Any], opponents: tuple[Policy, ...], state: TrainState
) -> tuple[TrainState, dict[str, Any]]:
    """Plays games by the table as it is, on all cores, then learns from them in their order.

    The games follow from the seed and their numbers, so that threads change nothing. Where the table becomes full,
    what it has learned until then stays; the next update that finds no room ends the training.
    """
    worth = rewards.parse(config.rewards, game)
    kernel = tabular.kernel(coding(config, game), list(worth), opponents)
    done = int(state.games)
    epsilon = schedules.annealed(config.epsilon, config.epsilon_end, state.games, config.epsilon_games or config.games)
    rate = schedules.annealed(config.learning_rate, config.learning_rate_end, state.games, config.games)
    seats = game.spec.num_players - len(opponents)
    plays = tabular.Plays(config.learners or seats, len(opponents), float(epsilon), config.exclusive)
    high, low = (int(word) for word in np.asarray(state.key))
    numbers = schedules.game_numbers(done, config.games_per_update, config.games)
    frozen = Table(*map(np.asarray, state.table))  # by which is played, while the copy learns
    table = Table(*map(np.array, frozen))
    used, room = int((table.counts != hash_table.FREE).sum()), hash_table.room(config.entries)
    was_full, transitions, squares = used >= room, 0, 0.0
    for page in kernel.play(frozen, numbers, worth=worth, plays=plays, seed=high << 32 | low):
        used, errors = kernel.module.learn(
            page.num_transitions, float(rate), config.discount, tuple(table), tuple(page.book), used, room
        )
        if used < 0 and was_full:
            raise Exhausted(
                f"the table of {config.entries:,} entries is full after {done:,} games ({room:,} may be taken); "
                f"start a new run with --entries={2 * config.entries} or a coarser encoding to learn more"
            )
        transitions, squares = transitions + page.num_transitions, squares + errors
        if used < 0:
            used = room
            break
    metrics = {
        "loss": 0.5 * squares / max(transitions, 1),
        "load": used / config.entries,
        "known": used,
        "transitions": transitions,
        "epsilon": epsilon,
    }
    games, updates = jnp.int32(numbers.stop), state.updates + 1
    return TrainState(Table(*map(jnp.asarray, table)), state.key, games, updates), metrics


def games_per_update(config: Config) -> int:
    """All updates play as many, but the last, which plays what is left of the games."""
    return config.games_per_update


def policy(config: Config, game: Game[Any], state: TrainState) -> Policy:
    """The greedy player of what was learned."""
    return Policy(greedy(config, game), state.table)


def greedy(config: Config, game: Game[Any]) -> tabular.Best:
    """The function of the greedy player, of which a table is the parameters."""
    return tabular.Best(coding(config, game))
