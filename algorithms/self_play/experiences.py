"""Turns of a Q-learner played by compiled code: the same turns and records as `algorithms.learning.experience.play`.

`Experiences.play` is a function of its arguments alone, as `algorithms.self_play.windows.Windows.play` is.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np

from algorithms.learning import rewards
from algorithms.learning.q_net import AFTERSTATE, AfterstateQ, QNet
from algorithms.learning.transitions import NOBODY, Slot
from algorithms.self_play import experience_kernel, experience_slots
from algorithms.self_play.windows import side_by_side
from boardrl import host
from boardrl.game import Game
from boardrl.lowering import Argument, Function, lower_module
from boardrl.play import lineup, lineup_slots, rollout
from boardrl.play.lineup import ByLogits, ByValue, Decider, Lineup, decider
from boardrl.play.policy import Policy


class Played(NamedTuple):
    """What was played; NumPy arrays."""

    lanes: rollout.Lanes  # after it
    turns: Slot  # [T, B], with states for memos


@dataclasses.dataclass(frozen=True, eq=False)
class Experiences:
    """Compiled play for one net, opponents and rewarded events; use `make`."""

    module: Any
    facet: host.Facet
    lineup: Lineup

    def play(
        self,
        numbers: np.ndarray,
        lanes: rollout.Lanes,
        seating: np.ndarray,
        params: np.ndarray,
        worth: Mapping[str, float],
        *,
        seed: int,
        num_turns: int,
        epsilon: float,
        threads: int = 1,
    ) -> Played:
        """Plays T turns in some lanes.

        Args:
          numbers: [B] of the lanes among all lanes.
          seating: [B, P] int32, see algorithms.learning.seats.
          params: `self.lineup.params` of the learner and the opponents.
          threads: how many play, each some of the lanes; changes nothing but the time.
        """
        rows, steps = self.facet.row(lanes.state), np.array(lanes.steps)
        shape = (num_turns, len(numbers))
        players, choices = np.full(shape, NOBODY, np.int32), np.zeros(shape, np.int32)
        memos = np.broadcast_to(rows, (*shape, rows.shape[1])).copy()  # of slots without a decision: any state
        dice, got = (np.zeros((*shape, seating.shape[1]), np.float32) for _ in range(2))
        slots = (players, memos, choices, dice, got, np.zeros(shape, np.bool_))
        values = np.array([*worth.values()], np.float32)
        arrays = (np.asarray(numbers, np.int64), np.float32(epsilon), seating, params, values, (rows, steps), slots)

        def play_some(first: int, last: int) -> None:
            self.module.play_turns(first, last, np.uint64(seed), *arrays)

        side_by_side(play_some, len(numbers), threads)
        after = rollout.Lanes(self.facet.state(rows), cast(Any, steps))
        turns = cast(Any, slots)
        return Played(after, Slot(turns[0], self.facet.state(memos), *turns[2:]))


def make(net: QNet, params: Any, opponents: tuple[Policy, ...], events: tuple[str, ...]) -> Experiences:
    """Compiled play of a learner with this net; raises LoweringError where there is none."""
    learner: Decider = ByValue(AfterstateQ(net), ends=False) if net.inputs == AFTERSTATE else ByLogits(net)
    deciders = (learner, *map(decider, opponents))
    players = lineup.lower(net.game, deciders, (params, *(opponent.params for opponent in opponents)))
    return _make(net.game, players, events)  # type: ignore[arg-type]


@functools.cache
def _make(game: Any, players: Lineup, events: tuple[str, ...]) -> Experiences:
    facet = host.of(game)
    slots = {lineup_slots.__name__: players.module, experience_slots.__name__: _lower_rewards(game, events)}
    return Experiences(host.specialise(experience_kernel, facet, slots=slots), facet, players)


def _lower_rewards(game: Game[Any], events: tuple[str, ...]) -> Any:
    state = jax.tree.map(jnp.asarray, game.init())

    def reward(worth: Any, before: Any, after: Any) -> Any:
        return rewards.of_step(game, events, worth, before, after)

    worth = Argument("worth", jnp.zeros(len(events), jnp.float32), in_memory=True)
    arguments = [worth, Argument("before", state), Argument("after", state)]
    function = Function(reward, arguments, title=f"rewards of {game.spec.name}")
    module, _ = lower_module(f"{game.spec.name}_rewards", {"reward": function}, extra="REWARD_WORDS = WORK_WORDS\n")
    return module
