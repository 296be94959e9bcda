"""Transitions: play cut from one decision of a player to the same player's next.

In between, others move, dice are thrown, turns are passed over; or there is nothing in between, after an extra roll.
All that the player gets from its own step on, in anybody's steps, is the reward of its decision, up to its next
decision or the end of the game. The discount γ counts the player's own decisions.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from boardrl.game import Game, one_hot

NOBODY = -1


class Slot(NamedTuple):
    """One turn in one lane, as a Q-learner records it."""

    player: Array  # [] int32: the learner who decided, or NOBODY
    memo: Any
    choice: Array  # [] int32
    dice: Array  # [P] what each player got by the dice, before the decision
    reward: Array  # [P] what each player got by the decision
    ended: Array  # [] bool


class Link(NamedTuple):
    """From one decision of a player to a later one of its own, or to the end of the game."""

    reward: Array  # [] what the player got in between, each reward discounted by γ to the decisions before it
    discount: Array  # [] γ to the decisions made, 0 at the end of the game
    next: Array  # [] int32: the slot of the later decision; 0 where there is none
    known: Array  # [] bool: the slot has a decision, and the player's next one, or the end, was seen
    open: Array  # [] bool: the slot has a decision, and what follows is still to come


class Transition(NamedTuple):
    """A decision and where it led: (s, a, r, γ, s')."""

    memo: Any  # see `experience.Decision`
    choice: Array  # [] int32
    reward: Array  # [] float32
    discount: Array  # [] float32: of the value of `after`
    after: Any  # the memo of the same player's later decision; anything where the discount is 0


def no_pending(game: Game[Any], memo: Any, num_lanes: int) -> Slot:
    """[P, B] slots in which nothing has happened, for memos like this one."""
    shape = (game.spec.num_players, num_lanes)
    memos = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (*shape, *leaf.shape)), memo)
    nobody, nothing = jnp.full(shape, NOBODY, jnp.int32), jnp.zeros((*shape, game.spec.num_players), jnp.float32)
    return Slot(nobody, memos, jnp.zeros_like(nobody), nothing, nothing, jnp.zeros(shape, bool))


def join(pending: Slot, slots: Slot) -> Slot:
    """[P + T, B] the decisions that wait for what follows, then a window of play."""
    return jax.tree.map(lambda a, b: jnp.concatenate([a, b]), pending, slots)


def links(slots: Slot, *, discount: float, steps: int = 1) -> Link:
    """[T, B] what each decision led to within [T, B] slots, `steps` decisions of the same player on if they are seen.

    R = r_1 + γ r_2 + ... + γ^{n-1} r_n, to which γ^n times a value of the n-th next decision is to be added; the end
    of the game or of the window may cut n short.
    """
    return jax.vmap(functools.partial(_links, discount=discount, steps=steps), 1, 1)(slots)


def _links(slots: Slot, *, discount: float, steps: int) -> Link:
    """The same in one lane."""
    num_slots, num_players = slots.reward.shape
    seats = jnp.arange(num_players, dtype=jnp.int32)

    def back(after: Link, now: tuple[Slot, Array]) -> tuple[Link, Link]:
        """From what follows on each player's [P] decisions after this slot to the same before it."""
        slot, index = now
        reward = slot.reward + jnp.where(slot.ended, 0.0, after.reward)
        factor = jnp.where(slot.ended, 0.0, after.discount)
        known = slot.ended | after.known
        mine = seats == slot.player
        link = Link(
            reward=jnp.where(mine, reward, 0.0).sum(),
            discount=jnp.where(mine, factor, 0.0).sum(),
            next=jnp.where(mine & ~slot.ended, after.next, 0).sum(),
            known=(mine & known).any(),
            open=(mine & ~known).any(),
        )
        before = Link(
            reward=slot.dice + jnp.where(mine, 0.0, reward),
            discount=jnp.where(mine, discount, factor),
            next=jnp.where(mine, index, jnp.where(slot.ended, 0, after.next)),
            known=mine | known,
            open=after.open,
        )
        return before, link

    zeros, no = jnp.zeros(num_players, jnp.float32), jnp.zeros(num_players, bool)
    nothing = Link(zeros, zeros, jnp.zeros(num_players, jnp.int32), no, no)
    numbers = jnp.arange(num_slots, dtype=jnp.int32)
    _, one = jax.lax.scan(back, nothing, (slots, numbers), reverse=True)
    far = one
    for _ in range(steps - 1):
        far = _follow(far, one)
    return far


