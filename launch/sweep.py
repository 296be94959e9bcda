"""Trains with every combination of some settings, and compares them.

    python -m launch.sweep --game=tic_tac_toe --algo=td_lambda --over='decay=0.5,0.7,0.9;seed=0..4' --games=20000
    python -m launch.sweep --resume=runs/<sweep>

--over names settings of launch.train with their values: a list, or a range of whole numbers as 0..4. Other flags are
those of launch.train, and the same for all. The trainings are spread over the --workers, each on one of them. A sweep
has a directory of its own:

    <combination>/   the run directory of each training, as launch.train makes it
    sweep.jsonl      the final results as trainings finish: Ctrl-C, SIGTERM and kill -9 keep them, and --resume goes on
    sweep.json       the numbers of the table
    sweep.png        win rates with their intervals

Seeds are repetitions: with several, a win rate is their mean, with a 95 % interval by Student's t that is at least as
wide as that of their games; with one, it has the interval of its games.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import pathlib
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import rich.table
from rich.text import Text

from boardrl import config, options, registry, workers
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.runs import grid, plots, progress
from boardrl.runs import run_directory as runs
from boardrl.runs.saved_results import Kept
from boardrl.runs.training import Schedule
from boardrl.system import atomic_files, interrupt
from boardrl.workers import text_form
from boardrl.workers.job import Handler
from launch import cli, train
from launch.console import output
from launch.papers import cell as statistics
from launch.papers import trained

RESULTS, NUMBERS, PICTURE = "sweep.jsonl", "sweep.json", "sweep.png"
MARKER = "sweep.id"  # by which a worker sees whether it shares this machine's files
STORED = ("game", "algo", "preset", "over", "flags")  # what the results depend on


@dataclasses.dataclass(frozen=True)
class Settings:
    game: str = setting("", f"what is played, with its options; known: {', '.join(registry.names())}")
    algo: str = setting("td_lambda", f"how it is learned; known: {', '.join(registry.names(registry.ALGORITHMS))}")
    preset: str = setting("", "a paper's settings, as in launch.train")
    over: str = setting("", "settings and their values, like decay=0.5,0.7,0.9;seed=0..4")
    run: str = setting("", "directory of the sweep; empty: runs/<game>-sweep-<time>-s0")
    resume: str = setting("", "directory of a sweep to go on with; its settings need not be given again")
    workers: str = setting("local", text_form.HELP)

    def __post_init__(self) -> None:
        if self.resume and self.run:
            raise UserError("--resume names the directory already; leave out --run")


def more(settings: Settings) -> cli.More:
    """The settings of launch.train, with the defaults of the game, or of the sweep that is gone on with."""
    own = _stored(pathlib.Path(settings.resume)) if settings.resume else {}
    flags = own.pop("flags", {})
    asked = {name: own.get(name, getattr(settings, name)) for name in ("game", "algo", "preset")}
    sections = train.more(train.TrainConfig(**asked)).sections
    filled = [section._replace(defaults={**section.defaults, **_fields(section.config, flags)}) for section in sections]
    return cli.More(filled, own)


def _fields(kind: type, flags: Mapping[str, Any]) -> dict[str, Any]:
    names = {field.name for field in dataclasses.fields(kind)}
    return {name: tuple(value) if isinstance(value, list) else value for name, value in flags.items() if name in names}


def _stored(folder: pathlib.Path) -> dict[str, Any]:
    """The settings in the first line of a sweep's results."""
    try:
        with (folder / RESULTS).open("rb") as file:
            found = json.loads(file.readline())["settings"]
            return {name: found[name] for name in STORED}
    except OSError:
        raise UserError(f"--resume={folder} is no directory of a sweep: it has no {RESULTS}") from None
    except (ValueError, KeyError, TypeError):
        raise UserError(f"{str(folder / RESULTS)!r} is damaged, or of another kind; start a new sweep") from None


