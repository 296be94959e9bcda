"""The training loop that all algorithms share: updates, metrics, evaluation, checkpoints, progress.

An algorithm is a module with
    Config                                 frozen dataclass of settings, with at least `games` and `opponents`
    TrainState                             NamedTuple of arrays, all finite, with at least `games` and `updates`
    check(config, game)                    raises UserError if the settings or the game do not fit the algorithm
    init(config, game, key)                the first TrainState
    update(config, game, opponents, state)   the next TrainState and scalar metrics: 'loss' among them, or 'best',
                                           'mean' and 'worst' of a population
    policy(config, game, state)            the greedy policy of the learned parameters
and optionally
    player(config, game, state)            a host player that plays matches in place of the policy, such as a search;
                                           None: the policy plays
    describe(config, game, state)          {name: value} of the learned parameters, for the report
    ON_HOST = True                         `update` runs on the host: it cannot be traced, or calls compiled functions
    on_host(config, game, opponents)       the same where it depends on the settings
    remark(config, game, opponents)        one line that the user should know before training, or an empty one
    games_per_update(config)               the number of games per update, if it is fixed: then the last update plays
                                           only the remaining games, and exactly `games` are played
    SCHEDULE                               defaults of the Schedule for this algorithm
    PRESETS                                {name: {setting: value}}, settings of papers for any game; those for one game
                                           belong to the game, see `boardrl.presets`
    RENAMED_LEAVES                         {name: former name} of leaves of the TrainState, so that checkpoints of
                                           earlier versions still load
    check_state(config, game, state)       raises ValueError for the arrays of a checkpoint if they are no valid state
                                           although their dtypes and shapes are right
An update that raises `boardrl.errors.Exhausted` ends the training early. Everything in metrics.jsonl is determined by
the seed and the settings: the loop evaluates only after a multiple of `log_every` updates, at fixed counts of games,
and ends there too, unless the number of games per update is fixed. Only the times of checkpoints depend on the clock.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.sharding import NamedSharding, PartitionSpec

from boardrl import optional, options
from boardrl.config import setting
from boardrl.errors import Exhausted, UserError
from boardrl.game import Game
from boardrl.play.players import Player
from boardrl.play.policy import Policy
from boardrl.runs import checkpoint, log_rows, plots, report, run_checkpoint
from boardrl.runs.checkpoint import Damaged
from boardrl.runs.loggers import Loggers
from boardrl.runs.progress import Bar, track
from boardrl.runs.run_directory import Run
from boardrl.system import interrupt, machine
from boardrl.system.interrupt import Interrupted, Interrupts

MOST_COUNT = 2**31 - 1  # largest count on a device
COUNTABLE = 2**31 - 2**24  # games: TrainStates count them in 32 bits, and the last update may overshoot
DRAWING_SHARE = 20  # pause between two plots, as a multiple of the time that the last one took


@dataclasses.dataclass(frozen=True)
class Schedule:
    """How often the loop logs, evaluates and saves checkpoints."""

    log_every: int = setting(10, "updates averaged in one line of metrics.jsonl")
    evaluate_every: int = setting(0, "training games between two evaluations; 0: a 20th of --games")
    evaluate_games: int = setting(1000, "games per evaluation against each opponent")
    final_games: int = setting(10000, "games of the final evaluation against each opponent")
    evaluate_against: str = setting("random", "opponents, separated by commas; each in turn takes all other seats")
    evaluate_opening: int = setting(
        0, "random moves at the start of each evaluation game: deterministic players need some for varied games"
    )
    checkpoint_every: float = setting(60.0, "seconds between checkpoints; also written at evaluations and at the end")
    keep_checkpoints: int = setting(3, "number of newest checkpoints to keep")

    def __post_init__(self) -> None:
        least = {"evaluate_every": 0, "evaluate_opening": 0, "checkpoint_every": 0}
        for field in dataclasses.fields(self):
            value, bound = getattr(self, field.name), least.get(field.name, 1)
            if field.name != "evaluate_against" and not value >= bound:
                raise UserError(f"--{field.name}={value} is too small: expected at least {bound}")

    def resolve(self, num_games: int) -> Schedule:
        """The schedule with the defaults that depend on the length of the training filled in."""
        return dataclasses.replace(self, evaluate_every=self.evaluate_every or max(1, num_games // 20))


class Strength(NamedTuple):
    """Results of a policy in one seat against an opponent in all other seats."""

    opponent: str
    played: int  # games
    win_rate: float  # with its 95 % interval
    low: float
    high: float
    points: float  # mean return
    wins: int
    draws: int
    losses: int
    seats: tuple[float, ...]  # [P] win rate from each
    seed: int  # of the match
    duplicate: bool = False  # whether games shared their dice (boardrl.matches.duplicate)
    control: bool = False  # whether the win rate is without luck, by the player's own values (boardrl.matches.luck)


class Evaluate(Protocol):
    """Plays matches of the learned player against each opponent; shows progress on `bar`."""

    def __call__(self, player: Player, *, num_games: int, seed: int, bar: Bar) -> Sequence[Strength]: ...


class Task(NamedTuple):
    """A training task: game, algorithm, settings and evaluation."""

    algorithm: Any  # the module
    config: Any  # its Config
    game: Game[Any]
    opponents: tuple[Policy, ...]  # opponents in training games
    evaluate: Evaluate
    schedule: Schedule
    seed: int


class Outcome(NamedTuple):
    """How a session of training ended."""

    state: Any  # the TrainState
    strengths: Sequence[Strength]  # of the final evaluation
    interrupted: bool
    exhausted: str = ""  # why it ended before `config.games` games, if it did


class Diverged(UserError):
    """Training diverged: a loss or a parameter is not finite."""


# Settings that determine the memory use.
SIZES = ("lanes", "window", "hidden", "capacity", "batch", "entries", "population", "islands", "games_per_generation")


def check_size(task: Task, say: Callable[[str], None]) -> None:
    """Refuses a training that does not fit into memory, and warns about rules that take long to compile.

    Nothing is allocated: JAX derives the shapes of a TrainState without making one. Memory holds two TrainStates, the
    old and the new one of an update, and the observations of one update if the algorithm plays in lanes.
    """
    config, game = task.config, task.game
    if config.games >= COUNTABLE:
        raise UserError(f"--games={config.games} cannot be counted; expected less than {COUNTABLE:,}")
    state = jax.eval_shape(lambda: task.algorithm.init(config, game, jax.random.key(0)))
    needs = {}
    for path, leaf in jax.tree_util.tree_leaves_with_path(state):
        name = jax.tree_util.keystr(path, simple=True, separator=".")
        needs[f"{name} {leaf.dtype.name}{list(leaf.shape)}"] = 2 * machine.tree_bytes(leaf)
    turns = getattr(config, "lanes", 0) * getattr(config, "window", 0) + getattr(config, "batch", 0)
    needs[f"observations of {turns:,} turns"] = turns * 4 * math.prod(game.spec.obs_shape)
    final = task.schedule.final_games
    needs[f"results of {final:,} games"] = final * 16 * game.spec.num_players
    machine.require(
        sum(needs.values()),
        f"this training of {game.spec.name}, of which {max(needs, key=lambda name: needs[name])} is the largest part,",
        _smaller(task),
        free=machine.free_device_memory(),
    )
    for name, value in {**dataclasses.asdict(task.schedule), **dataclasses.asdict(config)}.items():
        if isinstance(value, int) and abs(value) > MOST_COUNT:
            raise UserError(f"--{name}={value} is out of range: expected at most {MOST_COUNT:,}")
    remark = task.algorithm.remark(config, game, task.opponents) if hasattr(task.algorithm, "remark") else ""
    for line in filter(None, [machine.compile_warning(game), remark]):
        say(f"note: {line}")


def _smaller(task: Task) -> str:
    """The remedy for a training that does not fit into memory."""
    sizes = {name: getattr(task.config, name) for name in SIZES if hasattr(task.config, name)}
    sizes["final_games"] = task.schedule.final_games
    return f"choose smaller sizes than {options.format_options(sizes).replace(',', ', ')}, or a smaller game"


def train(task: Task, run: Run, loggers: Loggers | None = None) -> Outcome:
    """Trains until `config.games` games have ended, from the newest checkpoint of the run if there is one."""
    with (
        interrupt.keeping(lambda: _kept(run)),
        track("train", task.config.games, "games") as bar,
        Interrupts(bar.say) as interrupts,
    ):
        session = _Session(task, run, bar, interrupts, loggers or Loggers())
        try:
            session.train()
            strengths = session.evaluate(final=True)
        except Interrupted:
            session.save()
            session.write_report("interrupted")  # the plot of the last evaluation is good enough
            return Outcome(session.state, (), interrupted=True)
        except Diverged as divergence:
            session.show(f"stopped: {divergence}")
            raise
        session.show(f"ended early: {session.exhausted}" if session.exhausted else "finished")
        return Outcome(session.state, strengths, interrupted=False, exhausted=session.exhausted)


def _kept(run: Run) -> str:
    """The message of a process that has to end at once: its newest checkpoint and how to resume."""
    return f"the last checkpoint is of update {run.newest():,}; to go on: {report.resume_command(run)}"


class _Session:
    """One session of training, from the start or a checkpoint to the end."""

    def __init__(self, task: Task, run: Run, bar: Bar, interrupts: Interrupts, loggers: Loggers) -> None:
        self.task, self.run, self.bar, self.interrupts, self.loggers = task, run, bar, interrupts, loggers
        first = task.algorithm.init(task.config, task.game, jax.random.key(task.seed))
        self.shardings = shardings(first)
        restored = run.restore(first, bar.say, check=self._check_restored, algorithm=self.task.algorithm)
        state, place = restored or (first, {"rows": [], "evaluated": -1})
        self.updates, self.games = int(state.updates), int(state.games)
        # Copies, because each update donates the buffers of the previous state, which must not be shared.
        self.state = jax.tree.map(jnp.copy, _put(state, self.shardings))
        # The loop's progress since the last line of metrics, which checkpoints store too.
        self.rows: list[dict[str, float]] = place["rows"]  # metrics of each update since the last line
        self.evaluated: int = place["evaluated"]  # games at the last evaluation, -1 before the first
        self.note = _note(report.latest(run))
        self.exhausted = ""  # why training ended early
        self.compiled = False
        self.seconds, self.games_timed = 0.0, 0  # since the last line
        self.next_save = self.next_show = 0.0
        bar.restart(self.games)
        loggers.begin(run.logs["metrics.jsonl"])
        self.save()

    def train(self) -> None:
        """Updates until `config.games` games have ended or the algorithm raises Exhausted."""
        every = self.task.schedule.resolve(self.task.config.games).evaluate_every
        while not self.exhausted and self.updates_left():
            if not self.rows and self.games // every > self.evaluated // every:
                self.evaluate()
            self.advance()
            if len(self.rows) == self.task.schedule.log_every:
                self.log()
            if self.interrupts.asked:
                raise Interrupted
            if time.monotonic() >= self.next_save:
                self.save()
        if self.rows:
            self.log()
        self.save()

    def updates_left(self) -> int:
        """Number of updates until the next line of metrics or the end of training; 0 at the end."""
        config, in_line = self.task.config, self.task.schedule.log_every - len(self.rows)
        games = config.games - self.games
        if hasattr(self.task.algorithm, "games_per_update"):
            return max(min(-(-games // self.task.algorithm.games_per_update(config)), in_line), 0)
        return in_line if self.rows or games > 0 else 0

    def advance(self) -> None:
        """Updates until a line of metrics is complete, or a checkpoint is due.

        The device computes one update while the host processes the metrics of the previous one.
        """
        began, games_before = time.monotonic(), self.games
        num_left = self.updates_left() if self.compiled else 1
        previous = None
        while num_left:
            try:
                self.state, metrics = self.update()
            except Exhausted as reason:
                self.exhausted = str(reason)
                break
            if previous is not None:
                self._take(previous)
            previous = metrics
            num_left -= 1
            if self.interrupts.asked or time.monotonic() >= self.next_save:
                break
        if previous is not None:
            self._take(previous)
        if self.compiled:
            self.seconds += time.monotonic() - began
            self.games_timed += self.games - games_before
        else:
            self.compiled = True
            self.bar.restart(self.games)

    def update(self) -> tuple[Any, dict[str, Any]]:
        """The state after one more update, and its metrics."""
        task = self.task
        arguments = (task.config, task.game, task.opponents, self.state)
        if self._on_host():
            state, metrics = task.algorithm.update(*arguments)
            # A copy, because the next update may reuse this state's memory before the metrics are read.
            return state, {**metrics, "games": jnp.copy(state.games)}
        update, places = task.algorithm.update, self.shardings
        if not self.compiled:
            what = f"an update of this training of {task.game.spec.name}"
            machine.require_for(_update, update, *arguments, what=what, remedy=_smaller(task), shardings=places)
        return _update(update, *arguments, shardings=places)

    def _on_host(self) -> bool:
        task = self.task
        if hasattr(task.algorithm, "on_host"):
            return bool(task.algorithm.on_host(task.config, task.game, task.opponents))
        return getattr(task.algorithm, "ON_HOST", False)

    def log(self) -> None:
        """Writes the mean of the metrics since the last line."""
        means = {name: math.fsum(row[name] for row in self.rows) / len(self.rows) for name in self.rows[0]}
        count = {"updates": self.updates, "games": self.games}
        self._log_metrics({"kind": "train", **count, **means})
        if self.seconds > 0:
            rate = self.games_timed / self.seconds
            self.run.log("speed.jsonl", {**count, "seconds": self.seconds, "games_per_second": rate})
        self.rows, self.seconds, self.games_timed = [], 0.0, 0

    def _log_metrics(self, row: dict[str, Any]) -> None:
        self.run.log("metrics.jsonl", row)
        self.loggers.row(row)

    def evaluate(self, *, final: bool = False) -> Sequence[Strength]:
        """Plays against each opponent, with a seed derived from the run's seed and the update."""
        task = self.task
        player = self._player()
        num_games = task.schedule.final_games if final else task.schedule.evaluate_games
        seed = int(np.random.SeedSequence([task.seed, self.updates, final]).generate_state(1)[0])
        with self.interrupts.breakable():
            strengths = task.evaluate(player, num_games=num_games, seed=seed, bar=self.bar)
        for strength in strengths:
            count = {"updates": self.updates, "games": self.games}
            self._log_metrics({"kind": "final" if final else "strength", **count, **strength._asdict()})
        self.note = _note(report.latest(self.run))
        if not final:
            self.evaluated = self.games
            self.bar.say(f"{self.games:,} games: {self.note}")
            self.save()
            if time.monotonic() >= self.next_show:
                self.show("under way")
        return strengths

    def _player(self) -> Player:
        """The learned player, as it plays in matches."""
        task = self.task
        host = task.algorithm.player(task.config, task.game, self.state) if hasattr(task.algorithm, "player") else None
        if host is not None:
            self.save()  # so that other processes can make the same player
            return Player("learned", host=host, text=str(self.run.checkpoints / str(self.run.newest())))
        # On the host, because matches choose their own devices.
        return Player("learned", jax.device_get(task.algorithm.policy(task.config, task.game, self.state)))

    def _check_restored(self, state: Any, place: Mapping[str, Any]) -> None:
        """Raises Damaged for a state or place that the loop cannot continue from."""
        run_checkpoint.check_state(self.task.algorithm, self.task.config, self.task.game, state)
        rows, evaluated = place.get("rows"), place.get("evaluated")
        if type(evaluated) is not int or not -1 <= evaluated < COUNTABLE:
            raise Damaged("its last evaluation is not a number of games")
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise Damaged("its metrics since the last line are not rows")
        same = all(row.keys() == rows[0].keys() and log_rows.has_progress(row) for row in rows)
        numbers = all(map(log_rows.is_number, itertools.chain.from_iterable(row.values() for row in rows)))
        if not same or not numbers or len(rows) >= self.task.schedule.log_every:
            raise Damaged("its metrics since the last line are not rows")

    def save(self) -> None:
        """Writes a checkpoint; raises Diverged if a number is not finite."""
        state = jax.device_get(self.state)
        if (name := checkpoint.first_non_finite(state)) is not None:
            self._diverge(name, "not finite")
        place = {"rows": self.rows, "evaluated": self.evaluated}
        self.run.save(state, place=place, keep=self.task.schedule.keep_checkpoints)
        self.next_save = time.monotonic() + self.task.schedule.checkpoint_every

    def show(self, status: str) -> None:
        """Refreshes the plot and the report."""
        began = time.monotonic()
        plots.write(self.run, optional.printed(self.task.game))
        self.loggers.figure("learning_curve", self.run.path / "learning_curve.png", self.games)
        self.write_report(status)
        now = time.monotonic()
        self.next_show = now + DRAWING_SHARE * (now - began)

    def write_report(self, status: str) -> None:
        task, learned = self.task, None
        if hasattr(task.algorithm, "describe"):
            learned = task.algorithm.describe(task.config, task.game, self.state)
        report.write(self.run, task.game, status=status, learned=learned)

    def _take(self, metrics: Any) -> None:
        """Waits for the metrics of one update, checks and stores them."""
        row = {name: float(value) for name, value in jax.device_get(metrics).items()}
        self.updates += 1
        self.games = int(row.pop("games"))
        for name, value in row.items():
            if not math.isfinite(value):
                self._diverge(name, value)
        self.rows.append(row)
        shown = next(name for name in ("loss", "best") if name in row)
        self.bar.update(self.games, f"{shown} {row[shown]:.4g}  {self.note}")

    def _diverge(self, name: str, value: Any) -> NoReturn:
        raise Diverged(
            f"{name} became {value} at update {self.updates}; the last good checkpoint is of update "
            f"{self.run.newest()}: start a new run with a lower learning rate or other settings"
        )


