"""Searches one position and tells its value and best line.

    python -m launch.analyse --game=jumper:size=6 --position=board.txt --searcher=negascout --depth=7 --json=out.json

A node is a position visited: the root, every position searched below it and every leaf valued. The value is a vector
over players, the line (pv) is in the game's notation.
"""

from __future__ import annotations

import dataclasses
import pathlib
from typing import Any

from boardrl import host, registry
from boardrl.config import setting
from launch import cli, output, positions, watch
from search import evaluators, kinds, line
from search.budget import Budget
from search.searcher import Result, Searcher


@dataclasses.dataclass(frozen=True)
class Config(Budget):
    game: str = setting("tic_tac_toe", "the game, with its options")
    position: str = setting("", "file with the position, as the game writes it; empty: the first")
    searcher: str = setting("negascout", f"one of {', '.join(kinds.KINDS)}")
    weights: tuple[float, ...] = setting((), "of the game's features; empty: the game's own, or no evaluation")
    evaluate: bool = setting(True, "value positions at the depth limit by features, where the game has them")
    lowered: bool = setting(False, "use the rules in JAX even if the game has faster ones of its own")
    json: str = setting("", "file for the result; empty: none")
    overwrite: bool = setting(False, "replace the --json file if it exists")


def main(config: Config, options: Any) -> None:
    path = output.free_path("json", config.json, overwrite=config.overwrite)
    game: Any = registry.make(config.game)
    kinds.find(config.searcher).refuse(config.searcher, game)
    state = positions.read(game, config.position)
    watch.note_if_unlimited(config)
    facet = host.lowered(game) if config.lowered else host.of(game)
    evaluator = evaluators.default(facet, config.weights) if config.evaluate else evaluators.none(facet)
    searcher = Searcher(game, config.searcher, options, budget=config, evaluator=evaluator, facet=facet)
    show(content_of(searcher, searcher.complete(watch.search(searcher, state))), path)


def content_of(searcher: Searcher, result: Result) -> dict[str, Any]:
    """A result as it is written to a file."""
    if result.overflows:
        print(f"{result.overflows:,} positions were left out for want of memory; give more --kilobytes")
    return {
        "value": [float(value) for value in result.value],
        "pv": line.text(searcher.facet, result.line),
        "depth": result.depth,
        "nodes": result.nodes,
        "nodes_per_second": result.nodes_per_second,
        "milliseconds": result.milliseconds,
        "bytes": result.bytes,
        "exact": result.exact,
    }


def show(content: dict[str, Any], path: pathlib.Path | None) -> None:
    """Prints a result, and writes it where the user wants it."""
    print("value   " + " ".join(f"{value:+.6g}" for value in content["value"]) + " (exact)" * content["exact"])
    print("line    " + ", ".join(content["pv"]))
    print(
        f"depth {content['depth']}, {content['nodes']:,} nodes in {content['milliseconds']:,.1f} ms "
        f"({content['nodes_per_second'] / 1e6:.2f} million/s), {content['bytes'] / 1024:,.0f} kilobytes"
    )
    output.write_json(path, content)


def options_of(config: Config) -> cli.More:
    return cli.More([cli.Section(f"options of {config.searcher}", kinds.find(config.searcher).options)])


if __name__ == "__main__":
    cli.run(main, Config, more=options_of)
