"""Plays one game, or shows one position: in the terminal, as an SVG picture, as an HTML replay for a browser.

    python -m launch.play --game=ludo --players=mixed,random,random,random --html=game.html
    python -m launch.play --game=tic_tac_toe --players='human,negascout(depth=4)'
    python -m launch.play --game=ludo --position='0.0.14.57 1.2.0.0 0.0.0.0 0.0.0.0 0 plays 6' --svg=position.svg

    python -m launch.play --game=pig --players=hold,random --record=game.json
    python -m launch.play --replay=game.json --every

--record keeps the game in a file (docs/matches.md), which --replay shows, launch.check --replay verifies and
launch.review judges.

A human types the number of a move, or help. A game without humans is shown as it ends unless --every is given; its
replay has every step. A game that draws nothing is shown as text.
"""

from __future__ import annotations

import contextlib
import dataclasses
import pathlib
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import rich.console
import rich.text

from boardrl import drawing, optional, options, registry
from boardrl.config import setting
from boardrl.drawing import Frame, state_text
from boardrl.errors import UserError
from boardrl.game import CHANCE, TERMINAL, Game
from boardrl.matches import host_match, replay_file
from boardrl.play.players import Player
from boardrl.play.policy import Policy, Uniform
from boardrl.runs import progress
from boardrl.system import atomic_files
from launch import cli
from launch.console import human, named_players, output, positions, undo
from launch.console.human import Hinter, Human
from launch.console.thinking import Tell, Thinking


@dataclasses.dataclass(frozen=True)
class Settings:
    game: str = setting("", "the game with its options, like ludo:rules=sdu_java")
    players: str = setting(
        "", "one player for each seat, separated by commas, human for somebody at the terminal; empty: all random"
    )
    position: str = setting("", "a position as the game writes it: it is shown and nothing is played")
    seed: int = setting(0, "the same seed gives the same game, against the same moves")
    every: bool = setting(False, "show the board after every step in the terminal")
    hint: str = setting("", "the player whose advice humans get; empty: a searcher that fits the game")
    svg: str = setting("", "a file for a picture of the position, or of the end of the game")
    html: str = setting("", "a file for the replay")
    record: str = setting("", "a file for the moves of the game, as JSON")
    replay: str = setting("", "a file of --record: it is shown and nothing is played")
    overwrite: bool = setting(False, "replace files that exist")


class Scene(NamedTuple):
    caption: str
    state: Any


def main(settings: Settings, *, read: Callable[[str], str] = input) -> None:
    """Plays or shows what the settings ask for; `read` gives a line that a human types."""
    recorded = _recorded(settings)
    game = recorded[1] if recorded else registry.make(settings.game)
    record = output.free_path("record", settings.record, overwrite=settings.overwrite)
    svg = output.free_path("svg", settings.svg, overwrite=settings.overwrite)
    page = output.free_path("html", settings.html, overwrite=settings.overwrite)
    console = rich.console.Console(highlight=False)
    if settings.position:
        stage = Stage(game, console, [_position(game, settings)])
        stage.show_last()
    else:
        stage = Stage(game, console, [Scene("the start", jax.device_get(game.init()))])
    try:
        if recorded:
            _show_replay(stage, settings, recorded[0])
        elif not settings.position:
            _play(stage, settings, read)
    finally:  # a game that was broken off has a replay too
        if record and stage.steps:
            replay_file.write(record, _replay_of(stage, settings))
        if len(stage.scenes) > 1 or settings.position:
            pictures = drawing.of_states(game, [scene.state for scene in stage.scenes]) if svg or page else []
            if svg:
                atomic_files.write(svg, drawing.svg(pictures[-1]).encode())
            if page:
                frames = [Frame(one, scene.caption) for one, scene in zip(pictures, stage.scenes, strict=True)]
                atomic_files.write(page, drawing.replay(registry.describe(game), frames).encode())


