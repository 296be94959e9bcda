"""Single files: weights, records of matches, replays."""

from __future__ import annotations

import functools
import html.parser
import pathlib
import tempfile
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from hypothesis import strategies as st

from boardrl import drawing, registry
from boardrl.matches import arena, replay_file
from boardrl.matches.records import Record
from boardrl.play.bots import Bot
from boardrl.play.players import Player, make, make_lineup
from boardrl.runs.saved_results import Kept
from boardrl.values import weight_file
from boardrl.values.linear import find
from boardrl.values.weight_file import Weights
from launch.dev.fuzzing import garble
from launch.dev.fuzzing.contract import Broken, Place, keeping
from launch.dev.fuzzing.garble import Draw


def weights_file(draw: Draw, where: Place) -> None:
    """Loads a file of weights and uses it in a search."""
    game = registry.make("jumper:size=3")
    path = where.inside / draw(st.sampled_from(("w.json", "a b.json", "é.json")))
    names = find(game, "").names
    weight_file.save(path, Weights("jumper", "", names, tuple(0.5 for _ in names), "a command"))
    story = _damage(draw, path, where, garble.json_file)
    with keeping(where, story):
        player = make(f"negascout(depth=1,kilobytes=256,learned={path})", game)
        assert player.host is not None
        player.host.choose(game, jax.device_get(game.init()), np.random.default_rng(0))


def _damage(draw: Draw, path: pathlib.Path, where: Place, change: Callable[[Draw, pathlib.Path], None]) -> list[str]:
    """Mostly changes the content of a file, sometimes puts something else in its place; says what was done."""
    if not draw(st.integers(0, 9)):
        return []
    if not draw(st.integers(0, 5)):
        return [garble.entry(draw, path, where.outside)]
    change(draw, path)
    return [f"{path.read_bytes()[:500]!r}"]


class First:
    """Takes the first legal action."""

    def choose(self, game: Any, state: Any, rng: np.random.Generator) -> int:
        return int(np.flatnonzero(game.legal(state))[0])


SETTINGS = {"game": "tic_tac_toe", "games": 6}


@functools.cache
def _good_records() -> dict[str, bytes]:
    """Files of matches: one between policies in a batch, one with host players."""
    found = {}
    for name in ("random", "first"):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "match.jsonl"
            _play_match(name, path)
            found[name] = path.read_bytes()
    return found


def _play_match(name: str, path: pathlib.Path) -> None:
    game = registry.make("tic_tac_toe")
    other = make_lineup("random", game)[0] if name == "random" else Player("first", host=Bot(First))
    match = arena.match(
        game, [*make_lineup("random", game), other], num_games=6, seed=1, record=Record(Kept(path, SETTINGS))
    )
    if sum(score.wins for score in match.players) + match.players[0].draws != 6:
        raise Broken("games that were neither won nor drawn")


def match_record(draw: Draw, where: Place) -> None:
    """Resumes an interrupted match from its file."""
    name = draw(st.sampled_from(("random", "first")))
    path = where.inside / "match.jsonl"
    path.write_bytes(_good_records()[name])
    story = [name, *_damage(draw, path, where, garble.json_lines)]
    with keeping(where, story):
        _play_match(name, path)


@functools.cache
def _good_replay() -> bytes:
    """The replay of a game of pig."""
    game = registry.make("pig:target=8")
    with tempfile.TemporaryDirectory() as folder:
        recorder = replay_file.Recorder(pathlib.Path(folder), game, ["random", "random"], seed=0)
        arena.match(game, make_lineup("random,random", game), num_games=1, seed=0, recorder=recorder)
        return (pathlib.Path(folder) / "game-0.json").read_bytes()


def replay_json(draw: Draw, where: Place) -> None:
    """The file of a recorded game is read and followed by the rules."""
    path = where.inside / "game.json"
    path.write_bytes(_good_replay())
    story = _damage(draw, path, where, garble.json_file)
    with keeping(where, story):
        found = replay_file.read(path)
        for step in replay_file.follow(path, found, replay_file.game_of(path, found)):
            if not np.isfinite(step.returns).all():
                raise Broken("returns that are no numbers")


class _Tags(html.parser.HTMLParser):
    """Counts the elements with which a page could run code."""

    def __init__(self) -> None:
        super().__init__()
        self.scripts, self.handlers = 0, 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag in ("script", "iframe", "object", "embed", "img")
        self.handlers += sum(name.startswith("on") for name, _ in attrs)


def replay(draw: Draw, where: Place) -> None:
    """Checks that names and captions in a replay stay text."""
    odd = (*garble.TEXTS, "</script><img src=x onerror=alert(1)>", "--><b>", "]]>", "\u2028", "`${1}`")
    title, *captions = (garble.text(draw, "seat 0, random: 4", odd=odd) for _ in range(3))
    with keeping(where, [repr((title, captions))]):
        drawn = drawing.of_texts(captions)
        page = drawing.replay(title, [drawing.Frame(one, text) for one, text in zip(drawn, captions, strict=True)])
        plain = drawing.replay("t", [drawing.Frame(one, "c") for one in drawing.of_texts(["a", "b"])])
        found, wanted = _Tags(), _Tags()
        found.feed(page)
        wanted.feed(plain)
        if (found.scripts, found.handlers) != (wanted.scripts, wanted.handlers):
            raise Broken("a text of the replay became code")
