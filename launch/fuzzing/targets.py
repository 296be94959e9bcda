"""Readers of input that the fuzzer tries: each draws a case, garbles good input and reads it."""

from __future__ import annotations

import atexit
import functools
import html.parser
import json
import pathlib
import shutil
import tempfile
from collections.abc import Callable
from typing import Any
from unittest import mock

import jax
import numpy as np
from hypothesis import strategies as st

from algorithms import td_lambda
from boardrl import arena, checkpoint, drawing, plots, registry, report, training, weights
from boardrl import run as runs
from boardrl.errors import UserError
from boardrl.game import TERMINAL
from boardrl.kept import Kept
from boardrl.linear import find
from boardrl.match_record import Record
from boardrl.players import Player, make, make_lineup
from boardrl.weights import Weights
from launch import export, lineup, positions, train
from launch.fuzzing import garble
from launch.fuzzing.contract import Broken, Place, keeping
from launch.fuzzing.garble import Draw

Target = Callable[[Draw, Place], None]

GAMES = (
    *("tic_tac_toe", "pig:target=9", "pig:players=3,target=20", "kalah:houses=2,seeds=2", "ur:pieces=2"),
    *("ataxx:size=3", "connect_four:rows=4,columns=4", "jumper:size=3"),
    "ludo:rules=sdu_java,ring=8,column=2,pieces=2,players=3",
)
PLAYERS = (
    *("random", "perfect", "greedy", "greedy(value=lines)", "hold(total=15)", "human", "runs/none"),
    *("negascout(ms=50,kilobytes=1024)", "alphabeta(depth=3,killers=true,aspiration=0.1)", "minimax(nodes=100)"),
    *("expectimax(depth=2,star=2,table=false)", "maxn(depth=1)", "mcts(nodes=20,exploration=0.7,reuse=true)"),
    *("paranoid(depth=1)", "negascout(depth=1,evaluation=playouts(games=4))", "alphabeta(game_ms=100,depth=2)"),
    *("negascout(depth=1,learned=none.json)", "negascout(depth=1,net=runs/none)", "alphabeta(depth=1,weights=1+2)"),
)
ODD_CHECKPOINTS = ("0040", "-1", "9" * 30, "٣", "1e3", "7 ", "5.damaged", ".5.tmp", ".9.tmp", "café", "a,b")
ODD_RUNS = ("a,b", "a b", "a[b]", "a\\b", "a'b\"c", "-a", "a(b)", "a=b", "*", "é", "x" * 120, "%d", "a:b")


# --- run directories --------------------------------------------------------------------------------------------------


