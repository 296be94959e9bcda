"""Targets of the fuzzer: functions that draw a case, corrupt good input and read it, by name."""

from __future__ import annotations

from collections.abc import Callable

from launch.dev.fuzzing import files, run_directory, texts
from launch.dev.fuzzing.contract import Place
from launch.dev.fuzzing.garble import Draw

Target = Callable[[Draw, Place], None]

TARGETS: dict[str, Target] = {
    "run": run_directory.garbled_run,
    "weights": files.weights_file,
    "record": files.match_record,
    "replay": files.replay,
    "replay_json": files.replay_json,
    "position": texts.position,
    "player": texts.player_text,
    "game": texts.game_text,
    "settings": texts.settings,
}
