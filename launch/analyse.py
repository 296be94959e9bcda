"""Searches one position and tells its value and best line, or with --multi its best moves, each with value and line.

    python -m launch.analyse --game=jumper:size=6 --position=board.txt --searcher=negascout --depth=7 --json=out.json
    python -m launch.analyse --game=jumper:size=6 --learned=best --depth=5 --multi=3
    python -m launch.analyse --game=tic_tac_toe --net=runs/<run> --depth=2 --multi=9

A node is a position visited: the root, every position searched below it and every leaf valued. The value is a vector
over players, the line (pv) is in the game's notation.
"""

from __future__ import annotations

import dataclasses
import pathlib
from typing import Any

from boardrl import registry
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.runs import learned
from launch import cli
from launch.console import output, positions, search_progress
from search import evaluation, searchers
from search.analysis import turns
from search.analysis.multi_pv import Move
from search.budget import Budget
from search.evaluation import Evaluation
from search.result import Result
from search.searcher import Searcher


@dataclasses.dataclass(frozen=True)
class Config(Budget, Evaluation):
    game: str = setting("tic_tac_toe", "the game, with its options")
    position: str = setting("", "file with the position, as the game writes it; empty: the first")
    searcher: str = setting(
        "", f"one of {', '.join(searchers.names())}; empty: negascout, expectimax with dice, maxn for more players"
    )
    multi: int = setting(0, "how many of the best moves to tell, each with its value and line; 0: the best line alone")
    json: str = setting("", "file for the result; empty: none")
    overwrite: bool = setting(False, "replace the --json file if it exists")


def main(config: Config, options: Any) -> None:
    path = output.free_path("json", config.json, overwrite=config.overwrite)
    game: Any = registry.make(config.game)
    name = config.searcher or searchers.by_depth(game)
    searchers.refuse(name, game)
    state = positions.read(game, config.position)
    if config.multi < 0:
        raise UserError(f"--multi={config.multi} is no number of moves; expected 0 or more")
    search_progress.note_if_unlimited(config)
    evaluator = evaluation.choose(game, config, searchers.find(name), config, load=learned.load_run)
    searcher = searchers.make(game, name, options, budget=config, evaluator=evaluator)
    if not config.multi:
        show(content_of(searcher, searcher.complete(search_progress.search(searcher, state))), path)
        return
    result, moves = search_progress.best_moves(searcher, state, config.multi)
    content = content_of(searcher, result._replace(line=moves[0].line))
    show({**content, "moves": [_move(searcher, move) for move in moves]}, path)


def content_of(searcher: Searcher, result: Result) -> dict[str, Any]:
    """A result as it is written to a file."""
    if result.overflows:
        print(f"{result.overflows:,} positions were left out for want of memory; give more --kilobytes")
    return {
        "value": result.value.tolist(),
        "pv": turns.text(searcher.facet, result.line),
        "depth": result.depth,
        "nodes": result.nodes,
        "nodes_per_second": result.nodes_per_second,
        "milliseconds": result.milliseconds,
        "bytes": result.bytes,
        "exact": result.exact,
        "evaluation": result.evaluation,
        **({} if result.visits is None else {"visits": result.visits.tolist()}),
    }


def _move(searcher: Searcher, move: Move) -> dict[str, Any]:
    pv = turns.text(searcher.facet, move.line)
    return {"move": pv[0], "value": move.value.tolist(), "pv": pv}


def show(content: dict[str, Any], path: pathlib.Path | None) -> None:
    """Prints a result, and writes it where the user wants it."""
    source = "exact" if content["exact"] else f"by {content['evaluation']}"
    print(f"value   {_numbers(content['value'])} ({source})")
    for place, move in enumerate(content.get("moves", ()), 1):
        print(f"{f'{place}.':7} {_numbers(move['value'])}  {', '.join(move['pv'])}")
    if "moves" not in content:
        print("line    " + ", ".join(content["pv"]))
    print(
        f"depth {content['depth']}, {content['nodes']:,} nodes in {content['milliseconds']:,.1f} ms "
        f"({content['nodes_per_second'] / 1e6:.2f} million/s), {content['bytes'] / 1024:,.0f} kilobytes"
    )
    output.write_json(path, content)


def _numbers(value: list[float]) -> str:
    return " ".join(f"{number:+.6g}" for number in value)


def options_of(config: Config) -> cli.More:
    name = config.searcher or searchers.by_depth(registry.make(config.game))
    return cli.More([cli.Section(f"options of {name}", searchers.find(name).options)])


if __name__ == "__main__":
    cli.run(main, Config, more=options_of)
