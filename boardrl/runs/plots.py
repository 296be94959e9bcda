"""The learning curve of a run: strength with its interval, loss and speed over the number of training games."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from boardrl.runs.log_rows import POPULATION
from boardrl.runs.run_directory import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row = Mapping[str, Any]
Printed = Mapping[str, Mapping[str, float]]  # opponent, paper: win rate, as in a game's `printed`

COLOURS = ("#1f6f8b", "#d1495b", "#6a994e", "#8d5a97", "#e09f3e", "#3d405b")  # one per opponent
INK, PALE = "#2b2d42", "#b8bcc8"
LONGEST_NAME = 36  # characters of a label
MAX_POINTS = 2000  # per line: more than the picture has pixels


def write(run: Run, printed: Printed) -> None:
    """Replaces learning_curve.png."""
    title = f"{run.config['algo']} on {run.config['game']}, seed {run.config['seed']}"
    picture = learning_curve(run.logs["metrics.jsonl"], run.logs["speed.jsonl"], title, printed)
    run.write("learning_curve.png", picture)


def learning_curve(metrics: Sequence[Row], speed: Sequence[Row], title: str, printed: Printed) -> bytes:
    """A PNG of three panels over the number of games, with the papers' win rates as dashed lines."""
    figure = _figure(title, (8, 8))
    axes = figure.subplots(3, 1, sharex=True, height_ratios=(2.2, 1, 1))
    draw_strength(axes[0], [row for row in metrics if row["kind"] in ("strength", "final")], printed)
    train = [row for row in metrics if row["kind"] == "train"]
    draw_progress(axes[1], train)
    draw_line(axes[2], [row["games"] for row in speed], [row["games_per_second"] for row in speed], "games/s")
    axes[2].set_ylim(bottom=0)
    axes[2].set_xlabel("games trained", color=INK)
    for ax in axes:
        _tidy(ax)
    axes[2].xaxis.set_major_formatter(short)
    axes[2].yaxis.set_major_formatter(short)
    axes[2].set_xlim(left=0)
    figure.align_ylabels(axes)
    figure.subplots_adjust(
        left=0.1, right=0.97, top=0.93, bottom=0.07, hspace=0.12
    )  # a layout engine takes longer than the drawing
    return _png(figure)


def strength_curve(metrics: Sequence[Row], title: str, printed: Printed, *, by_seat: bool = False) -> bytes:
    """A PNG of the strength only."""
    figure = _figure(title, (8, 4.5))
    ax = figure.subplots()
    draw_strength(ax, metrics, printed, by_seat=by_seat)
    ax.set_xlabel("games trained", color=INK)
    ax.set_xlim(left=0)
    ax.xaxis.set_major_formatter(short)
    _tidy(ax)
    figure.subplots_adjust(left=0.1, right=0.97, top=0.9, bottom=0.12)
    return _png(figure)


def mean_curves(panels: Mapping[str, Sequence[Row]], title: str, label: str) -> bytes:
    """A PNG of panels side by side; a row has the number of training games, the opponent, and a mean with interval."""
    figure = _figure(title, (4 * len(panels), 4))
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    axes[0].set_ylabel(label, color=INK)
    for ax, (name, rows) in zip(axes, panels.items(), strict=True):
        for index, opponent in enumerate(dict.fromkeys(row["opponent"] for row in rows)):
            mine = [row for row in rows if row["opponent"] == opponent]
            games, mean, low, high = ([row[k] for row in mine] for k in ("games", "mean", "low", "high"))
            colour = COLOURS[index % len(COLOURS)]
            ax.fill_between(games, low, high, color=colour, alpha=0.2, linewidth=0)
            ax.plot(games, mean, color=colour, linewidth=1.8, marker="o", markersize=3, label=opponent)
        ax.axhline(0, color=PALE, linewidth=1)
        ax.set_title(name, color=INK, fontsize=10)
        ax.set_xlabel("games trained", color=INK)
        ax.set_xlim(left=0)
        ax.xaxis.set_major_formatter(short)
        _tidy(ax)
    axes[0].legend(loc="best", frameon=False, labelcolor=INK, fontsize=9)
    figure.subplots_adjust(left=0.06, right=0.98, top=0.84, bottom=0.13, wspace=0.18)
    return _png(figure)


def ratings(players: Sequence[Row], title: str) -> bytes:
    """A PNG of ratings with their intervals; a row has a name, `rating`, `low` and `high`."""
    height = 1.3 + 0.3 * len(players)
    figure = _figure(title, (8, height))
    ax = figure.subplots()
    draw_ratings(ax, players)
    _tidy(ax)
    ax.grid(axis="x", color=PALE, alpha=0.35, linewidth=0.7)
    figure.subplots_adjust(left=0.36, right=0.97, top=1 - 0.5 / height, bottom=0.55 / height)
    return _png(figure)


