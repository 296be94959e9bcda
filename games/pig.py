"""Pig: roll a die as often as you dare, then hold; a 1 loses the turn's total. First to the target wins."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from boardrl.errors import UserError
from boardrl.game import CHANCE, TERMINAL, Spec, one_hot, select

ROLL, HOLD = 0, 1
FACES = 6


class State(NamedTuple):
    scores: Array  # [P] int32
    total: Array  # [] int32: at stake in this turn, at most what the player still needs
    turn: Array  # [] int32: the seat to act
    rolling: Array  # [] bool: the die is being rolled


@dataclasses.dataclass(frozen=True)
class Pig:
    """Actions: 0 roll, 1 hold (after at least one roll). Outcomes: the die's face minus 1."""

    players: int = 2
    target: int = 100

    lanes_last = True

    def __post_init__(self) -> None:
        if not 2 <= self.players <= 4:
            raise UserError(f"players={self.players} does not fit pig: expected 2 to 4")
        if not 1 <= self.target <= 1000:
            raise UserError(f"target={self.target} does not fit pig: expected 1 to 1000")

    @property
    def spec(self) -> Spec:
        return Spec(
            "pig",
            num_players=self.players,
            num_actions=2,
            num_outcomes=FACES,
            obs_shape=(2 * self.players + 2,),
            max_steps=40 * self.players * (self.target + 10),  # about 30 times a random game
            min_return=-1.0 / (self.players - 1),
        )

    def init(self) -> State:
        return State(jnp.zeros(self.players, jnp.int32), jnp.int32(0), jnp.int32(0), jnp.array(False))

    def actor(self, state: State) -> Array:
        return jnp.where(self._won(state).any(), TERMINAL, jnp.where(state.rolling, CHANCE, state.turn))

    def legal(self, state: State) -> Array:
        deciding = ~state.rolling & ~self._won(state).any()
        return deciding & jnp.stack([jnp.array(True), state.total > 0])

    def chance(self, state: State) -> Array:
        return jnp.where(state.rolling, jnp.full(FACES, 1 / FACES, jnp.float32), 0.0)

    def step(self, state: State, move: Array) -> State:
        after = select(state.rolling, self._land(state, move), self._decide(state, move))
        return select(self._won(state).any(), state, after)

    def returns(self, state: State) -> Array:
        won = self._won(state)
        return jnp.where(won.any(), jnp.where(won, 1.0, self.spec.min_return), 0.0).astype(jnp.float32)

    def observe(self, state: State, player: Array) -> Array:
        """Scores from mine on, the seat to act relative to mine, the total at stake, and whether the die is rolling."""
        scores = jnp.roll(state.scores, -player) / self.target
        to_act = one_hot((state.turn - player) % self.players, self.players)
        rest = jnp.stack([state.total / self.target, state.rolling.astype(jnp.float32)])
        return jnp.concatenate([scores, to_act.astype(jnp.float32), rest]).astype(jnp.float32)

    def rotate(self, state: State) -> State:
        return state._replace(scores=jnp.roll(state.scores, 1), turn=(state.turn + 1) % self.players)

    def to_text(self, state: State) -> str:
        """Scores, the total at stake, the seat, and `rolls` or `decides`: '12 30 7 0 decides'."""
        scores = " ".join(str(int(score)) for score in state.scores)
        return f"{scores} {int(state.total)} {int(state.turn)} {'rolls' if state.rolling else 'decides'}"

    def from_text(self, text: str) -> State:
        *numbers, doing = text.split() or [""]
        if (
            len(numbers) != self.players + 2
            or not all(map(str.isdecimal, numbers))
            or doing not in ("rolls", "decides")
        ):
            raise UserError(
                f"bad position {text!r}: expected {self.players} scores, a total, a seat and rolls or decides"
            )
        *scores, total, turn = map(int, numbers)
        if max(scores) > self.target or turn >= self.players or total > self.target - scores[turn]:
            raise UserError(f"bad position {text!r}: no such scores, total or seat in pig to {self.target}")
        winners = sum(score == self.target for score in scores)
        if winners > 1 or (winners and (total or doing == "rolls")):
            raise UserError(f"bad position {text!r}: a game that is won has one winner and nothing at stake")
        return State(jnp.array(scores, jnp.int32), jnp.int32(total), jnp.int32(turn), jnp.array(doing == "rolls"))

    def hold_at(self, state: State, *, total: int = 20) -> Array:
        """[A] logits: roll until the turn is worth `total`, or enough to win."""
        enough = (state.total >= total) | (self._mine(state) + state.total >= self.target)
        return jnp.where(jnp.stack([~enough, enough]), 0.0, -jnp.inf)

    strategies = {"hold": hold_at}

    def _won(self, state: State) -> Array:
        return state.scores >= self.target

    def _mine(self, state: State) -> Array:
        return jnp.where(one_hot(state.turn, self.players), state.scores, 0).sum()

    def _decide(self, state: State, action: Array) -> State:
        held = action == HOLD
        gain = jnp.where(held & one_hot(state.turn, self.players), state.total, 0)
        return State(
            scores=state.scores + gain,
            total=jnp.where(held, 0, state.total),
            turn=jnp.where(held, (state.turn + 1) % self.players, state.turn),
            rolling=~held,
        )

    def _land(self, state: State, outcome: Array) -> State:
        lost = outcome == 0
        total = jnp.minimum(state.total + outcome + 1, self.target - self._mine(state))
        return State(
            scores=state.scores,
            total=jnp.where(lost, 0, total),
            turn=jnp.where(lost, (state.turn + 1) % self.players, state.turn),
            rolling=jnp.array(False),
        )
