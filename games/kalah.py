"""Kalah: sow seeds around the board and into your own store; the player with more stored seeds wins."""

from __future__ import annotations

import dataclasses
import re
from typing import NamedTuple

import jax.numpy as jnp
from jax import Array
from rich.text import Text

from boardrl.errors import UserError
from boardrl.game import TERMINAL, Deterministic, Spec, one_hot, select


class State(NamedTuple):
    pits: Array  # [P, H] int32: seeds in each seat's houses in sowing order, the one next to the store last
    stores: Array  # [P] int32
    turn: Array  # [] int32: the seat to move


@dataclasses.dataclass(frozen=True)
class Kalah(Deterministic):
    """Kalah(houses, seeds) by the rules of Irving, Donkers and Uiterwijk (2000), "Solving Kalah", ICGA Journal 23(3).

    Action h takes all seeds of the mover's house h and sows them one by one: along the mover's houses, into the
    mover's store, along the opponent's houses, and around again, skipping the opponent's store. If the last seed lands
    in the store, the player moves again. If it lands in an empty house of the mover, it goes into the store together
    with all seeds of the opposite house, even if there are none. When one side has no seeds left, the other stores its
    remaining seeds, and the game is over. Returns are a win, a draw or a loss; the margin does not count.
    """

    houses: int = 6
    seeds: int = 4

    def __post_init__(self) -> None:
        for name, value in (("houses", self.houses), ("seeds", self.seeds)):
            if not 1 <= value <= 10:
                raise UserError(f"{name}={value} does not fit kalah: expected 1 to 10")

    @property
    def spec(self) -> Spec:
        return Spec(
            "kalah",
            num_players=2,
            num_actions=self.houses,
            num_outcomes=0,
            obs_shape=(2 * self.houses + 3,),
            max_steps=10 * self._total + 10,  # about ten times a random game
        )

    def init(self) -> State:
        return State(jnp.full((2, self.houses), self.seeds, jnp.int32), jnp.zeros(2, jnp.int32), jnp.int32(0))

    def actor(self, state: State) -> Array:
        return jnp.where(self._over(state), TERMINAL, state.turn)

    def legal(self, state: State) -> Array:
        mine, _ = self._sides(state.pits, state.turn)
        return (mine > 0) & ~self._over(state)

    def step(self, state: State, move: Array) -> State:
        houses, ring = self.houses, 2 * self.houses + 1
        mine, theirs = self._sides(state.pits, state.turn)
        chosen = one_hot(move, houses)
        hand = jnp.where(chosen, mine, 0).sum()
        # The mover's houses, store and the opponent's houses in sowing order: each gets one seed per full lap, and
        # those that the last, partial lap reaches get one more.
        board = jnp.concatenate([jnp.where(chosen, 0, mine), jnp.zeros(1, jnp.int32), theirs])
        ahead = (jnp.arange(ring, dtype=jnp.int32) + ring - 1 - move) % ring
        board += hand // ring + (ahead < hand % ring).astype(jnp.int32)
        last = ahead == (hand - 1) % ring
        captures = (last & (board == 1))[:houses]
        mine = jnp.where(captures, 0, board[:houses])
        taken = jnp.where(captures[::-1], board[houses + 1 :], 0)
        theirs = board[houses + 1 :] - taken
        stored = board[houses] + taken.sum() + captures.sum(dtype=jnp.int32)

        ended = (mine.sum() == 0) | (theirs.sum() == 0)
        gains = jnp.stack([stored + jnp.where(ended, mine.sum(), 0), jnp.where(ended, theirs.sum(), 0)])
        pits = jnp.where(ended, 0, jnp.stack([mine, theirs]))
        second = state.turn == 1
        after = State(
            pits=jnp.where(second, pits[::-1], pits),
            stores=state.stores + jnp.where(second, gains[::-1], gains),
            turn=jnp.where(last[houses], state.turn, 1 - state.turn),
        )
        return select(self._over(state), state, after)

    def returns(self, state: State) -> Array:
        lead = jnp.sign(state.stores - state.stores[::-1]).astype(jnp.float32)
        return jnp.where(self._over(state), lead, 0.0)

    def observe(self, state: State, player: Array) -> Array:
        """Houses and stores, mine then the opponent's, as fractions of all seeds, and whether it is my turn."""
        mine, theirs = self._sides(state.pits, player)
        stores = jnp.where(player == 1, state.stores[::-1], state.stores)
        shares = jnp.concatenate([mine, theirs, stores]).astype(jnp.float32) / self._total
        return jnp.append(shares, (state.turn == player).astype(jnp.float32))

    # Seeds stored, seeds in houses, and houses that end in the store, own minus opponent's; whose turn it is.
    feature_names = ("stored", "held", "extra_turns", "turn")
    feature_weights = (4.0, 0.3, 0.2, 0.1)

    def features(self, state: State, player: Array) -> Array:
        to_store = jnp.arange(self.houses, 0, -1, dtype=jnp.int32)
        extra = (state.pits % (2 * self.houses + 1) == to_store[None]).sum(1, dtype=jnp.int32)
        seeds = jnp.stack([state.stores, state.pits.sum(1)]).astype(jnp.float32) / self._total
        turn = one_hot(state.turn, 2) & ~self._over(state)
        each = jnp.concatenate([seeds, jnp.stack([extra, turn.astype(jnp.int32)]).astype(jnp.float32)])
        lead = each[:, 0] - each[:, 1]
        return jnp.where(player == 1, -lead, lead)

    def rotate(self, state: State) -> State:
        return State(state.pits[::-1], state.stores[::-1], 1 - state.turn)

    def to_text(self, state: State) -> str:
        """Each seat's houses in sowing order and its store, and the seat to move: '4.4.4.4.4.4/0 4.4.4.4.4.4/0 0'."""
        sides = [".".join(map(str, side)) for side in state.pits.tolist()]
        return " ".join(
            [*(f"{side}/{store}" for side, store in zip(sides, state.stores, strict=True)), str(state.turn)]
        )

    def from_text(self, text: str) -> State:
        side = rf"(\d+(?:\.\d+){{{self.houses - 1}}})/(\d+)"
        match = re.fullmatch(rf"{side} {side} ([01])", text, re.ASCII)
        if match is None or max(map(len, re.split(r"\D", text))) > len(str(self._total)):
            raise UserError(
                f"bad position {text!r}: expected {self.houses} houses and a store for each seat and who moves, like "
                f"{self.to_text(self.init())!r}"
            )
        pits = [[int(number) for number in match[group].split(".")] for group in (1, 3)]
        stores, turn = [int(match[2]), int(match[4])], int(match[5])
        if sum(pits[0]) + sum(pits[1]) + sum(stores) != self._total:
            raise UserError(f"bad position {text!r}: expected {self._total} seeds in all")
        if (sum(pits[0]) == 0) != (sum(pits[1]) == 0):
            raise UserError(f"bad position {text!r}: a side is empty, so that the other would have stored its seeds")
        return State(jnp.array(pits, jnp.int32), jnp.array(stores, jnp.int32), jnp.int32(turn))

    def move_text(self, state: State, move: Array) -> str:
        """The house and its number of seeds: 'house 2 (4 seeds)'."""
        seeds = int(state.pits[state.turn, move])
        return f"house {int(move)} ({seeds} seed{'' if seeds == 1 else 's'})"

    def show(self, state: State) -> Text:
        """The board as seat 0 sees it: the opponent's houses on top, from right to left, its own store on the right."""
        near, far = state.pits.tolist()
        rows = ["   ".join(f"{seeds:2}" for seeds in side) for side in (far[::-1], near)]
        between = " " * len(rows[0])
        right, left = state.stores.tolist()
        return Text(f"     {rows[0]}\n {left:2}  {between}  {right:2}\n     {rows[1]}")

    @property
    def _total(self) -> int:
        return 2 * self.houses * self.seeds

    def _over(self, state: State) -> Array:
        return (state.pits == 0).all()

    def _sides(self, pits: Array, seat: Array) -> tuple[Array, Array]:
        """[H] the houses of a seat, and of its opponent."""
        second = seat == 1
        return jnp.where(second, pits[1], pits[0]), jnp.where(second, pits[0], pits[1])
