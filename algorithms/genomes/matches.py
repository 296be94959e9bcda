"""The matches of a generation: who sits where, and the games, in compiled code where the players can be compiled."""

from __future__ import annotations

import concurrent.futures
import functools
import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np

from algorithms.genomes import match_kernel
from algorithms.learning import seats
from boardrl import host
from boardrl.game import Game, acting, settling
from boardrl.lowering.functions import Argument, Function
from boardrl.lowering.ir import LoweringError
from boardrl.lowering.lower import lower_module
from boardrl.matches import arena
from boardrl.play.players import Player
from boardrl.play.policy import Policy
from boardrl.system import machine

BLOCK = 32  # games that a thread plays before it takes the next ones


def seatings(
    num_games: int, num_players: int, members: np.ndarray, num_opponents: int, rng: np.random.Generator
) -> np.ndarray:
    """[G, P] int32: who sits where in each game: a member's number, or -1 - k for the opponent k.

    Members take turns, so that all play equally often, in an order that is drawn anew as soon as everybody has sat in
    every seat. Where the number of games ends in between, some play once or twice more.
    """
    per_game = num_players - num_opponents
    common = math.gcd(len(members), per_game)
    in_cycle = len(members) // common  # games in which everybody has sat equally often, if not in every seat
    cycles = -(-num_games // (in_cycle * num_players))
    orders = rng.permuted(np.tile(members, (cycles, 1)), axis=1)  # [C, N]
    lineups = np.tile(orders, (1, per_game // common)).reshape(cycles, in_cycle, per_game)
    opponents = np.broadcast_to(-1 - np.arange(num_opponents), (cycles, in_cycle, num_opponents))
    lineups = np.concatenate([lineups, opponents], 2)
    seats = np.arange(num_players)
    shifted = (seats[None] - seats[:, None]) % num_players  # [P, P]
    seated = lineups[:, :, shifted].swapaxes(1, 2)  # [C, P, in_cycle, P]: all games of a cycle, then all one seat on
    return seated.reshape(-1, num_players)[:num_games].astype(np.int32)


def points(returns: np.ndarray, seating: np.ndarray, num_members: int) -> np.ndarray:
    """[M] float64: mean return a seat of each member; 0 for members who did not play."""
    sat = seating >= 0
    total = np.bincount(seating[sat], returns[sat].astype(np.float64), minlength=num_members)
    count = np.bincount(seating[sat], minlength=num_members)
    return total / np.maximum(count, 1)


def play(
    game: Game[Any],
    members: Sequence[Policy],
    opponents: Sequence[Policy],
    seating: np.ndarray,
    *,
    opening: int = 0,
    seed: int,
) -> np.ndarray:
    """[G, P] returns of games between members, whose policies differ in their params alone, and opponents."""
    apply = members[0].apply
    compiled = None
    if not any(jax.tree.leaves(opponent.params) for opponent in opponents):
        leaves, structure = jax.tree.flatten(members[0].params)
        shapes = tuple((leaf.shape, leaf.dtype) for leaf in leaves)
        compiled = _compile(cast(Hashable, game), apply, shapes, structure, tuple(policy.apply for policy in opponents))
    if compiled is None:
        return _play_in_jax(game, [*members, *opponents], len(members), seating, opening=opening, seed=seed)
    params = np.stack([compiled.pack(policy.params) for policy in members])
    returns = np.zeros(seating.shape, np.float32)

    def block(first: int) -> None:
        last = min(first + BLOCK, len(seating))
        compiled.module.play(first, last, np.uint64(seed), opening, seating, params, returns)

    with concurrent.futures.ThreadPoolExecutor(machine.num_cores()) as threads:
        list(threads.map(block, range(0, len(seating), BLOCK)))
    return returns


class _Compiled(NamedTuple):
    module: Any
    pack: Callable[[Any], np.ndarray]  # params of a member to its row


@functools.cache
def _compile(game: Any, apply: Any, shapes: Any, structure: Any, opponents: tuple[Any, ...]) -> _Compiled | None:
    """The kernel for one kind of member; None where something of it cannot be compiled, and JAX has to play."""
    state = jax.tree.map(jnp.asarray, game.init())
    params = jax.tree.unflatten(structure, [jnp.zeros(shape, dtype) for shape, dtype in shapes])
    row, move = Argument("row", state), Argument("move", jnp.int32(0))
    # Never a number alone, which compiled code takes by value and not as a row.
    example = (params, jnp.zeros(1, jnp.float32))
    functions = {
        "considered": Function(getattr(apply, "considered", game.legal), [row]),
        "decide": Function(lambda some, state: apply(some[0], state), [Argument("params", example), row]),
        "rival": Function(seats.opponent_logits(game, opponents), [row, Argument("number", jnp.int32(0))]),
        "settle": Function(settling(game), [row, move]),
        "act": Function(acting(game), [row, move]),
    }
    try:
        part, layouts = lower_module(f"{game.spec.name}_match", functions, extra="MATCH_WORDS = WORK_WORDS\n")
    except LoweringError:
        return None
    facet = host.of(game)
    if facet.refused:
        return None
    module = host.specialise(match_kernel, facet, slots={"algorithms.genomes.match_slots": part})
    return _Compiled(module, lambda params: layouts["decide"][0].pack((params, np.zeros(1, np.float32))))


def _play_in_jax(
    game: Game[Any], policies: Sequence[Policy], num_members: int, seating: np.ndarray, *, opening: int, seed: int
) -> np.ndarray:
    players = [Player(f"player {number}", policy) for number, policy in enumerate(policies)]
    numbers = np.where(seating >= 0, seating, num_members - 1 - seating)
    seed32 = int(np.random.SeedSequence(seed).generate_state(1)[0])
    played = arena.play(game, players, numbers, num_games=len(seating), seed=seed32, opening=opening)
    return played.returns
