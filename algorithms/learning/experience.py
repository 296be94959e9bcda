"""What a player's decisions led to: play cut from one decision of a player to that same player's next.

In between, others move, dice fall, turns are passed over; or there is nothing in between, after an extra roll. All
that befalls the player from its own step on, in anybody's steps, is the reward of its decision, up to its next
decision or the end of the game. The discount γ counts the player's own decisions.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from algorithms.learning import rewards
from boardrl import options
from boardrl.errors import UserError
from boardrl.game import Game, acting, one_hot, select
from boardrl.play import rollout
from boardrl.play.policy import Policy

NOBODY = -1
ROLLS = 2  # of the dice that one turn holds, where the first leaves nothing to decide


class Decision(NamedTuple):
    """What a learner does in a state."""

    choice: Array  # [] int32: what it learns about
    action: Array  # [] int32: how that is played, the same unless choices are more than actions
    memo: Any  # what it will need to learn from this, such as the state


Decide = Callable[[Any, Array], Decision]  # (state, [2] numbers in [0, 1)) -> decision


class Slot(NamedTuple):
    """One turn in one lane: dice as long as they are due, a decision where one is due, then perhaps the end."""

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
    """A decision and where it led; what a learner learns from."""

    memo: Any
    choice: Array  # [] int32
    reward: Array  # [] float32
    discount: Array  # [] float32: of the value of `after`
    after: Any  # the memo of the same player's later decision; anything where the discount is 0


class Window(NamedTuple):
    """A window of play as a learner wants it."""

    lanes: rollout.Lanes  # after it
    pending: Slot  # [P, B] decisions whose successor is still to come
    lived: Transition  # [P + T, B]
    known: Array  # [P + T, B] bool: where `lived` means something
    games: Array  # [] int32: that ended in it
    turns: Slot  # [T, B]


def seating(num_lanes: int, num_players: int, num_opponents: int, *, rotate: bool = True) -> Array:
    """[B, P] int32: 0 where the learner sits, k where opponent k does; from lane to lane they move one seat on, or
    else the opponents have the first seats in all of them."""
    lineup = jnp.arange(num_players, dtype=jnp.int32) + 1
    lineup = jnp.where(lineup > num_opponents, 0, lineup)
    return jax.vmap(lambda lane: jnp.roll(lineup, lane))(jnp.arange(num_lanes) * int(rotate))


def play(
    game: Game[Any],
    decide: Decide,
    opponents: Sequence[Policy],
    worth: dict[str, float],
    lanes: rollout.Lanes,
    key: Array,
    *,
    num_turns: int,
) -> tuple[rollout.Lanes, Slot]:
    """Plays T turns in every lane; the slots have leading axes [T, B].

    Args:
      worth: of the events that are rewarded, see algorithms.learning.rewards.
    """
    num_lanes = lanes.steps.shape[0]
    seats = seating(num_lanes, game.spec.num_players, len(opponents))
    reward = functools.partial(rewards.of_step, game, tuple(worth), jnp.array(list(worth.values()), jnp.float32))
    decide_one = functools.partial(_decide, game, decide, opponents)

    def turn(lanes: rollout.Lanes, key_turn: Array) -> tuple[rollout.Lanes, Slot]:
        uniform = jax.random.uniform(key_turn, (2 + ROLLS, num_lanes))
        dice = jnp.zeros((num_lanes, game.spec.num_players), jnp.float32)
        for uniform_roll in uniform[2:] if game.spec.num_outcomes else ():
            before = lanes.state
            lanes, _ = rollout.roll(game, lanes, uniform_roll)
            dice += jax.vmap(reward)(before, lanes.state)
        due = jax.vmap(game.actor)(lanes.state) >= 0
        after, player, decision = jax.vmap(decide_one, (0, 0, 1))(lanes.state, seats, uniform[:2])
        slot = Slot(player, decision.memo, decision.choice, dice, jax.vmap(reward)(lanes.state, after), due)
        lanes, ended = rollout.end_games(game, rollout.Lanes(after, lanes.steps + due.astype(jnp.int32)))
        return lanes, slot._replace(ended=ended.over)

    return jax.lax.scan(turn, lanes, jax.random.split(key, num_turns))


def _decide(
    game: Game[Any], decide: Decide, opponents: Sequence[Policy], state: Any, seat_of: Array, uniform: Array
) -> tuple[Any, Array, Decision]:
    """The state after a decision, if one is due; the learner who made it, or NOBODY; and what it thought."""
    actor = game.actor(state)
    sitting = jnp.where(one_hot(actor, game.spec.num_players), seat_of, 0).sum()
    decision = decide(state, uniform)
    action = decision.action
    for index, opponent in enumerate(opponents, 1):
        answer = rollout.choose(game, opponent.apply(opponent.params, state), state, uniform[1])
        action = jnp.where(sitting == index, answer, action)
    after = select(actor >= 0, acting(game)(state, action), state)
    return after, jnp.where((actor >= 0) & (sitting == 0), actor, NOBODY), decision


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


def live(
    game: Game[Any],
    decide: Decide,
    opponents: Sequence[Policy],
    worth: dict[str, float],
    lanes: rollout.Lanes,
    pending: Slot,
    key: Array,
    *,
    num_turns: int,
    discount: float,
    steps: int,
) -> Window:
    """Plays T turns in every lane and links them, and what waited before them, as far as what followed was seen.

    Args: see `play` and `links`.
    """
    lanes, window = play(game, decide, opponents, worth, lanes, key, num_turns=num_turns)
    slots = join(pending, window)
    link = links(slots, discount=discount, steps=steps)
    ended = window.ended.sum().astype(jnp.int32)
    return Window(lanes, still_open(slots, link), transitions(slots, link), link.known, ended, window)


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


def numbers(done: int, at_once: int, games: int) -> range:
    """Of the games that the next update plays: so many at once, but the last update plays what is left of all."""
    return range(done, games if done < games < done + at_once else done + at_once)


def annealed(start: float, end: float, games: Array, over: int) -> Array:
    """[] float32 on the straight line from `start` to `end`, which is reached after `over` games."""
    share = jnp.minimum(games.astype(jnp.float32) / over, 1.0)
    return start + share * (end - start)


def check_settings(config: Any, game: Game[Any], *, shares: Sequence[str], counts: Sequence[str]) -> None:
    """Refuses a learner's settings that make no sense, in one sentence.

    Args:
      shares: names of fields from 0 to 1.
      counts: names of fields that are at least 1.
    """
    for name in shares:
        if not 0 <= getattr(config, name) <= 1:
            raise UserError(f"--{name}={getattr(config, name)} is out of range: expected 0 to 1")
    for name in counts:
        if getattr(config, name) < 1:
            raise UserError(f"--{name}={getattr(config, name)} is too small: expected at least 1")
    if getattr(config, "steps", 1) > game.spec.max_steps:
        raise UserError(f"--steps={config.steps} is longer than any game: expected at most {game.spec.max_steps}")
    if min(getattr(config, "hidden", ()), default=1) < 1:
        raise UserError(f"--hidden={'+'.join(map(str, config.hidden))} has a layer without units: expected like 64+64")
    seats = game.spec.num_players
    if len(options.split(config.opponents)) >= seats:
        raise UserError(
            f"--opponents={config.opponents} leaves no seat to learn: {seats} players, so name fewer than {seats}"
        )
