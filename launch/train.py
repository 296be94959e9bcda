"""Trains a player by self-play, measures it, and keeps everything in a run directory.

  python -m launch.train --game=ludo --algo=td_lambda
  python -m launch.train --game=ludo --algo=td_lambda --preset=alhajry2012
  python -m launch.train --game=pig:players=3,target=30 --seed=1 --games=50000
  python -m launch.train --resume=runs/tic_tac_toe-td_lambda-20250101T120000Z-s0

Ctrl-C or SIGTERM ends within two seconds with a checkpoint, or in the midst of a long update with the one before;
--resume goes on from there to the same weights, bit by bit, as a run that was never stopped.
Give --game and --algo together with --help to see the settings that suit them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import pathlib
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import jax

from boardrl import optional, options, presets, registry, trust
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.matches import arena, luck
from boardrl.play.players import Player
from boardrl.play.policy import Policy
from boardrl.runs import loggers, report, training
from boardrl.runs import run_directory as runs
from boardrl.runs.progress import Bar
from boardrl.runs.training import Schedule, Strength
from boardrl.system.interrupt import EXIT_CODE
from boardrl.workers import text_form
from launch import cli
from launch.console import named_players

RUNS_DIR = "runs"
# What may differ on --resume: it decides when to stop or what is kept, not what the numbers are.
MAY_CHANGE = ("games", "checkpoint_every", "keep_checkpoints")


@dataclasses.dataclass(frozen=True)
class TrainConfig:
    game: str = setting("", f"what is played, with its options; known: {', '.join(registry.names())}")
    algo: str = setting("td_lambda", f"how it is learned; known: {', '.join(registry.names(registry.ALGORITHMS))}")
    preset: str = setting(
        "", "a paper's settings, of those that the game or the algorithm has; empty: what suits the game"
    )
    seed: int = setting(0, "decides all that is random")
    run: str = setting("", "path of the new run directory; empty: <runs_dir>/<game>-<algo>-<time>-s<seed>")
    runs_dir: str = setting(RUNS_DIR, "folder of the run directories")
    resume: str = setting(
        "", "run directory to go on with; of its settings only --games (upwards) and those on checkpoints may change"
    )
    workers: str = setting("local", text_form.HELP)
    log: str = setting("", f"loggers besides metrics.jsonl; known: {', '.join(registry.names(registry.LOGGERS))}")

    def __post_init__(self) -> None:
        if not 0 <= self.seed < 2**32:
            raise UserError(f"--seed={self.seed} is out of range: expected 0 to {2**32 - 1}")
        if self.resume and (self.run or self.runs_dir != RUNS_DIR):
            raise UserError("--resume names the run directory already; leave out --run and --runs_dir")
        if self.resume and self.preset:
            raise UserError(f"--preset={self.preset} cannot change the settings of a run; leave it out beside --resume")


def more(settings: TrainConfig) -> cli.More:
    """The settings of the loop and of the algorithm, with defaults from the stored run or from the game."""
    if settings.resume:
        stored = runs.read_config(pathlib.Path(settings.resume))
        algo, algorithm = stored["algo"], registry.algorithm(stored["algo"])
        schedule = dataclasses.asdict(runs.read_settings(Schedule, stored, "schedule"))
        learning = dataclasses.asdict(runs.read_settings(algorithm.Config, stored, "settings"))
        own = {name: stored[name] for name in ("game", "algo", "seed")}
    else:
        algo, algorithm = settings.algo, registry.algorithm(settings.algo)
        game = registry.make(settings.game) if settings.game else None
        own_defaults = {} if game is None else optional.defaults(game).get(algo, {})
        suited = {**getattr(algorithm, "SCHEDULE", {}), **own_defaults}
        ours = {field.name for field in dataclasses.fields(Schedule)}
        schedule = {name: value for name, value in suited.items() if name in ours}
        learning = {name: value for name, value in suited.items() if name not in ours}
        if "preset" in learning:
            learning = presets.find(learning.pop("preset"), algo, game) | learning
        if settings.preset:
            learning = presets.find(settings.preset, algo, game)
        own = {}
    sections = [
        cli.Section("evaluation, checkpoints and metrics", Schedule, schedule),
        cli.Section(f"settings of {algo}", algorithm.Config, learning),
    ]
    return cli.More(sections, own)


def main(settings: TrainConfig, schedule: Schedule, learning: Any) -> None:
    # The players and nets that a stored run names are code only if runs are trusted.
    with trust.stored_in(pathlib.Path(settings.resume)) if settings.resume else contextlib.nullcontext():
        train(settings, schedule, learning)


def train(settings: TrainConfig, schedule: Schedule, learning: Any) -> None:
    """Trains in a new run directory, or goes on in the one to resume."""
    if not settings.game:
        raise UserError(f"no game given: expected --game=NAME with one of {', '.join(registry.names())}")
    game, algorithm = registry.make(settings.game), registry.algorithm(settings.algo)
    schedule = schedule.resolve(learning.games)
    asked = {
        "game": registry.describe(game),
        "algo": settings.algo,
        "seed": settings.seed,
        "settings": dataclasses.asdict(learning),
        "schedule": dataclasses.asdict(schedule),
    }
    if settings.resume:
        check_unchanged(pathlib.Path(settings.resume), algorithm, asked)
    algorithm.check(learning, game)
    loggers.check(settings.log)
    task = training.Task(
        algorithm,
        learning,
        game,
        seat_opponents(learning.opponents, game),
        functools.partial(
            evaluate, game, named_players.make(schedule.evaluate_against, game), opening=schedule.evaluate_opening
        ),
        schedule,
        settings.seed,
    )
    training.check_size(task, lambda line: print(line, file=sys.stderr))
    with open_run(settings, game, asked) as run, loggers.opened(settings.log, run.path) as metrics:
        print(f"{settings.algo} on {asked['game']} in {run.path}", file=sys.stderr)
        outcome = training.train(task, run, metrics)
        resume, *others = report.commands(run, game)
        if outcome.interrupted:
            print(f"stopped after {int(outcome.state.games):,} games; to go on: {resume}")
            sys.exit(EXIT_CODE)
        print("\n".join(["", *report.strength_lines(run, game), "", f"plot      {run.path / 'learning_curve.png'}"]))
        then = (
            f"ended     {outcome.exhausted}"
            if outcome.exhausted
            else f"train on  {resume} --games={2 * learning.games}"
        )
        print("\n".join([then, *(f"evaluate  {line}" for line in others)]))


def open_run(settings: TrainConfig, game: Game[Any], asked: Mapping[str, Any]) -> runs.Run:
    """The new run directory, or the one to go on with."""
    if not settings.resume:
        default = runs.default_path(pathlib.Path(settings.runs_dir), game, settings.algo, settings.seed)
        return runs.Run.create(pathlib.Path(settings.run) if settings.run else default, asked)
    run = runs.Run.resume(pathlib.Path(settings.resume))
    run.write_config({**run.config, **asked})
    then = {**run.config["versions"], "devices": run.config["devices"]}
    now = {**runs.versions(), "devices": jax.local_device_count()}
    if changed := [f"{name} {then.get(name)} is now {now[name]}" for name in now if now[name] != then.get(name)]:
        print(f"note: {', '.join(changed)}; the last bits of the numbers may differ from then on", file=sys.stderr)
    return run


def check_unchanged(path: pathlib.Path, algorithm: Any, asked: Mapping[str, Any]) -> None:
    """Refuses flags beside --resume that would make another run of it."""
    stored = runs.read_config(path)
    kinds = {"settings": algorithm.Config, "schedule": Schedule}
    filled = {name: dataclasses.asdict(runs.read_settings(kind, stored, name)) for name, kind in kinds.items()}
    both = (json.loads(json.dumps({**stored, **filled})), asked)
    flat_had, flat_asked = ({**facts, **facts["settings"], **facts["schedule"]} for facts in both)
    for name, value in json.loads(json.dumps(flat_asked)).items():
        if name in ("settings", "schedule", *MAY_CHANGE) or value == flat_had[name]:
            continue
        given, had = options.format_options({name: value}), options.format_options({name: flat_had[name]})
        raise UserError(
            f"--{given} contradicts {had} of {str(path)!r}; on --resume only "
            f"{', '.join('--' + change for change in MAY_CHANGE)} may change"
        )
    if flat_asked["games"] < flat_had["games"]:
        raise UserError(
            f"--games={flat_asked['games']} is less than {flat_had['games']} of {str(path)!r}; it can only be raised"
        )


def seat_opponents(text: str, game: Game[Any]) -> tuple[Policy, ...]:
    """The players that take seats in training."""
    policies = []
    for player in named_players.make(text, game):
        if player.policy is None:
            raise UserError(
                f"opponent {player.name!r} plays one game at a time on the host, too slow to train with; use others"
            )
        policies.append(player.policy)
    return tuple(policies)


def evaluate(
    game: Game[Any], opponents: Sequence[Player], player: Player, *, num_games: int, seed: int, opening: int, bar: Bar
) -> list[Strength]:
    """What was learned in one seat, each opponent in turn in all others.

    Games with dice are played with duplicate dice, and where what was learned is a value function, its win rate is told
    without luck, by that function: so few games tell as much as many plain ones.
    """
    strengths = []
    dice = bool(game.spec.num_outcomes)
    control = luck.of_player(player) if 0 < game.spec.num_outcomes <= luck.MOST_OUTCOMES else None
    for opponent in opponents:
        players = [player, *[opponent] * (game.spec.num_players - 1)]
        part = bar.part(f"against {opponent.name}", num_games)
        score = arena.match(
            game, players, num_games=num_games, seed=seed, opening=opening, bar=part, duplicate=dice, control=control
        ).players[0]
        # Values that only rank moves, as weights of features may, can widen the interval: then the plain one is told.
        adjusts = score.adjusted is not None and score.adjusted.high - score.adjusted.low < score.high - score.low
        rated = score.adjusted if score.adjusted is not None and adjusts else score
        # Without luck a few games can come out above 1 or below 0.
        win_rate, low, high = (min(max(value, 0.0), 1.0) for value in (rated.win_rate, rated.low, rated.high))
        strengths.append(
            Strength(
                opponent.name,
                score.games,
                win_rate,
                low,
                high,
                points=score.points,
                wins=score.wins,
                draws=score.draws,
                losses=score.losses,
                seats=tuple(seat.win_rate for seat in score.seats),
                seed=seed,
                duplicate=dice,
                control=adjusts,
            )
        )
    return strengths


if __name__ == "__main__":
    cli.run(main, TrainConfig, more=more)
