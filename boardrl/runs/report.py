"""The report of a run: its settings, its strength, and the commands to continue it and to check its figures."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from boardrl import optional, options
from boardrl.game import Game
from boardrl.runs.progress import clock
from boardrl.runs.run_directory import Run

HEADER = ("opponent", "games", "win rate", "95 % interval", "draws", "losses", "points", "seed", "printed")


def write(run: Run, game: Game[Any], *, status: str, learned: Mapping[str, str] | None = None) -> None:
    """Replaces report.md."""
    run.write("report.md", text(run, game, status=status, learned=learned).encode())


def text(run: Run, game: Game[Any], *, status: str, learned: Mapping[str, str] | None = None) -> str:
    """The report as Markdown; `learned` describes the learned parameters, if there are only a few."""
    config, rows = run.config, run.logs["metrics.jsonl"]
    seconds = sum(row["seconds"] for row in run.logs["speed.jsonl"])
    timed = sum(row["seconds"] * row["games_per_second"] for row in run.logs["speed.jsonl"])
    done = rows[-1] if rows else {"games": 0, "updates": 0}
    facts = {
        "game": config["game"],
        "algorithm": config["algo"],
        "seed": config["seed"],
        "status": status,
        "trained": f"{done['games']:,} games, {done['updates']:,} updates",
        "time": f"{clock(seconds)} of updates, {timed / seconds:,.0f} games/s" if seconds else "not measured",
        "devices": config["devices"],
        "versions": ", ".join(f"{name} {version}" for name, version in config["versions"].items()),
    }
    return "\n".join(
        [
            f"# {config['algo']} on {config['game']}",
            "",
            *_table(("", ""), [(name, str(value)) for name, value in facts.items()]),
            "",
            "## Strength",
            "",
            *strength_lines(run, game),
            "",
            "![learning curve](learning_curve.png)",
            "",
            *(["## Learned", "", *_table(("", "value"), list(learned.items())), ""] if learned else []),
            "## Settings",
            "",
            *_table(("setting", "value"), _settings(config["settings"]) + _settings(config["schedule"])),
            "",
            "## Commands",
            "",
            "```",
            *commands(run, game),
            "```",
            "",
        ]
    )


def strength_lines(run: Run, game: Game[Any]) -> list[str]:
    """The latest evaluation as a table, beside the papers' figures."""
    printed = optional.printed(game)
    rows = latest(run)
    if not rows:
        return ["Not evaluated."]
    cells = [
        (
            row["opponent"],
            f"{row['played']:,}",
            f"{row['win_rate']:.2%}",
            f"{row['low']:.2%} to {row['high']:.2%}",
            f"{row['draws']:,}",
            f"{row['losses']:,}",
            f"{row['points']:+.4f}",
            str(row["seed"]),
            ", ".join(f"{share:.0%} {paper}" for paper, share in printed.get(row["opponent"], {}).items()),
        )
        for row in rows
    ]
    width = len(HEADER) if any(row[-1] for row in cells) else len(HEADER) - 1
    kind = "final" if rows[0]["kind"] == "final" else "latest"
    after = (
        f"The {kind} evaluation, after {rows[0]['games']:,} games of training; seats rotate, and the opponent takes "
    )
    how = "all but one."
    if any(row.get("duplicate") for row in rows):
        how += " Games of a round of seats have the same dice."
    if any(row.get("control") for row in rows):
        how += " Win rates and intervals are without luck, by the learned values; counts and points are plain."
    return [after + how, "", *_table(HEADER[:width], [row[:width] for row in cells])]


def commands(run: Run, game: Game[Any]) -> list[str]:
    """Commands that resume the run and reproduce each figure of the final evaluation."""
    lines = [resume_command(run)]
    for row in latest(run):
        lineup = options.join([str(run.path)] + [row["opponent"]] * (game.spec.num_players - 1))
        flags = {"game": run.config["game"], "players": lineup, "games": row["played"], "seed": row["seed"]}
        if opening := run.config["schedule"].get("evaluate_opening"):
            flags["opening"] = opening
        shown = " ".join(f"--{name}={shlex.quote(str(value))}" for name, value in flags.items())
        shown += " --duplicate" if row.get("duplicate") else ""
        shown += f" --control={shlex.quote(str(run.path))}" if row.get("control") else ""
        lines.append(f"python -m launch.evaluate {shown}{run.trust_flag}")
    return lines


def resume_command(run: Run) -> str:
    """The command that resumes a run."""
    return f"python -m launch.train {run.resume_flags}"


def latest(run: Run) -> list[dict[str, Any]]:
    """One row for each opponent of the latest evaluation."""
    rows = [row for row in run.logs["metrics.jsonl"] if row["kind"] in ("strength", "final")]
    return [row for row in rows if (row["updates"], row["kind"]) == (rows[-1]["updates"], rows[-1]["kind"])]


def _settings(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(name, options.format_options({"": value})[1:] or "''") for name, value in values.items()]


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A Markdown table that is also readable as plain text."""
    widths = [max(len(row[column]) for row in (header, *rows)) for column in range(len(header))]
    lines = [
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |" for row in (header, *rows)
    ]
    return [lines[0], "|" + "|".join("-" * (w + 2) for w in widths) + "|", *lines[1:]]
