"""Matches with host players: one game at a time by each of several workers (boardrl.workers)."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from boardrl import registry, workers
from boardrl.errors import UserError
from boardrl.game import CHANCE, TERMINAL, Game
from boardrl.matches import duplicate, luck
from boardrl.matches.luck import Control, Luck
from boardrl.matches.records import Record, Result
from boardrl.matches.replay_file import Recorder
from boardrl.play import players as players_
from boardrl.play import rollout, sampling
from boardrl.play.players import Player
from boardrl.play.policy import Policy, distinct
from boardrl.workers import shipped_files
from boardrl.workers.job import Handler

HOST = -1  # in place of a policy's index: a host player
AHEAD = 64  # most steps in one call of compiled code


def play(
    game: Game[Any],
    players: Sequence[Player],
    *,
    seed: int,
    opening: int = 0,
    tick: Callable[[int], None],
    processes: int | None = None,
    record: Record,
    num_shared: int = 0,
    control: Control | None = None,
    recorder: Recorder | None = None,
) -> None:
    """Plays the games that are missing from a record, or until it is decided.

    All randomness of a game derives from the seed and the game's index, and every process makes the players from
    their texts, so the number of processes affects only the time. If the game or a player has no text, another
    process cannot make it, and the games are played in this process.

    Args:
      num_shared: number of games in a row that have the same dice; 0: each has its own.
      control: the value function that luck is told by.
      recorder: receives every game's moves.
    """
    left = record.left()
    if not left or record.decided():
        return
    task = Task(game, tuple(players), seed, opening, num_shared, control, moves=recorder is not None)
    items = [{"index": index, "seating": row.tolist()} for index, row in left]
    pool = workers.Local(processes, keep=False) if processes else workers.active()
    results = pool.run(workers.Job(Games, (task,), items))
    with contextlib.closing(results):  # ends what is under way at once if the match is interrupted
        for _, (index, outcome, moves) in results:
            result = Result(*outcome)
            record.finish(index, result)
            if recorder is not None:
                recorder.finish(index, record.seating[index], result.returns, result.cut, moves)
            tick(record.num_counted)
            if record.decided():
                break


class Task(NamedTuple):
    """What the games of a match have in common."""

    game: Game[Any]
    players: tuple[Player, ...]
    seed: int
    opening: int = 0
    num_shared: int = 0  # games in a row with the same dice; 0: each has its own
    control: Control | None = None
    moves: bool = False  # whether the moves are asked for

    def play(self, index: int, seated: Sequence[Player], policies: Policies) -> Finished:
        """Plays one of its games."""
        moves: list[list[int]] = []

        def watch(made: Made) -> None:
            moves.append([made.actor, made.move])

        group = duplicate.group_of(index, self.num_shared) if self.num_shared else None
        result = play_game(
            self.game,
            seated,
            seed=self.seed,
            index=index,
            opening=self.opening,
            watch=watch if self.moves else None,
            policies=policies,
            group=group,
            control=self.control,
        )
        return Finished(index, result, moves)


class Finished(NamedTuple):
    number: int  # of the game
    result: Result
    moves: list[list[int]]  # [actor, move] of each step, where they are asked for


class Games(Handler):
    """Plays games of a match by their index. Much of a game is Python, so that processes play, not threads."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.lineup = [players_.remake(player, task.game) if player.text else player for player in task.players]
        self.policies = Policies(self.lineup)

    @classmethod
    def to_data(cls, task: Task) -> dict[str, Any] | None:
        """None if the game or a player has no text, by which another process could make it."""
        texts, game = [player.text for player in task.players], registry.portable(task.game)
        if not all(texts) or game is None or (task.control and not task.control.text):
            return None
        control = task.control.text if task.control else ""
        return {
            "game": game,
            "players": texts,
            "control": control,
            "files": shipped_files.collect([*texts, control]),
            **{name: getattr(task, name) for name in ("seed", "opening", "num_shared", "moves")},
        }

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Self:
        fields = dict(data)
        game, files = registry.make(fields["game"]), fields.pop("files")
        *texts, told_by = shipped_files.place([*fields["players"], fields["control"]], files)
        control = luck.make(told_by, game) if told_by else None
        made = {"players": tuple(players_.make_all(texts, game)), "control": control}
        return cls(Task(**{**fields, **made, "game": game}))

    @classmethod
    def name(cls, item: dict[str, Any]) -> str:
        return f"game {item['index']} of the match"

    def run(self, item: dict[str, Any]) -> Finished:
        """(the game's index, the fields of its Result, its moves where they are asked for)."""
        return self.task.play(item["index"], [self.lineup[number] for number in item["seating"]], self.policies)


# --- one game ---------------------------------------------------------------------------------------------------------