def interval_dots(panels: Mapping[str, Sequence[Row]], title: str, label: str) -> bytes:
    """A PNG of a panel for each title: a dot for `value` and a line from `low` to `high` for each named row."""
    count = max(map(len, panels.values()))
    height = 1.3 + 0.3 * count
    figure = _figure(title, (2.5 + 4.5 * len(panels), height))
    axes = figure.subplots(1, len(panels), squeeze=False, sharey=True)[0]
    for number, (ax, (name, rows)) in enumerate(zip(axes, panels.items(), strict=True)):
        colour = COLOURS[number % len(COLOURS)]
        for place, row in enumerate(rows):
            ax.plot([row["low"], row["high"]], [place, place], color=colour, linewidth=2.2, solid_capstyle="round")
            ax.plot(row["value"], place, color=colour, marker="o", markersize=5)
        ax.set_yticks(range(len(rows)), [_shortened(row["name"]) for row in rows])
        ax.set_title(name, color=INK, fontsize=10)
        ax.set_xlabel(label, color=INK)
        _tidy(ax)
        ax.grid(axis="x", color=PALE, alpha=0.35, linewidth=0.7)
    axes[0].set_ylim(count - 0.3, -0.7)  # the first on top
    figure.subplots_adjust(left=2.2 / (2.5 + 4.5 * len(panels)), right=0.98, top=1 - 0.7 / height, bottom=0.55 / height)
    return _png(figure)


def draw_ratings(ax: Axes, players: Sequence[Row]) -> None:
    """Draws one row per player, the best on top: a dot for the rating and a line for its interval."""
    rows = sorted(players, key=lambda row: row["rating"])
    for place, row in enumerate(rows):
        low, high = row["low"], row["high"]
        ax.plot([low, high], [place, place], color=COLOURS[0], linewidth=2.2, solid_capstyle="round")
        ax.plot(row["rating"], place, color=COLOURS[0], marker="o", markersize=5)
        number = f"{row['rating']:.0f}"
        ax.annotate(number, (high, place), (6, 0), textcoords="offset points", va="center", fontsize=8, color=INK)
    ax.set_yticks(range(len(rows)), [_shortened(row["name"]) for row in rows])
    ax.set_ylim(-0.7, len(rows) - 0.3)
    ax.set_xlabel("rating (Elo scale, mean 1500) with its 95 % interval", color=INK)
    ax.margins(x=0.08)


def _shortened(name: str) -> str:
    """A player's name, with the middle of a long name replaced by an ellipsis."""
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME // 2 - 1]}…{name[-LONGEST_NAME // 2 :]}"


def points_curve(
    x: Sequence[float],
    y: Sequence[float],
    title: str,
    printed: Mapping[str, Sequence[tuple[float, float]]],
    *,
    x_label: str,
    y_label: str,
) -> bytes:
    """A PNG of one measured line, with the papers' points in its range as crosses."""
    figure = _figure(title, (8, 4.5))
    ax = figure.subplots()
    ax.plot(x, y, color=COLOURS[0], linewidth=1.5, marker="o", markersize=3, label="ours")
    for (name, points), colour in zip(printed.items(), COLOURS[1:], strict=False):
        inside = [point for point in points if point[0] <= max(x)]
        if inside:
            ax.plot(*zip(*inside, strict=True), color=colour, marker="x", linestyle="none", label=name)
    ax.set_xlabel(x_label, color=INK)
    ax.set_ylabel(y_label, color=INK)
    ax.xaxis.set_major_formatter(short)
    ax.yaxis.set_major_formatter(short)
    ax.set_xlim(left=0)
    ax.legend(loc="best", frameon=False, labelcolor=INK, fontsize=9)
    _tidy(ax)
    figure.subplots_adjust(left=0.1, right=0.97, top=0.9, bottom=0.12)
    return _png(figure)


def review_chart(names: Sequence[str], losses: Sequence[Row], rolls: Sequence[Row], title: str) -> bytes:
    """A PNG of a reviewed game over its steps: what each decision lost, and each player's luck so far.

    Args:
      losses: rows with `step`, `seat` and `loss`.
      rolls: rows with `step` and [P] `luck`.
    """
    figure = _figure(title, (9, 6))
    axes = figure.subplots(2, 1, sharex=True)
    for seat, name in enumerate(names):
        colour = COLOURS[seat % len(COLOURS)]
        mine = [row for row in losses if row["seat"] == seat]
        label = f"seat {seat}, {_shortened(name)}: {sum(row['loss'] for row in mine):.3f}"
        axes[0].vlines([row["step"] for row in mine], 0, [row["loss"] for row in mine], color=colour, label=label)
        total = np.cumsum([0.0, *(row["luck"][seat] for row in rolls)])
        steps = [0, *(row["step"] for row in rolls)]
        axes[1].step(steps, total, color=colour, where="post", linewidth=1.5, label=f"seat {seat}: {total[-1]:+.3f}")
    axes[0].set_ylabel("loss of a decision", color=INK)
    axes[1].set_ylabel("luck so far", color=INK)
    axes[1].set_xlabel("step of the game", color=INK)
    axes[1].axhline(0, color=PALE, linewidth=1)
    for ax in axes:
        ax.legend(loc="best", frameon=False, labelcolor=INK, fontsize=8)
        _tidy(ax)
    axes[0].set_ylim(bottom=0)
    figure.subplots_adjust(left=0.1, right=0.97, top=0.92, bottom=0.08, hspace=0.1)
    return _png(figure)