def main(settings: Settings, schedule: Schedule, learning: Any) -> None:
    if not settings.game:
        raise UserError(f"no game given: expected --game=NAME with one of {', '.join(registry.names())}")
    if not settings.over:
        raise UserError(f"nothing to vary: expected --over=NAME=VALUES like {grid.EXAMPLE}")
    game = registry.make(settings.game)
    known = {option.name: option for part in (Schedule, type(learning)) for option in options.of_dataclass(part)}
    seed = next(option for option in options.of_dataclass(train.TrainConfig) if option.name == "seed")
    values = grid.parse(settings.over, {"seed": seed, **known})
    cells = grid.cells(values)
    flags = {**dataclasses.asdict(schedule), **dataclasses.asdict(learning)}
    for cell in cells:  # all mistakes before the first training
        _check(settings, {**flags, **cell}, type(learning), game)
    folder = pathlib.Path(settings.resume or settings.run or "")
    if not settings.resume:
        if settings.run and folder.exists():
            raise UserError(f"--run={folder} exists already; give another name, or go on with --resume={folder}")
        folder = folder if settings.run else runs.default_path(pathlib.Path("runs"), game, "sweep", 0)
    numbers = play(settings, cells, flags, folder, game=registry.describe(game))
    output.console().print(table(numbers))
    atomic_files.write(folder / NUMBERS, (json.dumps(numbers, indent=2, allow_nan=False) + "\n").encode())
    atomic_files.write(folder / PICTURE, picture(numbers))
    print(f"plot      {folder / PICTURE}\nnumbers   {folder / NUMBERS}")


def _check(settings: Settings, flags: Mapping[str, Any], kind: type, game: Any) -> None:
    """Refuses a combination that cannot be trained."""
    config.from_dict(Schedule, _fields(Schedule, flags))
    learning: Any = config.from_dict(kind, _fields(kind, flags))
    registry.algorithm(settings.algo).check(learning, game)
    train.TrainConfig(seed=flags.get("seed", 0))


def play(
    settings: Settings, cells: Sequence[grid.Cell], flags: Mapping[str, Any], folder: pathlib.Path, *, game: str
) -> dict[str, Any]:
    """Trains what is missing of a sweep; its numbers."""
    depends = {"game": game, "algo": settings.algo, "preset": settings.preset, "over": settings.over, "flags": flags}
    kept = Kept(folder / RESULTS, depends)
    if not (folder / MARKER).exists():
        folder.mkdir(parents=True, exist_ok=True)
        atomic_files.write(folder / MARKER, f"{folder.resolve()}\n".encode())
    left = [cell for cell in cells if grid.name(cell) not in kept.rows]
    print(f"{len(cells):,} trainings of {settings.algo} on {game} in {folder}", file=sys.stderr)
    again = f"the same command with --resume={folder} in place of --run goes on"

    def stopped() -> str:
        return f"stopped with {len(kept.rows):,} of {len(cells):,} trainings done; {again}"

    items: list[dict[str, Any]] = [
        {"name": grid.name(cell), "flags": _texts({"game": game, "algo": settings.algo, **flags, **cell})}
        for cell in left
    ]
    job = workers.Job(Trainings, (str(folder.resolve()),), items)
    try:
        with interrupt.keeping(stopped), progress.track("training", len(cells), "runs") as bar:
            bar.restart(len(kept.rows))
            with contextlib.closing(workers.active().run(job)) as results:
                for index, found in results:
                    for name, content in found["files"].items():  # of a worker with files of its own
                        atomic_files.write(_made(folder / items[index]["name"] / name), content)
                    kept.add(items[index]["name"], found["final"])
                    bar.update(len(kept.rows), f"{items[index]['name']}: {_shown(found['final'])}")
    except KeyboardInterrupt:
        print(stopped(), file=sys.stderr)
        sys.exit(interrupt.EXIT_CODE)
    return {"game": game, "algo": settings.algo, "over": settings.over, "rows": summarised(cells, kept.rows)}


def _texts(flags: Mapping[str, Any]) -> dict[str, str]:
    """Flags as they are written on the command line."""
    return {name: options.format_options({"": value})[1:] for name, value in flags.items()}


def _made(path: pathlib.Path) -> pathlib.Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _shown(rows: Sequence[Mapping[str, Any]]) -> str:
    return "  ".join(f"vs {row['opponent']} {100 * row['win_rate']:.1f} %" for row in rows)