def _follow(link: Link, one: Link) -> Link:
    """[T] links that go one decision further where that is known."""
    goes = link.known & (link.discount > 0) & one.known[link.next]
    return link._replace(
        reward=link.reward + jnp.where(goes, link.discount * one.reward[link.next], 0.0),
        discount=link.discount * jnp.where(goes, one.discount[link.next], 1.0),
        next=jnp.where(goes, one.next[link.next], link.next),
    )


def outcomes(link: Link) -> Array:
    """[T, B] of links to the next decision: all that follows, r_1 + γ r_2 + γ² r_3 + ..., as far as it is seen."""

    def lane(link: Link) -> Array:
        def back(index: Array, sums: Array) -> Array:
            slot = link.reward.shape[0] - 1 - index
            sum_now = link.reward[slot] + link.discount[slot] * sums[link.next[slot]]
            return sums.at[slot].set(jnp.where(link.known[slot], sum_now, 0.0))

        return jax.lax.fori_loop(0, link.reward.shape[0], back, jnp.zeros_like(link.reward))

    return jax.vmap(lane, 1, 1)(link)


def transitions(slots: Slot, link: Link) -> Transition:
    """[T, B] the decisions and where they led; meaningful where the link is known."""

    def at_next(leaf: Array) -> Array:
        return jax.vmap(lambda column, index: column[index], 1, 1)(leaf, link.next)

    return Transition(slots.memo, slots.choice, link.reward, link.discount, jax.tree.map(at_next, slots.memo))


def still_open(slots: Slot, link: Link) -> Slot:
    """[P, B] the last decision of each player, where what follows is still to come, with what it has brought so far."""
    num_players = slots.reward.shape[-1]

    def of_player(player: Array) -> Slot:
        waits = link.open & (slots.player == player)  # [T, B], once in a lane
        index = waits.argmax(0)

        def pick(leaf: Array) -> Array:
            return jax.vmap(lambda column, i: column[i], (1, 0))(leaf, index)

        last = jax.tree.map(pick, slots)
        reward = jnp.where(waits, link.reward, 0.0).sum(0)
        mine = one_hot(player, num_players)[None]
        return last._replace(
            player=jnp.where(waits.any(0), player, NOBODY).astype(jnp.int32),
            dice=jnp.zeros_like(last.dice),
            reward=jnp.where(mine, reward[:, None], 0.0),
            ended=jnp.zeros_like(last.ended),
        )

    return jax.vmap(of_player)(jnp.arange(num_players, dtype=jnp.int32))


class Totals(NamedTuple):
    """What each player has got in the games under way, and the most that anybody got or lost in one that has ended."""

    so_far: Array  # [B, P] float32
    largest: Array  # [] float32: max |Σ r| over players and games; 0 before any game has ended


def no_totals(num_lanes: int, num_players: int) -> Totals:
    return Totals(jnp.zeros((num_lanes, num_players), jnp.float32), jnp.float32(0))


def counted(totals: Totals, turns: Slot) -> Totals:
    """The totals after [T, B] more turns."""

    def turn(totals: Totals, slot: Slot) -> tuple[Totals, None]:
        total, over = totals.so_far + slot.dice + slot.reward, slot.ended[:, None]
        largest = jnp.maximum(totals.largest, jnp.where(over, jnp.abs(total), 0.0).max())
        return Totals(jnp.where(over, 0.0, total), largest), None

    return jax.lax.scan(turn, totals, turns)[0]
