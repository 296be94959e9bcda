"""Playing many games at once in JAX: `turn` is the one place where a turn is played in all lanes.

Whoever wants to learn from play, or to count something, looks at the `Turn` that it returns. Compiled host code draws
its own outcomes (`algorithms.tabular.q_kernel`, `boardrl.matches.host_match`, `search`).
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.sharding import NamedSharding, PartitionSpec

from boardrl import optional
from boardrl.game import CHANCE, TERMINAL, Game, acting, select, settling
from boardrl.play.policy import Policy, Uniform
from boardrl.play.sampling import is_drawn, sample, sample_evenly

MULTIPLIERS = (0x9E3779B1, 0x85EBCA77)  # odd, of two hashes of a game's moves


class Course(NamedTuple):
    """The moves of a game so far, as far as is needed to tell which games repeat others."""

    moves: tuple[Array, Array]  # two [] uint32: hashes of all moves, actions and outcomes
    drawn: Array  # [] bool: a move was drawn at random where others were possible

    def after(self, code: Array) -> Course:
        """The course with another move, given by its `move_code`; elementwise."""
        mixed = [(had ^ code) * jnp.uint32(multiplier) for had, multiplier in zip(self.moves, MULTIPLIERS, strict=True)]
        first, second = (
            jnp.where(code == 0, had, hashed ^ (hashed >> 15)) for had, hashed in zip(self.moves, mixed, strict=True)
        )
        return Course((first, second), self.drawn | (code % 2 == 1))


def move_code(made: Array | bool, move: Array, drawn: Array) -> Array:
    """[] uint32: a move and whether others could have been drawn; 0 if none was made."""
    code = 2 * (move.astype(jnp.uint32) + 1) + drawn.astype(jnp.uint32)
    return jnp.where(made, code, jnp.uint32(0))


NO_MOVES = Course((np.uint32(0), np.uint32(0)), np.bool_(False))  # type: ignore[arg-type]


class Dice(NamedTuple):
    """Which stream of random numbers the dice of a game are drawn from, where games share theirs."""

    group: Array  # [B] uint32: games of the same group have the same dice
    events: Array  # [B] uint32: chance events so far
    stride: Array  # [B] uint32: from a lane's game to its next, added to its group


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Tally:
    """What is kept along each game and updated at every chance node, from zeros on: a pure function and its parameters.

    `apply(params, state, outcome, so_far) -> so_far` of one chance node; hashable and equal to its like, as in Policy.
    """

    apply: Callable[[Any, Any, Array, Any], Any] = dataclasses.field(metadata={"static": True})
    params: Any


class Lanes(NamedTuple):
    """B games under way; a finished one is replaced by a new one."""

    state: Any  # [B] states
    steps: Array  # [B] int32: actions and outcomes since the game began
    course: Course | None = None  # [B] where somebody asks which games repeat others
    dice: Dice | None = None  # [B] where games share their dice
    tally: Any = None  # [B] of each game so far, where there is a Tally


class Ended(NamedTuple):
    """Which games ended in a turn, and how."""

    over: Array  # [B] bool: finished or cut
    cut: Array  # [B] bool: reached `max_steps` without an end
    returns: Array  # [B, P]: meaningful where over
    length: Array  # [B] int32: steps of the game: meaningful where over
    course: Course | None = None  # [B] where the lanes have one
    tally: Any = None  # [B] where the lanes have one
    codes: Array | None = None  # [2, B] uint32 `move_code` of the turn's outcome and action, where moves are asked for


def start(game: Game[Any], num_lanes: int, *, courses: bool = False) -> Lanes:
    """B fresh games, spread over all local devices as far as B can be divided among them."""
    return spread(fresh(game, num_lanes, courses=courses))


def fresh(game: Game[Any], num_lanes: int, *, courses: bool = False) -> Lanes:
    """B fresh games on one device, with their courses if those are asked for."""
    one = (game.init(), NO_MOVES if courses else None)
    state, course = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (num_lanes, *leaf.shape)), one)
    return Lanes(state, jnp.zeros(num_lanes, jnp.int32), course)


def spread(batch: Any) -> Any:
    """The same arrays with their first axis shared out over the local devices; inside jit too."""
    size = jax.tree.leaves(batch)[0].shape[0]
    devices = jax.local_devices()
    count = max(d for d in range(1, len(devices) + 1) if size % d == 0)
    if count == 1:
        return batch
    mesh = jax.sharding.Mesh(devices[:count], ("lanes",))
    return jax.device_put(batch, NamedSharding(mesh, PartitionSpec("lanes")))


def settle_chance(game: Game[Any], state: Any, uniform: Array) -> Any:
    """The state after its dice have fallen, if it waits for dice."""
    return _settle_chance(game, state, uniform)[0]


def _settle_chance(game: Game[Any], state: Any, uniform: Array) -> tuple[Any, Array]:
    """`settle_chance`, and the code of the outcome."""
    weights = game.chance(state)
    outcome = sample(weights, uniform)
    waits = game.actor(state) == CHANCE
    after = select(waits, settling(game)(state, outcome), state)
    return after, move_code(waits, outcome, is_drawn(weights))


def roll(game: Game[Any], lanes: Lanes, uniform: Array, *, axis: int = 0) -> tuple[Lanes, Array]:
    """Throws the dice in every lane that waits for them, and says [B] which did; `axis` as in `end_games`."""
    lanes, waits, _ = _roll(game, lanes, uniform, axis=axis)
    return lanes, waits


def _roll(game: Game[Any], lanes: Lanes, uniform: Array, *, axis: int) -> tuple[Lanes, Array, Array | None]:
    """`roll`, and the codes of the outcomes."""
    waits = jax.vmap(game.actor, axis)(lanes.state) == CHANCE
    step = jax.vmap(functools.partial(_settle_chance, game), (axis, 0), (axis, 0))
    lanes, codes = _move_where(waits, lanes, lambda lanes: step(lanes.state, uniform))
    return lanes, waits, codes


def _move_where(moves: Array, lanes: Lanes, step: Callable[[Lanes], tuple[Any, Array]]) -> tuple[Lanes, Array | None]:
    """The lanes after [B] some of them have moved, and the codes of the moves where the lanes have courses.

    `step` gives the states of all lanes, and [B] the codes.
    """
    state, code = _step_if_any(moves, lanes, step)
    return _moved(lanes, moves, state, code), code


def _step_if_any(moves: Array, lanes: Lanes, step: Callable[[Lanes], tuple[Any, Array]]) -> tuple[Any, Array | None]:
    """What `step` gives if [B] any lane moves; the codes only where the lanes have courses."""
    asked = lanes.course is not None

    def move(lanes: Lanes) -> tuple[Any, Array | None]:
        state, code = step(lanes)
        return state, code if asked else None

    def stay(lanes: Lanes) -> tuple[Any, Array | None]:
        return lanes.state, jnp.zeros(moves.shape, jnp.uint32) if asked else None

    # A branch, which XLA on a CPU does not look into: it would compute the new state anew for all that follows.
    found: tuple[Any, Array | None] = jax.lax.cond(moves.any(), move, stay, Lanes(lanes.state, lanes.steps))
    return found


def _moved(lanes: Lanes, moves: Array, state: Any, code: Array | None) -> Lanes:
    """The lanes in new states, with one more step where [B] they moved."""
    course = lanes.course.after(code) if lanes.course is not None and code is not None else None
    return lanes._replace(state=state, steps=lanes.steps + moves.astype(jnp.int32), course=course)


def choose(game: Game[Any], logits: Array, state: Any, uniform: Array) -> Array:
    """[] a legal action drawn from a softmax over [A] logits."""
    return sample(action_weights(game, logits, state), uniform)


def action_weights(game: Game[Any], logits: Array, state: Any) -> Array:
    """[A] weights of the actions in a draw from a softmax over [A] logits: 0 for illegal ones, at most 1."""
    legal = game.legal(state)
    masked = jnp.where(legal, logits, -jnp.inf)
    top = masked.max()
    # Where a policy rules out every legal action, all of them are as good.
    return jnp.where(jnp.isfinite(top), jnp.exp(masked - top), legal.astype(masked.dtype))


def end_games(game: Game[Any], lanes: Lanes, *, axis: int = 0) -> tuple[Lanes, Ended]:
    """Replaces what is over by new games; `axis` is where the games lie in the states."""
    actor = jax.vmap(game.actor, axis)(lanes.state)
    cut = (lanes.steps >= game.spec.max_steps) & (actor != TERMINAL)
    over = cut | (actor == TERMINAL)
    returns = jax.vmap(game.returns, axis)(lanes.state)
    state = jax.vmap(select, (0, None, axis), axis)(over, game.init(), lanes.state)
    course = lanes.course and jax.vmap(select, (0, None, 0))(over, NO_MOVES, lanes.course)
    dice = lanes.dice and Dice(
        jnp.where(over, lanes.dice.group + lanes.dice.stride, lanes.dice.group),
        jnp.where(over, jnp.uint32(0), lanes.dice.events),
        lanes.dice.stride,
    )
    tally = jax.vmap(select)(over, jax.tree.map(jnp.zeros_like, lanes.tally), lanes.tally)
    ended = Ended(over, cut, returns, lanes.steps, lanes.course, lanes.tally)
    return Lanes(state, jnp.where(over, 0, lanes.steps), course, dice, tally), ended


class Decided(NamedTuple):
    """What was decided in all lanes where a decision was due."""

    state: Any  # [B] states after the decisions; as they were where none was due
    code: Array | None = None  # [B] uint32: `move_code` of the actions, where the lanes have courses
    notes: Any = ()  # what the observer wants to know of the decisions


Decide = Callable[[Lanes, Array], Decided]  # (lanes after the dice, [B] bool where a decision is due)


class Turn(NamedTuple):
    """One turn in every lane: dice where they are due, then a decision where one is due, then perhaps the end."""

    lanes: Lanes  # after it, with new games in place of finished ones
    states: tuple[Any, ...]  # [B] states each: before the first roll, after each roll, after the decision
    rolled: tuple[Array, ...]  # [B] bool each: where dice were thrown
    decided: Array  # [B] bool: where a decision was due
    notes: Any  # of the decisions
    ended: Ended
    outcomes: tuple[Array | None, ...]  # [B] uint32 each: `move_code` of a roll, where the lanes have courses
    action: Array | None  # [B] uint32: `move_code` of the decision, where the lanes have courses


def turn(
    game: Game[Any],
    lanes: Lanes,
    decide: Decide,
    uniform_rolls: Iterable[Array],
    *,
    axis: int = 0,
    tally: Tally | None = None,
) -> Turn:
    """Plays one turn in every lane.

    Args:
      decide: steps all lanes that have a decision due. It brings its own random numbers.
      uniform_rolls: [B] numbers in [0, 1) for each roll of the dice that one turn may hold; a second roll is thrown
        where the first left nothing to decide. Ignored in a game without dice.
      axis: where the games lie in the states.
      tally: what is kept along each game in the lanes' `tally`.
    """
    states, rolled, outcomes = [lanes.state], [], []
    for uniform in uniform_rolls if game.spec.num_outcomes else ():
        if tally is not None:
            lanes = lanes._replace(tally=_tallied(game, tally, lanes, uniform, axis))
        lanes, waited, code = _roll(game, lanes, uniform, axis=axis)
        if lanes.dice is not None:
            lanes = lanes._replace(dice=lanes.dice._replace(events=lanes.dice.events + waited.astype(jnp.uint32)))
        states.append(lanes.state)
        rolled.append(waited)
        outcomes.append(code)
    due = (jax.vmap(game.actor, axis)(lanes.state) >= 0) & (lanes.steps < game.spec.max_steps)
    decided = decide(lanes, due)
    states.append(decided.state)
    lanes, ended = end_games(game, _moved(lanes, due, decided.state, decided.code), axis=axis)
    return Turn(lanes, tuple(states), tuple(rolled), due, decided.notes, ended, tuple(outcomes), decided.code)


def _turn(
    game: Game[Any],
    policies: Sequence[Policy],
    seats: Array | None,
    lanes: Lanes,
    key: Array,
    *,
    opening: int,
    key_dice: Array | None = None,
    tally: Tally | None = None,
    moves: bool = False,
) -> tuple[Lanes, Ended]:
    """One turn of policies, with the games along the axis that suits this game, as `_turned` gives them.

    Args:
      seats: [B, P] int32, which policy sits where; None if there is only one.
      opening: how many steps each game begins with in which any legal action is as likely, whoever decides.
    """
    num_lanes, axis = lanes.steps.shape[0], _axis(game)
    uniform = jax.random.uniform(key, (2, num_lanes) if game.spec.num_outcomes else (1, num_lanes))
    uniform_rolls, uniform_choice = uniform[:-1], uniform[-1]
    if lanes.dice is not None:
        assert key_dice is not None
        key_chance, key_opening = jax.random.split(key_dice)
        uniform_rolls = _shared(key_chance, lanes.dice.group, lanes.dice.events)[None]
        if opening:
            shared = _shared(key_opening, lanes.dice.group, lanes.steps.astype(jnp.uint32))
            uniform_choice = jnp.where(lanes.steps < opening, shared, uniform_choice)

    def decide(lanes: Lanes, due: Array) -> Decided:
        def step(lanes: Lanes) -> tuple[Any, Array]:
            axes = (axis, 0, None if seats is None else 0, 0, 0 if opening else None)
            opens = lanes.steps < opening if opening else None
            one = jax.vmap(functools.partial(_decide, game, policies), axes, (axis, 0))
            state, code = one(lanes.state, due, seats, uniform_choice, opens)
            return state, code

        return Decided(*_step_if_any(due, lanes, step))

    played = turn(game, lanes, decide, uniform_rolls, axis=axis, tally=tally)
    if not moves:
        return played.lanes, played.ended
    assert played.action is not None, "the lanes need courses"
    outcome = played.outcomes[0] if played.outcomes else None
    outcome = jnp.zeros_like(played.action) if outcome is None else outcome
    return played.lanes, played.ended._replace(codes=jnp.stack([outcome, played.action]))


def _shared(key: Array, group: Array, count: Array) -> Array:
    """[B] numbers in [0, 1) that depend only on the key, the group and the number of the event."""

    def draw(group: Array, count: Array) -> Array:
        return jax.random.uniform(jax.random.fold_in(jax.random.fold_in(key, group), count))

    return jax.vmap(draw)(group, count)


def _tallied(game: Game[Any], tally: Tally, lanes: Lanes, uniform: Array, axis: int) -> Any:
    """[B] the tally after the dice that are about to be thrown."""

    def update(state: Any, uniform: Array, so_far: Any) -> Any:
        after = tally.apply(tally.params, state, sample(game.chance(state), uniform), so_far)
        return select(game.actor(state) == CHANCE, after, so_far)

    return jax.vmap(update, (axis, 0, 0))(lanes.state, uniform, lanes.tally)


def _axis(game: Game[Any]) -> int:
    """The axis along which the games lie while many turns are played; everywhere else they come first."""
    return -1 if optional.lanes_last(game) else 0


def _turned(game: Game[Any], lanes: Lanes) -> Lanes:
    """The lanes with the games along `_axis`; a tally keeps the games first."""
    turned = jax.tree.map(lambda leaf: jnp.moveaxis(leaf, 0, _axis(game)), lanes._replace(tally=None))
    return turned._replace(tally=lanes.tally)


def _turned_back(game: Game[Any], lanes: Lanes) -> Lanes:
    """The lanes with the games first again, and shared out over the devices."""
    back = jax.tree.map(lambda leaf: jnp.moveaxis(leaf, _axis(game), 0), lanes._replace(tally=None))
    return spread(back._replace(tally=lanes.tally))


def _decide(
    game: Game[Any],
    policies: Sequence[Policy],
    state: Any,
    due: Array,
    seat_of: Array | None,
    uniform: Array,
    opens: Array | None,
) -> tuple[Any, Array]:
    """The state after its actor's move if one is due, and that move's code; where it `opens` the game, it is any."""
    logits = policies[0].apply(policies[0].params, state)
    if seat_of is not None and len(policies) > 1:
        sitting = jnp.where(jnp.arange(game.spec.num_players) == game.actor(state), seat_of, 0).sum()
        for index, policy in enumerate(policies[1:], 1):
            logits = jnp.where(sitting == index, policy.apply(policy.params, state), logits)
    if opens is not None:
        logits = jnp.where(opens, jnp.zeros_like(logits), logits)
    # Even play needs no softmax, which costs as much as the rules of a game with many actions.
    evenly = len(policies) == 1 and isinstance(policies[0].apply, Uniform)
    if evenly:
        weights = game.legal(state)
        action = sample_evenly(weights, uniform)
    else:
        weights = action_weights(game, logits, state)
        action = sample(weights, uniform)
    after = select(due, acting(game)(state, action), state)
    return after, move_code(due, action, is_drawn(weights))


@functools.partial(jax.jit, static_argnames=("game", "num_turns", "opening", "moves"))
def play(
    game: Game[Any],
    policies: tuple[Policy, ...],
    seats: Array | None,
    lanes: Lanes,
    key: Array,
    *,
    num_turns: int,
    opening: int = 0,
    key_dice: Array | None = None,
    tally: Tally | None = None,
    moves: bool = False,
) -> tuple[Lanes, Ended]:
    """Plays `num_turns` turns in every lane; what ended comes with a leading axis [T].

    Args:
      key_dice: of the streams that lanes with `dice` draw from, the same in all calls of a match.
      tally: what is kept along each game in the lanes' `tally`.
      moves: whether what ended tells the moves of each turn too; the lanes need courses.
    """
    options: dict[str, Any] = {"opening": opening, "key_dice": key_dice, "tally": tally, "moves": moves}
    step = functools.partial(_turn, game, policies, seats, **options)
    lanes, ended = jax.lax.scan(step, _turned(game, lanes), jax.random.split(key, num_turns))
    return _turned_back(game, lanes), ended


@functools.partial(jax.jit, static_argnames=("game", "num_turns"), donate_argnames="lanes")
def count_steps(
    game: Game[Any], policies: tuple[Policy, ...], lanes: Lanes, key: Array, *, num_turns: int
) -> tuple[Lanes, Array]:
    """Plays as `play` does, with the first policy in all seats, and keeps only [] the number of steps made."""

    def count(carry: tuple[Lanes, Array], key_turn: Array) -> tuple[tuple[Lanes, Array], None]:
        before, total = carry
        after, ended = _turn(game, policies, None, before, key_turn, opening=0)
        return (after, total + (ended.length - before.steps).sum()), None

    (lanes, total), _ = jax.lax.scan(count, (_turned(game, lanes), jnp.int32(0)), jax.random.split(key, num_turns))
    return _turned_back(game, lanes), total