@functools.cache
def good_run() -> pathlib.Path:
    """A run directory as a short training leaves it, made once in a process."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="fuzz-run-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = folder / "run"
    game = registry.make("tic_tac_toe")
    settings = td_lambda.Config(games=20, lanes=2, window=2, hidden=(), parts=1)
    state = jax.device_get(td_lambda.init(settings, game, jax.random.key(0)))
    schedule = training.Schedule(evaluate_every=5)
    asked = {"game": "tic_tac_toe", "algo": "td_lambda", "seed": 0}
    asked |= {"settings": _fields(settings), "schedule": _fields(schedule)}
    with runs.Run.create(path, asked) as run:
        strength = training.Strength(
            "random", 10, 0.5, 0.2, 0.8, points=0.1, wins=5, draws=1, losses=4, seats=(0.5, 0.5), seed=3
        )
        for updates in (0, 5, 9):
            count = {"updates": updates, "games": 2 * updates}
            run.log("metrics.jsonl", {"kind": "strength", **count, **strength._asdict()})
            run.log("metrics.jsonl", {"kind": "train", **count, "loss": 0.5, "td_error": 0.1})
            run.log("speed.jsonl", {**count, "seconds": 0.5, "games_per_second": 20.0})
            now = state._replace(updates=np.int32(updates), games=np.int32(2 * updates))
            run.save(now, place={"rows": [], "evaluated": 2 * updates}, keep=3)
    return path


def _fields(settings: Any) -> dict[str, Any]:
    return json.loads(json.dumps({name: getattr(settings, name) for name in settings.__dataclass_fields__}))


def run_directory(draw: Draw, where: Place) -> None:
    """A run that somebody else has made is played, exported, or gone on with."""
    story: list[str] = []
    path = where.inside / draw(st.sampled_from(("run", "run", "run", *ODD_RUNS)))
    shutil.copytree(good_run(), path, symlinks=True)
    for _ in range(draw(st.integers(0, 3))):
        story.append(_garble_run(draw, path, where.outside))
    what = draw(st.sampled_from((_play_run, _resume_run, _resume_run, _export_run)))
    story.append(f"{what.__name__[1:]} {path.name!r}")
    with keeping(where, story):
        what(draw, path)


def _garble_run(draw: Draw, path: pathlib.Path, outside: pathlib.Path) -> str:
    """Changes something in a run directory; says what."""
    files = sorted(file for file in path.rglob("*") if file.is_file() and not file.is_symlink())
    manifests = sorted(path.glob(f"{runs.CHECKPOINTS}/*/{checkpoint.MANIFEST}"))
    what = draw(st.sampled_from(("config", "config", "log", "manifest", "manifest", "bytes", "entry", "entry", "name")))
    if what == "config" and (path / "config.json").is_file():
        garble.json_file(draw, path / "config.json")
        return f"config {(path / 'config.json').read_bytes()[:400]!r}"
    if what == "log":
        log = path / draw(st.sampled_from(runs.LOGS))
        if log.is_file():
            garble.json_lines(draw, log)
            return f"{log.name} {log.read_bytes()[:300]!r}"
    if what == "manifest" and manifests:
        return _garble_manifest(draw, draw(st.sampled_from(manifests)), reseal=draw(st.booleans()))
    if what == "bytes" and files:
        file = draw(st.sampled_from(files))
        file.write_bytes(garble.content(draw, file.read_bytes()))
        return f"bytes of {file.relative_to(path)}"
    if what == "name":
        step = draw(st.sampled_from(("0", "5", "9")))
        name = draw(st.sampled_from(ODD_CHECKPOINTS))
        source = path / runs.CHECKPOINTS / step
        if source.is_dir() and not source.is_symlink():
            shutil.copytree(source, source.with_name(name), dirs_exist_ok=True, symlinks=True)
        return f"checkpoint {step} as {name!r} too"
    chosen = draw(st.sampled_from(("lock", "metrics.jsonl", "config.json", "report.md", runs.CHECKPOINTS, ".7.tmp")))
    inner = draw(st.sampled_from(("", "", "5", "9", ".9.tmp", "9/arrays", "9/manifest.json", "9.damaged")))
    entry = path / runs.CHECKPOINTS / inner if inner else path / chosen
    if entry.parent.is_symlink() or not entry.parent.is_dir():
        return "nothing"
    return f"{entry.relative_to(path)} is {garble.entry(draw, entry, outside)}"


def _garble_manifest(draw: Draw, file: pathlib.Path, *, reseal: bool) -> str:
    """Changes a manifest; with its digest made anew, as one who wrote it in bad faith would have."""
    try:
        stored = json.loads(file.read_text())
        body = garble.json_value(draw, stored["manifest"])
        seal = checkpoint._seal(body) if reseal else stored["sha256"]
    except (ValueError, KeyError, TypeError, RecursionError):
        garble.json_file(draw, file)
        return "manifest once more"
    file.write_bytes(garble.dumps({"sha256": seal, "manifest": body}))
    return f"manifest of {file.parent.name} {str(body)[:400]}"


def _play_run(draw: Draw, path: pathlib.Path) -> None:
    game = registry.make("tic_tac_toe")
    (player,) = lineup.make(str(path), game)
    if player.policy is not None:
        logits = np.asarray(player.policy.apply(player.policy.params, game.init()))
        if np.isnan(logits).any():
            raise Broken("a player whose logits are not numbers")


def _resume_run(draw: Draw, path: pathlib.Path) -> None:
    """All of launch.train --resume but for the training itself."""

    def restored(task: training.Task, run: runs.Run) -> Any:
        template = jax.eval_shape(lambda: task.algorithm.init(task.config, task.game, jax.random.key(0)))
        found = run.restore(template, lambda line: None)
        if found is not None:
            _, place = found
            if not isinstance(place["rows"], list) or not isinstance(place["evaluated"], int):
                raise Broken(f"a place in the loop that is none: {place}")
        if draw(st.integers(0, 3)) == 0:  # it takes longer than all else
            plots.write(run, {})
        report.write(run, task.game, status="fuzzed")
        report.commands(run, task.game)
        raise UserError("enough")

    settings = train.TrainConfig(resume=str(path))
    more = train.more(settings)
    settings = train.TrainConfig(**{**_own(settings), **more.defaults})
    schedule, learning = (section.config(**section.defaults) for section in more.sections)
    with mock.patch.object(training, "train", restored):
        train.main(settings, schedule, learning)


def _own(settings: train.TrainConfig) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in settings.__dataclass_fields__}


def _export_run(draw: Draw, path: pathlib.Path) -> None:
    export.main(export.Config(run=str(path), to=str(path.parent / "weights.json")))


# --- single files -----------------------------------------------------------------------------------------------------


def weights_file(draw: Draw, where: Place) -> None:
    """A file of weights is loaded, and searched with."""
    game = registry.make("jumper:size=3")
    path = where.inside / draw(st.sampled_from(("w.json", "a b.json", "é.json")))
    names = find(game, "").names
    weights.save(path, Weights("jumper", "", names, tuple(0.5 for _ in names), "a command"))
    story = []
    if draw(st.integers(0, 9)):
        if draw(st.integers(0, 5)):
            garble.json_file(draw, path)
            story.append(f"{path.read_bytes()[:400]!r}")
        else:
            story.append(garble.entry(draw, path, where.outside))
    with keeping(where, story):
        player = make(f"negascout(depth=1,kilobytes=256,learned={path})", game)
        assert player.host is not None
        player.host.choose(game, jax.device_get(game.init()), np.random.default_rng(0))


class First:
    """Takes the first legal action."""

    def choose(self, game: Any, state: Any, rng: np.random.Generator) -> int:
        return int(np.flatnonzero(game.legal(state))[0])


SETTINGS = {"game": "tic_tac_toe", "games": 6}


@functools.cache
def _good_records() -> dict[str, bytes]:
    """Files of matches: one of policies side by side, one of games on the host."""
    found = {}
    for name in ("random", "first"):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "match.jsonl"
            _play_match(name, path)
            found[name] = path.read_bytes()
    return found


def _play_match(name: str, path: pathlib.Path) -> None:
    game = registry.make("tic_tac_toe")
    other = make_lineup("random", game)[0] if name == "random" else _first()
    match = arena.match(
        game, [*make_lineup("random", game), other], num_games=6, seed=1, record=Record(Kept(path, SETTINGS))
    )
    if sum(score.wins for score in match.players) + match.players[0].draws != 6:
        raise Broken("games that neither were won nor drawn")


@functools.cache
def _first() -> Player:
    from boardrl.bots import Bot

    return Player("first", host=Bot(First))


def match_record(draw: Draw, where: Place) -> None:
    """The file of a match that was stopped is gone on with."""
    name = draw(st.sampled_from(("random", "first")))
    path = where.inside / "match.jsonl"
    path.write_bytes(_good_records()[name])
    story = [name]
    if draw(st.integers(0, 9)):
        if draw(st.integers(0, 6)):
            garble.json_lines(draw, path)
            story.append(f"{path.read_bytes()[:600]!r}")
        else:
            story.append(garble.entry(draw, path, where.outside))
    with keeping(where, story):
        _play_match(name, path)


class _Tags(html.parser.HTMLParser):
    """Counts the elements that a page could run code with."""

    def __init__(self) -> None:
        super().__init__()
        self.scripts, self.handlers = 0, 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag in ("script", "iframe", "object", "embed", "img")
        self.handlers += sum(name.startswith("on") for name, _ in attrs)


def replay(draw: Draw, where: Place) -> None:
    """Names and captions in a replay stay text."""
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


# --- texts ------------------------------------------------------------------------------------------------------------


@functools.cache
def _step(text: str) -> Any:
    """A game, and a compiled step of it that takes the first legal action or outcome."""
    game: Any = registry.make(text)

    @jax.jit
    def step(state: Any) -> Any:
        move = jax.numpy.where(game.actor(state) >= 0, game.legal(state).argmax(), 0)
        if game.spec.num_outcomes:
            move = jax.numpy.where(game.actor(state) == -1, game.chance(state).argmax(), move)
        after = game.step(state, move.astype(np.int32))
        return game.actor(state), game.returns(state), game.legal(state).any(), after

    return game, step


@functools.cache
def _texts(name: str) -> list[str]:
    """Positions of one game at random, as texts."""
    game, step = _step(name)
    state, texts = game.init(), []
    for _ in range(40):
        texts.append(game.to_text(jax.device_get(state)))
        actor, *_, state = step(state)
        if int(actor) == TERMINAL:
            break
    return texts


def position(draw: Draw, where: Place) -> None:
    """A position is read: if it is taken, it can be played on from, and written as it was."""
    name = draw(st.sampled_from(GAMES))
    game, step = _step(name)
    text = draw(st.sampled_from(_texts(name)))
    for _ in range(draw(st.integers(0, 3))):
        text = garble.text(draw, text)
    with keeping(where, [name, repr(text)]):
        state = positions.parse(game, text)
        first = jax.eval_shape(game.init)
        kinds = [(leaf.shape, leaf.dtype) for leaf in jax.tree.leaves(state)]
        if kinds != [(leaf.shape, leaf.dtype) for leaf in jax.tree.leaves(first)]:
            raise Broken("a state of other shapes than the first")
        actor, returns, legal, _ = jax.device_get(step(state))
        if not -2 <= actor < game.spec.num_players or bool(legal) != (actor >= 0) or not np.isfinite(returns).all():
            raise Broken(f"actor {actor}, some action legal: {legal}, returns {returns}")
        again = game.to_text(jax.device_get(game.from_text(game.to_text(jax.device_get(state)))))
        if again != game.to_text(jax.device_get(state)):
            raise Broken(f"written as {game.to_text(jax.device_get(state))!r}, then as {again!r}")


def player_text(draw: Draw, where: Place) -> None:
    """A player is made from its text."""
    name = draw(st.sampled_from(("tic_tac_toe", "tic_tac_toe", "pig:target=9")))
    text = draw(st.sampled_from(PLAYERS))
    for _ in range(draw(st.integers(0, 2))):
        # Code of the user's own is the command line's to name: not part of this.
        text = garble.text(draw, text, odd=[odd for odd in garble.TEXTS if ":" not in odd])
    if ":" in text:
        return
    with keeping(where, [name, repr(text)]):
        for player in lineup.make(text, registry.make(name)):
            if (player.policy is None) == (player.host is None):
                raise Broken("a player that cannot play")


def game_text(draw: Draw, where: Place) -> None:
    """A game is made from its text, and is the same from the text that describes it."""
    text = draw(
        st.sampled_from((*GAMES, "jumper:size=6,density=0.3", "ludo", "kalah", "ataxx", "connect_four:rows=12"))
    )
    for _ in range(draw(st.integers(0, 3))):
        text = garble.text(draw, text)
    with keeping(where, [repr(text)]):
        game = registry.make(text)
        if registry.make(registry.describe(game)) != game:
            raise Broken(f"another game from {registry.describe(game)!r}")


TARGETS: dict[str, Target] = {
    "run": run_directory,
    "weights": weights_file,
    "record": match_record,
    "replay": replay,
    "position": position,
    "player": player_text,
    "game": game_text,
}
