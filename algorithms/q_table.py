"""Tabular Q-learning: a hash table of action values, filled by games on the compiled rules of a game.

    Q(s, a) ← Q(s, a) + α (r + γ max_b Q(s', b) − Q(s, a))

with s' the same player's next decision and r all that befell it until then (Watkins 1989; derakhshan2010, section 2.8).
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
from algorithms.learning import experience, rewards
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
    encoding: str = setting(tabular.STATE, "what a decision is known by: state, or one of the game's action_encodings")
    joint: bool = setting(True, "what it says of all actions is one key; false: each action's part is a key of its own")
    among: str = setting("", "a scripted player of the game whose possible actions alone are considered; empty: all")
    entries: int = setting(1 << 18, "size of the table, a power of 2")
    rewards: str = setting("points=1", "what each event is worth, like win=1,lose=-1")
    exclusive: bool = setting(False, "of the rewards that one step brings, only the first of the list counts")
    discount: float = setting(1.0, "gamma: what the value of a player's next decision counts")
    learning_rate: float = setting(0.1, "alpha at the start")
    learning_rate_end: float = setting(0.1, "the same at the end of a straight line")
    epsilon: float = setting(1.0, "share of decisions that are random, at the start; 1: all, 0: none")
    epsilon_end: float = setting(1.0, "the same at the end of a straight line")
    epsilon_games: int = setting(0, "games until then; 0: all of --games")
    games_per_update: int = setting(1024, "games played by one state of the table, before it learns from them")


PRESETS: dict[str, dict[str, Any]] = {
    # Generation 81 of derakhshan2010, in which not to be hit is worth 0. It plays at random while it learns; that the
    # other seats do the same and do not learn is our reading.
    "derakhshan2010": {
        "games": 200_000,
        "learners": 1,
        "encoding": "derakhshan",
        "joint": True,
        "among": "random",
        "entries": 1 << 19,
        "rewards": "lost=-0.12,knock=0.73,near_enemy=-0.15,safe_zone=0.67,goal=0.48,star=0.6,globe=0.09",
        "discount": 0.34,
        "learning_rate": 0.41,
        "learning_rate_end": 0.41,
        "epsilon": 1.0,
        "epsilon_end": 1.0,
        "games_per_update": 1000,
    },
    # Durocher's tables as szurkowski2021 describes them, one for each piece: a move is of one kind, the first that fits
    # of those in the order of `durocher` (which is ours), and has the reward of that kind.
    "szurkowski2021": {
        "games": 100,
        "opponents": "random,random,random",
        "learners": 1,
        "encoding": "durocher_by_piece",
        "joint": False,
        "among": "random(prefer_release=true)",
        "entries": 256,
        "rewards": "release=0.25,goal=0.9,overshoot=0,knock=0.5,star_jump=0.5,globe_on_way=0.4,goal_zone=0.4,"
        "blockade=0.2,moved=0.0001",
        "exclusive": True,
        "discount": 0.6,
        "learning_rate": 0.4,
        "learning_rate_end": 0.4,
        "epsilon": 0.0,
        "epsilon_end": 0.0,
        "games_per_update": 1,
    },
}


class TrainState(NamedTuple):
    table: Table
    key: Array  # raw key data
    games: Array  # [] int32: ended so far
    updates: Array  # [] int32


def check(config: Config, game: Game[Any]) -> None:
    """Refuses settings that make no sense, in one sentence."""
    experience.check_settings(
        config,
        game,
        shares=("discount", "epsilon", "epsilon_end", "learning_rate", "learning_rate_end"),
        counts=("games", "games_per_update"),
    )
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
    epsilon = experience.annealed(config.epsilon, config.epsilon_end, state.games, config.epsilon_games or config.games)
    rate = experience.annealed(config.learning_rate, config.learning_rate_end, state.games, config.games)
    seats = game.spec.num_players - len(opponents)
    plays = tabular.Plays(config.learners or seats, len(opponents), float(epsilon), config.exclusive)
    high, low = (int(word) for word in np.asarray(state.key))
    numbers = experience.numbers(done, config.games_per_update, config.games)
    frozen = Table(*map(np.asarray, state.table))  # by which is played, while the copy learns
    table = Table(*map(np.array, frozen))
    used, room = int((table.counts != hash_table.FREE).sum()), hash_table.room(config.entries)
    was_full, lessons, squares = used >= room, 0, 0.0
    for page in kernel.play(frozen, numbers, worth=worth, plays=plays, seed=high << 32 | low):
        used, errors = kernel.module.learn(
            page.lessons, float(rate), config.discount, tuple(table), tuple(page.book), used, room
        )
        if used < 0 and was_full:
            raise Exhausted(
                f"the table of {config.entries:,} entries is full after {done:,} games ({room:,} may be taken); "
                f"start a new run with --entries={2 * config.entries} or a coarser encoding to learn more"
            )
        lessons, squares = lessons + page.lessons, squares + errors
        if used < 0:
            used = room
            break
    metrics = {
        "loss": 0.5 * squares / max(lessons, 1),
        "load": used / config.entries,
        "known": used,
        "lessons": lessons,
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