class Stage:
    """What has happened so far, and the terminal that shows it."""

    def __init__(self, game: Game[Any], console: rich.console.Console, scenes: list[Scene]) -> None:
        self.game, self.console, self.scenes = game, console, scenes
        self.moves: list[tuple[int, int]] = []  # the actor and the move of each step
        self.result: replay_file.Result | None = None

    @property
    def steps(self) -> int:
        return len(self.scenes) - 1

    def say(self, line: str) -> None:
        self.console.print(rich.text.Text(line), soft_wrap=True)

    def show(self, state: Any) -> None:
        """The board, as well as the game can show it."""
        if (show := optional.show(self.game)) is not None:
            self.console.print(show(state))
        else:
            self.say(state_text.position(self.game, state))

    def add(
        self, players: Sequence[Player], actor: int, move: int, before: Any, after: Any, returns: Any | None
    ) -> None:
        """Adds a step; with the returns, if the game ends with it."""
        who = "" if actor == CHANCE else f"seat {actor}, {players[actor].name}: "
        caption = f"{self.steps + 1}. {who}{state_text.move(self.game, before, actor, move)}"
        if returns is not None:
            caption += "; returns " + ", ".join(f"{value:.2g}" for value in returns.tolist())
        self.scenes.append(Scene(caption, jax.device_get(after)))
        self.moves.append((actor, move))

    def watch(self, players: Sequence[Player], made: host_match.Made) -> None:
        """Adds a step of a game that is played."""
        ends = made.after.actor == TERMINAL
        self.add(players, made.actor, made.move, made.before, made.after.state, made.after.returns if ends else None)

    def show_last(self) -> None:
        caption, state = self.scenes[-1]
        self.say(caption)
        self.show(state)


def _position(game: Game[Any], settings: Settings) -> Scene:
    if settings.players:
        raise UserError("--players and --position are given; a position is only shown, so leave one of them out")
    return Scene(settings.position, positions.parse(game, settings.position))


# --- replays ----------------------------------------------------------------------------------------------------------


def _recorded(settings: Settings) -> tuple[replay_file.Replay, Game[Any]] | None:
    """The replay that is to be shown, and its game."""
    if not settings.replay:
        return None
    for name in ("players", "position", "record", "hint"):
        if getattr(settings, name):
            raise UserError(f"--replay and --{name} are given; a replay is only shown, so leave one of them out")
    path = pathlib.Path(settings.replay)
    replay = replay_file.read(path)
    return replay, replay_file.game_of(path, replay, settings.game)


def _show_replay(stage: Stage, settings: Settings, replay: replay_file.Replay) -> None:
    """Shows a recorded game as if it were played."""
    players = [Player(name, Policy(Uniform(stage.game))) for name in replay.players]  # for their names alone
    if settings.every:
        stage.show_last()
    with progress.track("following", len(replay.moves) + len(replay.outcomes), "steps") as bar:
        for step in replay_file.follow(pathlib.Path(settings.replay), replay, stage.game):
            stage.add(players, step.actor, step.move, step.before, step.after, step.returns if step.over else None)
            bar.update(stage.steps)
            if settings.every:
                stage.show_last()
    if not settings.every:
        stage.show_last()


def _replay_of(stage: Stage, settings: Settings) -> replay_file.Replay:
    """The game so far; without a result if it was broken off."""
    names = options.split(settings.players) or ["random"] * stage.game.spec.num_players
    return replay_file.of_steps(stage.game, names, stage.moves, stage.result, seed=settings.seed)


# --- a game -----------------------------------------------------------------------------------------------------------


def _play(stage: Stage, settings: Settings, read: Callable[[str], str]) -> None:
    seats = stage.game.spec.num_players
    texts = options.split(settings.players) or ["random"] * seats
    if len(texts) != seats:
        raise UserError(f"--players={settings.players} are {len(texts)}; {settings.game} is played by {seats}")
    humans = [seat for seat, text in enumerate(texts) if named_players.is_human(text)]
    if settings.hint and not humans:
        raise UserError("--hint is given and no human plays; leave it out, or add a human to --players")
    if humans:
        _with_humans(stage, settings, texts, humans, read)
    else:
        _alone(stage, settings, texts)


