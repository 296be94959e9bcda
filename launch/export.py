"""Writes what a run has learned, weights of a game's features or a value net, to a small file, with its command.

  python -m launch.export --run=runs/jumper_size_6-tdleaf-20250101T120000Z-s0 --to=weights.json
  python -m launch.evaluate --game=jumper --players='negascout(depth=3,learned=weights.json),random' --opening=4

A game can bring such files along, and players of its own that use them: docs/adding_a_game.md.
"""

from __future__ import annotations

import dataclasses
import pathlib
import shlex
from typing import Any

import numpy as np

from boardrl import options, registry
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.runs import learned, run_directory
from boardrl.values import linear, net_file, weight_file
from boardrl.values.linear import Linear
from boardrl.values.net_file import NetFile
from boardrl.values.nets import MLP, Scaled, ValueNet
from launch import cli
from launch.console import output


@dataclasses.dataclass(frozen=True)
class Config:
    run: str = setting("", "a run directory, or a checkpoint in it, that has learned weights of features or a net")
    to: str = setting("", "the file")
    overwrite: bool = setting(False, "replace the file if it exists")


def main(config: Config) -> None:
    path = output.free_path("to", config.to, overwrite=config.overwrite)
    if path is None or not config.run:
        raise UserError("--run and --to are both needed: what was learned, and the file for it")
    found = learned.load_run(pathlib.Path(config.run))
    value: Any = getattr(found.policy.apply, "value", None)
    folder = found.path.parent.parent  # of the checkpoint
    if isinstance(value, Scaled) and isinstance(value.net.module, MLP):
        save_net(path, value.net, found.policy.params, folder)
        return
    if not isinstance(value, Linear):
        raise UserError(
            f"--run={config.run} has learned neither weights of features nor an mlp; give a run that "
            "has, as of tdleaf or td_lambda"
        )
    names = linear.find(found.game, value.features).names
    values = tuple(np.asarray(found.policy.params, np.float64).tolist())
    weight_file.save(path, weight_file.Weights(found.game.spec.name, value.features, names, values, command(folder)))
    print(f"{len(values)} weights in {path}")


def save_net(path: pathlib.Path, net: ValueNet, params: Any, folder: pathlib.Path) -> None:
    """Writes the value net of a run in a folder."""
    module: Any = net.module
    game = registry.describe(net.game)
    described = NetFile(
        *(game, net.num_inputs, module.num_outputs, module.hidden, module.activation, command(folder), net.encoding),
        whole_turns=bool(run_directory.read_config(folder)["settings"].get("whole_turns", False)),
    )
    net_file.save(path, described, params)
    print(f"a net of {net.num_inputs} inputs in {path} ({path.stat().st_size:,} bytes)")


def command(folder: pathlib.Path) -> str:
    """The training of a run with all settings that are not the algorithm's own defaults."""
    stored = run_directory.read_config(folder)
    usual = dataclasses.asdict(registry.algorithm(stored["algo"]).Config())
    changed = {name: value for name, value in stored["settings"].items() if value != _as_stored(usual.get(name))}
    flags = {**{name: stored[name] for name in ("game", "algo", "seed")}, **changed}
    words = (f"--{options.format_options({name: value})}" for name, value in flags.items())
    return shlex.join(["python", "-m", "launch.train", *words])


def _as_stored(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


if __name__ == "__main__":
    cli.run(main, Config)
