"""Whole games of given players by compiled code, and targets without luck for the values of their positions."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, NamedTuple

import numpy as np

from algorithms.self_play import valued_games_kernel, windows
from boardrl import host
from boardrl.game import Game
from boardrl.lowering import Layout
from boardrl.play import lineup, lineup_slots
from boardrl.play.lineup import ByValue, Lineup, decider
from boardrl.play.policy import Policy, distinct
from boardrl.system import machine
from boardrl.values import nets

ROOM = 256  # positions that a game has room for at first


class Positions(NamedTuple):
    """The positions before the rolls of some games."""

    inputs: Any  # [N] of the net
    viewer: np.ndarray  # [N] int32: the seat that each is seen from
    target: np.ndarray  # [N, P] returns without the luck to come
    error: float  # root mean square difference between target and value after the roll before
    results: np.ndarray  # [G, P] returns of the games


@dataclasses.dataclass(frozen=True, eq=False)
class ValuedGames:
    """Compiled play of given players, valued by one net; use `make`."""

    module: Any
    lineup: Lineup
    inputs: Layout
    params: np.ndarray  # of the different players and of the net
    number_of: np.ndarray  # [M] of each player in the lineup

    def play(self, numbers: np.ndarray, seed: int, *, decay: float, opening: int) -> Positions:
        """Plays the games of these numbers.

        Game g seats the players one after another from seat -g on, so that over as many games as there are players each
        sits everywhere equally often.

        Args:
          decay: λ of the targets.
        """
        num_players = self.module.NUM_PLAYERS
        seats = (np.arange(num_players)[None, :] + numbers[:, None]) % len(self.number_of)
        seating = self.number_of[seats].astype(np.int32)
        sizes, room = np.zeros(len(numbers), np.int64), ROOM
        while True:  # again where a game is longer than there is room for
            record = (
                self.inputs.rows(len(numbers), room),
                np.zeros((len(numbers), room), np.int32),
                np.zeros((len(numbers), room, 2, num_players), np.float32),
                np.zeros((len(numbers), num_players), np.float32),
            )
            control = len(self.lineup.layouts) - 1
            play = functools.partial(
                self.module.play_games,
                seed=np.uint64(seed), numbers=numbers, opening=opening, seating=seating, control=control,
                params=self.params, sizes=sizes, record=record,
            )  # fmt: skip
            windows.side_by_side(lambda first, last, play=play: play(first, last), len(numbers), machine.num_cores())
            if sizes.max() <= room:
                break
            room = int(sizes.max())
        inputs, viewer, rolls, results = record
        target = np.zeros((len(numbers), room, num_players), np.float32)
        self.module.returns_without_luck(sizes, np.float32(decay), rolls, results, target)
        played = np.arange(room)[None, :] < sizes[:, None]
        difference = (target - rolls[:, :, 0])[played]
        error = float(np.sqrt((difference**2).mean()))
        return Positions(self.inputs.unpack(inputs[played]), viewer[played], target[played], error, results)


def make(net: nets.ValueNet, params: Any, players: tuple[Policy, ...]) -> ValuedGames:
    """Compiled games of these players; raises LoweringError where there are none."""
    different, number_of = distinct(players)
    deciders = (*map(decider, different), ByValue(nets.Scaled(net)))
    every = (*(player.params for player in different), params)
    found = lineup.lower(net.game, deciders, every)
    module, layout = _compiled(net, found)
    return ValuedGames(module, found, layout, found.params(every), number_of)


@functools.cache
def _compiled(net: nets.ValueNet, players: Lineup) -> tuple[Any, Layout]:
    game: Game[Any] = net.game
    shown, layout = windows.lower_inputs(net)
    slots = {lineup_slots.__name__: players.module, "algorithms.self_play.window_slots": shown}
    return host.specialise(valued_games_kernel, host.of(game), slots=slots), layout