def play_game(
    game: Game[Any],
    seated: Sequence[Player],
    *,
    seed: int,
    index: int,
    opening: int = 0,
    watch: Watch | None = None,
    policies: Policies | None = None,
    group: int | None = None,
    control: Control | None = None,
) -> Result:
    """Plays one game, with the random opening and step limit of `rollout.turn`; calls `watch` for every step.

    Args:
      policies: the policies of all players of the match, so that one program is compiled for all its lineups.
      group: games of the same group have the same dice and opening (boardrl.matches.duplicate); None: its own.
      control: the value function that luck is told by.
    """
    rngs = [np.random.default_rng([seed, index, stream]) for stream in range(1 + len(seated))]  # dice, then seats
    rng_opening = rngs[0]
    if group is not None:
        rngs[0], rng_opening = duplicate.host_streams(seed, group, len(seated))
    for player in seated:
        if player.host is not None:
            player.host.reset()
    table = _CompiledPlay(game, seated, rngs, policies or Policies(seated), control)
    now, steps, asked = _start(game, control is not None), 0, False
    while (actor := int(now.actor)) != TERMINAL and steps < game.spec.max_steps:
        opens = steps < opening
        if actor == CHANCE or (table.numbers[actor] != HOST and not opens):
            now, made = table.advance(now, game.spec.max_steps - steps, dice_alone=opens, record=watch is not None)
            steps += made.steps
            if watch is not None:
                made.report(watch)
            continue
        legal = np.flatnonzero(now.legal)
        if opens:
            move = np.int32(rng_opening.choice(legal))
        else:
            had = rngs[1 + actor].bit_generator.state
            move = _action(game, seated[actor], now, rngs[1 + actor])
            asked |= rngs[1 + actor].bit_generator.state != had
        before, now = now, _step(game, now, move, np.bool_(opens and len(legal) > 1))
        steps += 1
        if watch is not None:
            watch(Made(actor, int(move), before.state, now))
    first, second = map(int, now.course.moves)
    returns = np.asarray(now.returns).tolist()
    fell = () if now.luck is None else np.asarray(now.luck.total).tolist()
    return Result(returns, actor != TERMINAL, first << 32 | second, bool(now.course.drawn), asked, fell)


class Made(NamedTuple):
    """A step of a game and the resulting state."""

    actor: int  # CHANCE or a seat
    move: int  # an outcome or an action
    before: Any  # the state before the step
    after: _Position


Watch = Callable[[Made], None]


class _Position(NamedTuple):
    """A state with the game's answers about it."""

    state: Any
    actor: Array
    legal: Array
    returns: Array
    course: rollout.Course  # the course of the game up to this state
    luck: Luck | None = None  # of the game up to this state, where it is asked for


class _Steps(NamedTuple):
    """The steps made in one call of compiled code."""

    steps: int
    record: Any  # (actor, move, state before, position after) with a leading axis of AHEAD, or ()

    def report(self, watch: Watch) -> None:
        actors, moves, before, after = jax.device_get(self.record)
        for index in range(self.steps):
            state, position = jax.tree.map(lambda leaf, index=index: leaf[index], (before, after))
            watch(Made(int(actors[index]), int(moves[index]), state, position))


class Policies:
    """The distinct policies of some players."""

    def __init__(self, players: Sequence[Player]) -> None:
        mine = [player for player in players if player.policy is not None]
        mine.sort(key=lambda player: player.name)  # so that the compiled code does not depend on the seating
        self.distinct, numbers = distinct([policy for player in mine if (policy := player.policy)])
        self._numbers = {id(player): int(number) for player, number in zip(mine, numbers, strict=True)}

    def number(self, player: Player) -> int:
        """The index of a player's policy, or HOST."""
        return self._numbers.get(id(player), HOST)


class _CompiledPlay:
    """Plays the steps between decisions of host players: many steps in each call of compiled code."""

    def __init__(
        self,
        game: Game[Any],
        seated: Sequence[Player],
        rngs: Sequence[np.random.Generator],
        policies: Policies,
        control: Control | None,
    ) -> None:
        self.game, self.rngs = game, rngs
        self.tally = control.tally(game) if control else None
        self.policies = policies.distinct
        self.numbers = np.array([policies.number(player) for player in seated], np.int32)  # [P]
        seats = (self.numbers != HOST).nonzero()[0].tolist()
        # [1 + P, AHEAD] random numbers drawn ahead from each stream, the dice first.
        self.uniform = np.zeros((len(rngs), AHEAD), np.float32)
        for stream in [0] * bool(game.spec.num_outcomes) + [1 + seat for seat in seats]:
            self.uniform[stream] = rngs[stream].random(AHEAD, np.float32)

    def advance(self, now: _Position, left: int, *, dice_alone: bool, record: bool) -> tuple[_Position, _Steps]:
        """Plays until a host player acts (with `dice_alone`, any player), for at most AHEAD or `left` steps."""
        numbers = np.full_like(self.numbers, HOST) if dice_alone else self.numbers
        steps = np.int32(min(left, AHEAD))
        now, taken, made = _advance(self.game, record, self.policies, numbers, now, steps, self.uniform, self.tally)
        taken = np.asarray(taken)
        for stream in taken.nonzero()[0].tolist():
            kept = self.uniform[stream, taken[stream] :]
            self.uniform[stream] = np.concatenate([kept, self.rngs[stream].random(taken[stream], np.float32)])
        return now, _Steps(int(taken.sum()), made)


