"""Plays one game, or shows one position: in the terminal, as an SVG picture, as an HTML replay for a browser.

    python -m launch.play --game=ludo --players=mixed,random,random,random --html=game.html
    python -m launch.play --game=ludo --position='0.0.14.57 1.2.0.0 0.0.0.0 0.0.0.0 0 plays 6' --svg=position.svg

A game is shown as it ends unless --every is given; its replay has every step.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax
import numpy as np
import rich.console

from boardrl import atomic, drawing, host_match, progress, registry
from boardrl.config import setting
from boardrl.drawing import Frame
from boardrl.errors import UserError
from boardrl.game import CHANCE, TERMINAL, Game
from boardrl.players import Player
from launch import cli, lineup, output, positions


@dataclasses.dataclass(frozen=True)
class Settings:
    game: str = setting("", "the game with its options, like ludo:rules=sdu_java")
    players: str = setting("", "one player for each seat, separated by commas; empty: all random")
    position: str = setting("", "a position as the game writes it: it is shown and nothing is played")
    seed: int = setting(0, "the same seed gives the same game")
    every: bool = setting(False, "show every step in the terminal, not the end alone")
    svg: str = setting("", "a file for a picture of the position, or of the end of the game")
    html: str = setting("", "a file for the replay")
    overwrite: bool = setting(False, "replace files that exist")


class Scene(NamedTuple):
    caption: str
    state: Any


def main(settings: Settings) -> None:
    game = registry.make(settings.game)
    svg = output.free_path("svg", settings.svg, overwrite=settings.overwrite)
    page = output.free_path("html", settings.html, overwrite=settings.overwrite)
    if (svg or page) and not hasattr(game, "draw"):
        raise UserError(f"{game.spec.name} offers no drawing; leave out --svg and --html")
    console = rich.console.Console(highlight=False)
    scenes = [_position(game, settings)] if settings.position else _played(game, settings)
    for caption, state in scenes if settings.every else scenes[-1:]:
        _show(console, game, caption, state)
    _, last = scenes[-1]
    if svg:
        atomic.write(svg, drawing.svg(game.draw(last)).encode())  # type: ignore[attr-defined]
    if page:
        frames = [Frame(game.draw(state), caption) for caption, state in scenes]  # type: ignore[attr-defined]
        atomic.write(page, drawing.replay(registry.describe(game), frames).encode())


def _position(game: Game[Any], settings: Settings) -> Scene:
    if settings.players:
        raise UserError("--players and --position are given; a position is only shown, so leave one of them out")
    return Scene(settings.position, positions.parse(game, settings.position))


def _played(game: Game[Any], settings: Settings) -> list[Scene]:
    """A scene for each step of a game."""
    seats = game.spec.num_players
    players = lineup.make(settings.players or ",".join(["random"] * seats), game)
    if len(players) != seats:
        raise UserError(f"--players={settings.players} are {len(players)}; {settings.game} is played by {seats}")
    scenes = [Scene("the start", jax.device_get(game.init()))]

    def watch(made: host_match.Made) -> None:
        caption = f"{len(scenes)}. {_who(made.actor, players)}{_words(game, made)}"
        if made.after.actor == TERMINAL:
            caption += "; returns " + ", ".join(f"{value:.2g}" for value in made.after.returns.tolist())
        scenes.append(Scene(caption, jax.device_get(made.after.state)))
        bar.update(len(scenes))

    with progress.track("playing, at most", game.spec.max_steps, "steps") as bar:
        host_match.play_game(game, players, seed=settings.seed, index=0, watch=watch)
    return scenes


def _who(actor: int, players: list[Player]) -> str:
    return "" if actor == CHANCE else f"seat {actor}, {players[actor].name}: "


def _words(game: Game[Any], made: host_match.Made) -> str:
    if hasattr(game, "move_text"):
        return game.move_text(made.before, np.int32(made.move))
    return f"outcome {made.move}" if made.actor == CHANCE else f"action {made.move}"


def _show(console: rich.console.Console, game: Game[Any], caption: str, state: Any) -> None:
    """The caption, then the board as well as the game can show it."""
    console.print(caption, markup=False)
    if hasattr(game, "show"):
        console.print(game.show(state))
    elif hasattr(game, "to_text"):
        console.print(game.to_text(state), markup=False)


if __name__ == "__main__":
    cli.run(main, Settings)