class Trainings(Handler):
    """Trains one combination of settings an item, in its run directory, from its newest checkpoint if it has one."""

    def __init__(self, folder: str) -> None:
        self.folder = pathlib.Path(folder)

    @classmethod
    def to_data(cls, folder: str) -> str:
        return folder

    @classmethod
    def from_data(cls, data: str) -> Self:
        return cls(data)

    @classmethod
    def name(cls, item: dict[str, Any]) -> str:
        return f"the training with {item['name']}"

    def run(self, item: dict[str, Any]) -> dict[str, Any]:
        """The rows of the final evaluation, and the files of the run where the sweep's directory is not shared."""
        marker = self.folder / MARKER
        shared = marker.exists() and marker.read_text().strip() == str(self.folder)
        with contextlib.ExitStack() as stack:
            folder = self.folder
            if not shared:
                import tempfile

                folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="boardrl-sweep-")))
            path = folder / item["name"]
            log = stack.enter_context((folder / f"{item['name']}.log").open("a"))
            with contextlib.redirect_stdout(log), contextlib.redirect_stderr(log):
                begun = (path / "config.json").exists()
                flags = {"resume": str(path)} if begun else {"run": str(path), **item["flags"]}
                self._train({**flags, "workers": "local:1"})
            final = trained.rows(path, "final")
            files = {} if shared else {str(p.relative_to(path)): p.read_bytes() for p in path.rglob("*") if p.is_file()}
        return {"final": final, "files": files}

    def _train(self, flags: Mapping[str, str]) -> None:
        try:
            with workers.using(workers.Local(1)):
                cli.run(
                    train.main,
                    train.TrainConfig,
                    more=train.more,
                    argv=["train", *(f"--{name}={value}" for name, value in flags.items())],
                )
        except SystemExit as ended:
            if ended.code:
                where = flags.get("run") or flags["resume"]
                raise UserError(f"the training in {where!r} ended with exit code {ended.code}; see its .log") from None


def summarised(cells: Sequence[grid.Cell], found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A row for each combination without its seed and each opponent: win rate in % and its interval."""
    together: dict[str, list[Any]] = {}
    for cell in cells:
        name = grid.name({key: value for key, value in cell.items() if key != "seed"})
        together.setdefault(name, []).append(found[grid.name(cell)])
    rows = []
    for name, several in together.items():
        for column in zip(*several, strict=True):
            rates = np.array([100 * row["win_rate"] for row in column])
            value, low, high = interval(rates, np.array([[100 * row["low"], 100 * row["high"]] for row in column]))
            least, most = float(rates.min()), float(rates.max())
            row = {"name": name, "opponent": column[0]["opponent"], "runs": len(rates), "value": value}
            rows.append({**row, "low": low, "high": high, "least": least, "most": most})
    return rows


def interval(rates: np.ndarray, of_games: np.ndarray) -> tuple[float, float, float]:
    """(mean, low, high) in % of the win rates of runs that differ in their seed.

    By Student's t, but never narrower than what the games of all runs together allow: few runs may agree by chance.

    Args:
      rates, of_games: [N] win rates, and [N, 2] their intervals from the games of each run.
    """
    if len(rates) == 1:
        return float(rates[0]), float(of_games[0, 0]), float(of_games[0, 1])
    mean, low, high = statistics.mean(rates)
    below, above = (np.sqrt(np.square(of_games[:, side] - rates).sum()) / len(rates) for side in (0, 1))
    return mean, max(min(low, mean - float(below)), 0.0), min(max(high, mean + float(above)), 100.0)


def table(numbers: Mapping[str, Any]) -> rich.table.Table:
    """The rows of a sweep, the best of each opponent marked."""
    title = f"{numbers['algo']} on {numbers['game']}: win rates over {numbers['over']}"
    made = rich.table.Table(title=title, title_justify="left")
    for column in ("settings", "against", "runs", "win rate %", "95 %", "least to most"):
        made.add_column(column, justify="left" if column in ("settings", "against") else "right", overflow="fold")
    best = {row["opponent"]: max(r["value"] for r in numbers["rows"] if r["opponent"] == row["opponent"])
            for row in numbers["rows"]}  # fmt: skip
    for row in numbers["rows"]:
        mark = " *" if row["value"] == best[row["opponent"]] else ""
        made.add_row(
            Text(row["name"]),
            Text(row["opponent"]),
            str(row["runs"]),
            f"{row['value']:.2f}{mark}",
            f"{row['low']:.2f} to {row['high']:.2f}",
            f"{row['least']:.2f} to {row['most']:.2f}" if row["runs"] > 1 else "",
        )
    return made


def picture(numbers: Mapping[str, Any]) -> bytes:
    """A PNG: a panel for each opponent."""
    panels: dict[str, list[dict[str, Any]]] = {}
    for row in numbers["rows"]:
        panels.setdefault(f"against {row['opponent']}", []).append(row)
    title = f"{numbers['algo']} on {numbers['game']}"
    return plots.interval_dots(panels, title, "win rate in % with its 95 % interval")


if __name__ == "__main__":
    cli.run(main, Settings, more=more)