def _action(game: Game[Any], player: Player, now: _Position, rng: np.random.Generator) -> Any:
    assert player.host is not None
    action = player.host.choose(game, jax.device_get(now.state), rng)
    legal = np.flatnonzero(now.legal).tolist()
    if isinstance(action, bool) or not isinstance(action, int | np.integer) or action not in legal:
        raise UserError(f"player {player.name!r} chose {action!r}; expected one of the legal actions {legal}")
    return np.int32(action)


def _position(game: Game[Any], state: Any, course: rollout.Course, fell: Luck | None) -> _Position:
    return _Position(state, game.actor(state), game.legal(state), game.returns(state), course, fell)


@functools.partial(jax.jit, static_argnames=("game", "tells_luck"))
def _start(game: Game[Any], tells_luck: bool) -> _Position:
    fell = luck.none_yet(game) if tells_luck else None
    return _position(game, game.init(), jax.tree.map(jnp.asarray, rollout.NO_MOVES), fell)


@functools.partial(jax.jit, static_argnames="game")
def _step(game: Game[Any], now: _Position, action: Array, drawn: Array) -> _Position:
    course = now.course.after(rollout.move_code(True, action, drawn))
    return _position(game, game.step(now.state, action), course, now.luck)


@functools.partial(jax.jit, static_argnames=("game", "record"))
def _advance(
    game: Game[Any],
    record: bool,
    policies: tuple[Policy, ...],
    numbers: Array,
    now: _Position,
    steps: Array,
    uniform: Array,
    tally: rollout.Tally | None,
) -> tuple[_Position, Array, Any]:
    """(the last position, [1 + P] how many random numbers of each stream were used, the steps made)."""

    def drawn(weights: Array, draw: Array) -> tuple[Array, Array]:
        """([] the move, [] whether other moves were possible)."""
        return sampling.sample(weights, draw), sampling.is_drawn(weights)

    def roll(state: Any, draw: Array) -> tuple[Array, Array]:
        return drawn(game.chance(state), draw)

    def follow(policy: Policy, state: Any, draw: Array) -> tuple[Array, Array]:
        return drawn(rollout.action_weights(game, policy.apply(policy.params, state), state), draw)

    branches: list[Callable[[Any, Array], tuple[Array, Array]]] = [roll] if game.spec.num_outcomes else []
    first = len(branches)
    branches += [functools.partial(follow, policy) for policy in policies]

    def goes_on(carry: tuple[_Position, Array, Any]) -> Array:
        now, taken, _ = carry
        number = numbers[jnp.maximum(now.actor, 0)]
        return (taken.sum() < steps) & ((now.actor == CHANCE) | ((now.actor >= 0) & (number != HOST)))

    def step(carry: tuple[_Position, Array, Any]) -> tuple[_Position, Array, Any]:
        now, taken, made = carry
        stream = jnp.maximum(now.actor, CHANCE) + 1
        branch = jnp.where(now.actor == CHANCE, 0, first + numbers[jnp.maximum(now.actor, 0)])
        move, others = jax.lax.switch(branch, branches, now.state, uniform[stream, taken[stream]])
        fell = now.luck
        if tally is not None:
            add = functools.partial(tally.apply, tally.params, now.state, move)
            fell = jax.lax.cond(now.actor == CHANCE, add, lambda had: had, fell)
        course = now.course.after(rollout.move_code(True, move, others))
        after = _position(game, game.step(now.state, move), course, fell)
        if record:
            new = (now.actor, move, now.state, after)
            made = jax.tree.map(lambda all_, one: all_.at[taken.sum()].set(one), made, new)
        return after, taken.at[stream].add(1), made

    empty: Any = ()
    if record:
        one = (now.actor, jnp.int32(0), now.state, now)
        empty = jax.tree.map(lambda leaf: jnp.zeros((AHEAD, *leaf.shape), leaf.dtype), one)
    taken = jnp.zeros(uniform.shape[0], jnp.int32)
    return jax.lax.while_loop(goes_on, step, (now, taken, empty))
