"""Windows of TD learning played by compiled code: the same turns and records as `algorithms.learning.afterstates`.

`Windows.play(part, …)` is a function of its arguments alone: parameters, the state of some lanes, a seed. So parts of
the lanes can be played by threads or by other processes; the random numbers of a lane follow from the seed and the
lane's number, so that the result does not depend on how lanes are divided.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import functools
import itertools
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np

from algorithms.learning import seats
from algorithms.learning.afterstates import Pending
from algorithms.learning.returns import Trail, Window
from algorithms.self_play import turn_window_kernel, window_kernel
from boardrl import host
from boardrl.host import dice
from boardrl.lowering import Argument, Function, Layout, lower_module
from boardrl.play import lineup, lineup_slots, rollout
from boardrl.play.lineup import ByValue, Lineup, decider
from boardrl.play.policy import Policy, Utility
from boardrl.system import machine
from boardrl.values import nets


class Part(NamedTuple):
    """Some of the lanes, and what each of them carries from one window into the next; NumPy arrays."""

    numbers: np.ndarray  # [B] int64: of the lanes among all lanes
    lanes: rollout.Lanes
    pending: Pending


class Played(NamedTuple):
    """What was played in a part; NumPy arrays."""

    window: Window  # [T + 1, B]; of the inputs only those that were asked for, [R, B]
    lanes: rollout.Lanes  # after it
    pending: Pending
    rolls: int


class Plan(NamedTuple):
    """How a window is played, the same in all parts."""

    seed: int  # 64 bits
    num_turns: int  # T
    epsilon: float
    opening: int
    place: int  # the first slot whose inputs are recorded
    thin: int  # one of so many slots
    num_recorded: int  # R


@dataclasses.dataclass(frozen=True, eq=False)
class Windows:
    """Compiled play for one net and opponents; use `make`."""

    module: Any
    facet: host.Facet
    lineup: Lineup
    inputs: Layout

    def play(self, part: Part, seating: np.ndarray, params: np.ndarray, plan: Plan, *, threads: int = 1) -> Played:
        """Plays T turns in every lane of a part.

        Args:
          seating: [B, P] int32, see algorithms.learning.seats.
          params: `self.lineup.params` of the learner and the opponents.
          threads: how many play, each some of the lanes; changes nothing but the time.
        """
        num_lanes, num_players = seating.shape
        rows: Any = self.facet.row(part.lanes.state)
        steps, waiting, waits = (np.array(leaf) for leaf in (part.lanes.steps, *part.pending[1:]))
        pending: Any = (self.inputs.pack(part.pending.inputs), waiting, waits)
        slots = (plan.num_turns + 1, num_lanes)
        inputs = self.inputs.rows(plan.num_recorded, num_lanes)
        viewer: Any = np.zeros(slots, np.int32)
        decided, explored, ended = (_zeros(np.bool_, *slots) for _ in range(3))
        value, best, returns = (_zeros(np.float32, *slots, num_players) for _ in range(3))
        trail = Trail(decided, value, explored, best, ended, returns)
        counts = np.zeros((num_lanes, 2), np.int64)
        counts[:, 0] = part.numbers
        options = (np.uint64(plan.seed), np.float32(plan.epsilon), plan.opening, plan.place, plan.thin)
        arrays = (seating, params, (rows, steps), pending, (inputs, viewer, *trail), counts)

        def play_some(first: int, last: int) -> None:
            self.module.play_window(first, last, *options, *arrays)

        side_by_side(play_some, num_lanes, threads)
        window = Window(self.inputs.unpack(inputs), viewer, trail)
        lanes = rollout.Lanes(self.facet.state(rows), cast(Any, steps))
        after = Pending(self.inputs.unpack(pending[0]), *pending[1:])
        return Played(window, lanes, after, int(counts[:, 1].sum()))


def make(
    net: nets.ValueNet, utility: Utility, params: nets.ScaledParams, opponents: tuple[Policy, ...], *, whole_turns: bool
) -> Windows:
    """Compiled play of a learner with this net; raises LoweringError where there is none.

    Args:
      whole_turns: a slot is a turn, chosen by the position at its end, not an action.
    """
    deciders = (ByValue(nets.Scaled(net), utility), *map(decider, opponents))
    players = lineup.lower(net.game, deciders, (params, *(opponent.params for opponent in opponents)))
    return _make(net, players, whole_turns)


@functools.cache
def _make(net: nets.ValueNet, players: Lineup, whole_turns: bool) -> Windows:
    game = net.game
    shown, layout = lower_inputs(net)
    facet = host.of(game)
    slots = {lineup_slots.__name__: players.module, "algorithms.self_play.window_slots": shown}
    kernel = turn_window_kernel if whole_turns else window_kernel
    return Windows(host.specialise(kernel, facet, slots=slots), facet, players, layout)


def lower_inputs(net: nets.ValueNet) -> tuple[Any, Layout]:
    """What fills `window_slots`: what a net is shown, compiled, and how that is stored."""
    game = net.game
    state = jax.tree.map(jnp.asarray, game.init())
    arguments = [Argument("row", state), Argument("player", jnp.int32(0))]
    title = f"of the net of {game.spec.name}"
    functions = {
        "show": Function(net.inputs, arguments, title=f"inputs {title}"),
        "viewer_of": Function(net.viewer, arguments, title=f"viewer {title}"),
    }
    layout = Layout(jax.eval_shape(net.inputs, state, jnp.int32(0)), "out")
    extra = f"SHOW_WORDS = WORK_WORDS\nINPUT_WORDS = {layout.num_words}\n"
    shown, _ = lower_module(f"{game.spec.name}_inputs", functions, extra=extra)
    return shown, layout


def plan_of(seed: int, *, num_turns: int, epsilon: float, opening: int, thin: int, every_slot: bool) -> Plan:
    """The plan of a window.

    Args:
      thin: inputs are recorded in one of so many successive slots, which the seed chooses, the same in all lanes.
      every_slot: whether those of the last slot are recorded too, of which nothing is learned yet.
    """
    place = int(dice.stream(np.uint64(seed), np.uint64(2**64 - 1))) % thin
    num_recorded = num_turns + 1 if every_slot else num_turns // thin
    return Plan(seed, num_turns, epsilon, opening, place, thin, num_recorded)


@functools.cache
def seating(num_lanes: int, num_players: int, num_opponents: int, rotate: bool) -> np.ndarray:
    """`algorithms.learning.seats.seating` for compiled code."""
    return np.asarray(seats.seating(num_lanes, num_players, num_opponents, rotate=rotate))


def seed_of(key: Any) -> int:
    """64 bits from the raw data of a random key."""
    words = np.asarray(key, np.uint64).ravel()
    return int(words[0] << np.uint64(32) | words[-1])


def side_by_side(play: Any, num_lanes: int, threads: int) -> None:
    """play(first, last) for all lanes, on several threads."""
    bounds = np.linspace(0, num_lanes, min(threads, num_lanes) + 1).astype(int).tolist()
    blocks = list(itertools.pairwise(bounds))
    if len(blocks) == 1:
        play(*blocks[0])
        return
    for done in [_threads().submit(play, *block) for block in blocks]:
        done.result()


def _zeros(dtype: Any, *shape: int) -> Any:
    return np.zeros(shape, dtype)


@functools.cache
def _threads() -> concurrent.futures.ThreadPoolExecutor:
    return concurrent.futures.ThreadPoolExecutor(machine.num_cores(), "lanes")