def _alone(stage: Stage, settings: Settings, texts: Sequence[str]) -> None:
    """A game that nobody at the terminal takes part in."""
    players = named_players.make(options.join(texts), stage.game)
    if settings.every:
        stage.show_last()

    def watch(made: host_match.Made) -> None:
        stage.watch(players, made)
        bar.update(stage.steps)
        if settings.every:
            stage.show_last()

    def tell(name: str) -> Tell:
        return lambda seconds: bar.update(stage.steps, f"{name} thinks, {progress.clock(seconds)}")

    with progress.track("playing, at most", stage.game.spec.max_steps, "steps") as bar:
        players = [_breakable(player, tell(player.name)) for player in players]
        result = host_match.play_game(stage.game, players, seed=settings.seed, index=0, watch=watch)
    stage.result = replay_file.Result(tuple(result.returns), result.cut)
    if not settings.every:
        stage.show_last()


def _with_humans(
    stage: Stage, settings: Settings, texts: Sequence[str], humans: Sequence[int], read: Callable[[str], str]
) -> None:
    """A game that people at the terminal take part in."""
    game, shown = stage.game, 0
    record = undo.Record(humans, lambda: stage.steps)
    hinter = _hinter(game, settings.hint)
    players = []
    for seat, text in enumerate(texts):
        if seat in humans:
            asked = Human(
                seat, console=stage.console, read=read, show=stage.show, hinter=hinter, can_undo=record.can_take_back
            )
            players.append(Player(named_players.HUMAN, host=asked))
        else:
            players += [
                _breakable(player, _tell(player.name)) for player in named_players.make(options.join([text]), game)
            ]

    def watch(made: host_match.Made) -> None:
        nonlocal shown
        stage.watch(players, made)
        if stage.steps > shown:
            shown = stage.steps
            stage.say(stage.scenes[-1].caption)
            # Before a human moves, and at the end, the board is shown anyway.
            if settings.every and int(made.after.actor) not in (*humans, TERMINAL):
                stage.show(stage.scenes[-1].state)

    def restart(steps: int) -> None:
        nonlocal shown
        shown = steps
        del stage.scenes[1:], stage.moves[:]
        stage.say(f"taken back to step {steps}" if steps else "taken back to the start")

    try:
        result = undo.play(game, players, record, seed=settings.seed, watch=watch, restart=restart)
    except (human.Quit, KeyboardInterrupt) as end:
        stage.say(f"the game ends here, after {stage.steps} step{'s' * (stage.steps != 1)}")
        if isinstance(end, KeyboardInterrupt):
            raise
        return
    stage.result = replay_file.Result(tuple(result.returns), result.cut)
    stage.show(stage.scenes[-1].state)
    stage.say(_outcome(players, result))


def _hinter(game: Game[Any], text: str) -> Hinter:
    """Whom humans may ask; a player that was named is made at once, as its name may be wrong."""

    def make() -> Player:
        (player,) = named_players.make(name, game)
        return _breakable(player, _tell(name))

    name = text or human.default_hinter(game)
    if not text:
        return Hinter(name, make)
    player = make()
    return Hinter(name, lambda: player)


def _breakable(player: Player, tell: Tell) -> Player:
    """The same player, whose thought Ctrl-C ends."""
    return dataclasses.replace(player, host=Thinking(player.host, tell)) if player.host else player


def _tell(name: str) -> Tell:
    """Says on standard error that somebody thinks, from time to time."""
    said = 0.0

    def tell(seconds: float) -> None:
        nonlocal said
        said = 0.0 if seconds < said else said  # it thinks about another move
        if seconds >= said + (progress.LINE_SECONDS if said else progress.QUIET_SECONDS):
            said = seconds
            print(f"{name} thinks, {progress.clock(seconds)}; Ctrl-C ends the game", file=sys.stderr)

    return tell


def _outcome(players: Sequence[Player], result: host_match.Result) -> str:
    """Who has won."""
    best = [seat for seat, value in enumerate(result.returns) if value == max(result.returns)]
    names = [f"seat {seat} ({players[seat].name})" for seat in best]
    words = f"{names[0]} wins" if len(best) == 1 else f"{', '.join(names[:-1])} and {names[-1]} share the best result"
    returns = ", ".join(f"{value:.2g}" for value in result.returns)
    cut = "; cut at the game's most steps, scored as it stands" if result.cut else ""
    return f"{words}; returns {returns}{cut}"


if __name__ == "__main__":
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401  (lines can then be edited)
    cli.run(main, Settings)