def _figure(title: str, size: tuple[float, float]) -> Figure:
    # Imported here because it is slow. No pyplot: a picture needs no window and no global state.
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, dpi=110)
    figure.suptitle(title, x=0.02, ha="left", color=INK, fontsize=13, fontweight="bold")
    return figure


def _tidy(ax: Axes) -> None:
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(PALE)
    ax.tick_params(colors=INK, labelsize=9)
    ax.grid(axis="y", color=PALE, alpha=0.35, linewidth=0.7)
    ax.set_axisbelow(True)


def _png(figure: Figure) -> bytes:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    picture = io.BytesIO()
    FigureCanvasAgg(figure).print_png(picture)
    return picture.getvalue()


def draw_strength(ax: Axes, rows: Sequence[Row], printed: Printed, *, by_seat: bool = False) -> None:
    """Draws the win rate against each opponent, with its 95 % interval as a band and the final evaluation as a dot;
    with `by_seat` the band spans the win rates from the worst to the best seat."""
    ax.set_ylabel("win rate, from the worst to the best seat" if by_seat else "win rate", color=INK)
    ax.set_ylim(-0.02, 1.02)
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    for index, opponent in enumerate(dict.fromkeys(row["opponent"] for row in rows)):
        colour = COLOURS[index % len(COLOURS)]
        mine = sorted((row for row in rows if row["opponent"] == opponent), key=lambda row: row["games"])
        games, rate, low, high = (np.array([row[k] for row in mine]) for k in ("games", "win_rate", "low", "high"))
        if by_seat:
            low, high = (np.array([extreme(row["seats"]) for row in mine]) for extreme in (min, max))
        ax.fill_between(games, low, high, color=colour, alpha=0.2, linewidth=0)
        ax.plot(
            games, rate, color=colour, linewidth=1.8, marker="o", markersize=3, label=f"vs {opponent}  {rate[-1]:.1%}"
        )
        for paper, share in printed.get(opponent, {}).items():
            label = f"vs {opponent}  {share:.0%} in {paper}"
            ax.axhline(share, color=colour, linestyle="--", linewidth=1.2, alpha=0.7, label=label)
        for row in mine:
            if row["kind"] == "final":
                ax.errorbar(
                    row["games"],
                    row["win_rate"],
                    yerr=[[max(row["win_rate"] - row["low"], 0)], [max(row["high"] - row["win_rate"], 0)]],
                    color=colour,
                    marker="o",
                    markersize=6,
                    capsize=4,
                )
    if rows:
        ax.legend(loc="best", frameon=False, labelcolor=INK, fontsize=9)


def draw_line(ax: Axes, x: Sequence[float], y: Sequence[float], label: str) -> None:
    """Draws every value in a pale colour, and on top the running mean over a 30th of the values."""
    ax.set_ylabel(label, color=INK)
    if len(x) == 0:
        return
    stride = -(-len(x) // MAX_POINTS)
    ax.plot(x[::stride], y[::stride], color=PALE, linewidth=0.8)
    width = max(1, len(y) // 30)
    ax.plot(x[::stride], running_mean(np.asarray(y, float), width)[::stride], color=INK, linewidth=1.6)


def draw_progress(ax: Axes, rows: Sequence[Row]) -> None:
    """Draws the loss or, for a population, the points of its best, mean and worst member."""
    if not rows or "loss" in rows[0]:
        rows = [row for row in rows if "loss" in row]
        draw_line(ax, [row["games"] for row in rows], [row["loss"] for row in rows], "loss")
        return
    rows = [row for row in rows if all(name in row for name in POPULATION)]
    games = [row["games"] for row in rows]
    ax.set_ylabel("points a game", color=INK)
    stride = -(-len(games) // MAX_POINTS)
    for name, colour in zip(POPULATION, COLOURS, strict=False):
        values = running_mean(np.array([row[name] for row in rows], float), len(rows) // 60)
        ax.plot(games[::stride], values[::stride], color=colour, linewidth=1.4, label=name)
    ax.legend(loc="best", frameon=False, labelcolor=INK, fontsize=9, ncols=len(POPULATION))


def running_mean(values: np.ndarray, width: int) -> np.ndarray:
    """[N] centred running mean over up to `width` values on either side, equally many left and right."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    index = np.arange(len(values))
    reach = np.minimum(np.minimum(index, index[::-1]), width)
    return (sums[index + reach + 1] - sums[index - reach]) / (2 * reach + 1)


def short(value: float, _: object = None) -> str:
    """1500 as '1.5k', 2000000 as '2M'."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"