def _note(rows: Sequence[Mapping[str, Any]]) -> str:
    """The results of an evaluation as a note of the progress bar."""
    rates = [[100 * row[name] for name in ("win_rate", "low", "high")] for row in rows]
    named = zip(rows, rates, strict=True)
    return "  ".join(f"vs {row['opponent']} {rate:.1f} % [{low:.1f}, {high:.1f}]" for row, (rate, low, high) in named)


def shardings(state: Any) -> tuple[NamedSharding, ...]:
    """The shardings of a state's leaves: leaves sharded over a mesh keep their sharding, all others are replicated.

    They are fixed, so that a resumed run computes the same partial sums in the same order as an uninterrupted one.
    """
    leaves = jax.tree.leaves(state)
    named = [leaf.sharding for leaf in leaves if isinstance(leaf.sharding, NamedSharding)]
    mesh = named[0].mesh if named else jax.sharding.Mesh(jax.local_devices()[:1], ("lanes",))
    everywhere = NamedSharding(mesh, PartitionSpec())
    return tuple(leaf.sharding if isinstance(leaf.sharding, NamedSharding) else everywhere for leaf in leaves)


def _put(state: Any, places: tuple[NamedSharding, ...]) -> Any:
    return jax.device_put(state, jax.tree.unflatten(jax.tree.structure(state), places))


@functools.partial(jax.jit, static_argnames=("update", "config", "game", "shardings"), donate_argnames="state")
def _update(
    update: Any,
    config: Any,
    game: Game[Any],
    opponents: tuple[Policy, ...],
    state: Any,
    *,
    shardings: tuple[NamedSharding, ...],
) -> tuple[Any, dict[str, Array]]:
    """An algorithm's update with unchanged shardings, and the number of finished games as an additional metric."""
    state, metrics = update(config, game, opponents, state)
    places = jax.tree.unflatten(jax.tree.structure(state), shardings)
    return jax.lax.with_sharding_constraint(state, places), {**metrics, "games": state.games}
