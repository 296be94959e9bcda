"""The map of folders, and who may import whom: reads every import of every module."""

from __future__ import annotations

import ast
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[1]
MAY_IMPORT = {
    "boardrl": set(),
    "games": {"boardrl"},
    "search": {"boardrl"},
    "algorithms": {"boardrl", "search"},
    "launch": {"boardrl", "games", "search", "algorithms"},
}
OURS = {*MAY_IMPORT, "tests"}

# Every folder with code, and how many files it may have: a reader should take in a folder at a glance.
GLANCE = 15
FOLDERS = {
    "boardrl": GLANCE,
    "boardrl/drawing": GLANCE,
    "boardrl/exact": GLANCE,
    "boardrl/host": GLANCE,
    "boardrl/lowering": GLANCE,
    "boardrl/lowering/passes": GLANCE,
    "boardrl/lowering/primitives": GLANCE,
    "boardrl/matches": GLANCE,
    "boardrl/matches/compiled": GLANCE,
    "boardrl/play": GLANCE,
    "boardrl/runs": GLANCE,
    "boardrl/system": GLANCE,
    "boardrl/testing": GLANCE,
    "boardrl/tournaments": GLANCE,
    "boardrl/values": GLANCE,
    "boardrl/workers": GLANCE,
    "games": GLANCE,
    "games/guests": GLANCE,
    "games/backgammon": GLANCE,
    "games/jumper": GLANCE,
    "games/ludo": GLANCE,
    "algorithms": GLANCE,
    "algorithms/by_search": GLANCE,
    "algorithms/genomes": GLANCE,
    "algorithms/learning": GLANCE,
    "algorithms/self_play": GLANCE,
    "algorithms/settings": GLANCE,
    "algorithms/tabular": GLANCE,
    "search": 17,  # one for each search, seven of them, and what carries them out
    "search/analysis": GLANCE,
    "search/evaluators": GLANCE,
    "search/kernel": GLANCE,
    "launch": GLANCE,
    "launch/bench": GLANCE,
    "launch/console": GLANCE,
    "launch/dev": GLANCE,
    "launch/dev/fuzzing": GLANCE,
    "launch/serve": GLANCE,
    "launch/papers": 18,  # one for each paper or study
}
COMMANDS = {
    "train",
    "evaluate",
    "tournament",
    "play",
    "analyse",
    "solve",
    "perft",
    "check",
    "export",
    "reproduce",
    "review",
    "sweep",
}


def imported(tree: ast.Module, package: str) -> list[tuple[int, str]]:
    """Line and full name of each module that is imported, by statement at any depth or by a constant name."""
    found = []
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                found += [(node.lineno, name.name) for name in names]
            case ast.ImportFrom(module=module, names=names, level=level):
                above = package.split(".")[: len(package.split(".")) - level + 1] if level else []
                start = ".".join([*above, *([module] if module else [])])
                found += [(node.lineno, start)] if start else [(node.lineno, name.name) for name in names]
            case ast.Call(
                func=ast.Name(id=name) | ast.Attribute(attr=name), args=[ast.Constant(value=str(module)), *_]
            ):
                found += [(node.lineno, module)] if name in ("import_module", "__import__") else []
    return found


def violations(root: pathlib.Path) -> list[str]:
    """`file:line imports module` for each import against the direction."""
    wrong = []
    for owner, allowed in MAY_IMPORT.items():
        for path in sorted((root / owner).rglob("*.py")):
            place = path.relative_to(root)
            for line, module in imported(ast.parse(path.read_text("utf-8")), ".".join(place.parent.parts)):
                if module.partition(".")[0] in OURS - allowed - {owner}:
                    wrong.append(f"{place}:{line} imports {module}")
    return wrong


def crowded(root: pathlib.Path) -> list[str]:
    """Folders that are not on the map, are on it but not there, or have too many files."""
    counts = {
        str(folder.relative_to(root)): len(list(folder.glob("*.py")))
        for owner in MAY_IMPORT
        for folder in [root / owner, *(path for path in (root / owner).rglob("*") if path.is_dir())]
        if any(folder.glob("*.py"))
    }
    wrong = [f"{folder} is not on the map" for folder in counts if folder not in FOLDERS]
    wrong += [f"{folder} is on the map but has no code" for folder in FOLDERS if folder not in counts]
    return wrong + [f"{f} has {n} files" for f, n in counts.items() if n > FOLDERS.get(f, n)]


def test_the_map_of_folders():
    assert crowded(ROOT) == []


def test_a_folder_off_the_map_and_a_crowded_one_are_found(tmp_path):
    for folder in FOLDERS:
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / "__init__.py").touch()
    assert crowded(tmp_path) == []
    (tmp_path / "search" / "extras").mkdir()
    (tmp_path / "search" / "extras" / "a.py").touch()
    for number in range(GLANCE):
        (tmp_path / "boardrl" / "play" / f"file_{number}.py").touch()
    assert crowded(tmp_path) == ["search/extras is not on the map", f"boardrl/play has {GLANCE + 1} files"]


def test_the_architecture_page_shows_the_same_map():
    """Each folder under its parent, by indentation."""
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    diagram = page.partition("```\n")[2].partition("```")[0]
    shown = set(re.findall(r"(?<![\w/])([a-z_]+)/(?=\s)", diagram))
    assert shown == {folder.rpartition("/")[2] for folder in FOLDERS}


def test_launch_holds_the_users_commands_and_little_else():
    files = {path.stem for path in (ROOT / "launch").glob("*.py")}
    assert files == {*COMMANDS, "__init__", "__main__", "cli"}


def test_tests_mirror_the_folders():
    folders = {
        str(path.parent.relative_to(ROOT / "tests"))
        for owner in MAY_IMPORT
        for path in (ROOT / "tests" / owner).rglob("test_*.py")
    }
    assert folders <= set(FOLDERS)


def test_imports_keep_their_direction():
    assert all(list((ROOT / owner).rglob("*.py")) for owner in MAY_IMPORT), "a package is missing or empty"
    assert violations(ROOT) == []


@pytest.mark.parametrize(
    ("place", "source", "module"),
    [
        ("boardrl/a.py", "import games", "games"),
        ("boardrl/a.py", "import os, games.pig as p", "games.pig"),
        ("boardrl/a.py", "from search import minimax", "search"),
        ("boardrl/deep/er/a.py", "from algorithms.dqn import loss", "algorithms.dqn"),
        ("boardrl/a.py", "def late():\n    if True:\n        from launch import cli", "launch"),
        ("boardrl/a.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import games", "games"),
        ("boardrl/a.py", "import importlib\nimportlib.import_module('games.pig')", "games.pig"),
        ("boardrl/a.py", "__import__('games')", "games"),
        ("boardrl/deep/a.py", "from ...games import pig", "games"),
        ("games/a.py", "from search import minimax", "search"),
        ("games/ludo/a.py", "import launch.cli", "launch.cli"),
        ("search/a.py", "from games.pig import Pig", "games.pig"),
        ("search/a.py", "import algorithms", "algorithms"),
        ("algorithms/a.py", "from games import pig", "games"),
        ("algorithms/a.py", "from launch import cli", "launch"),
        ("launch/a.py", "from tests import conftest", "tests"),
    ],
)
def test_a_planted_import_is_found(tmp_path, place, source, module):
    path = tmp_path / place
    path.parent.mkdir(parents=True)
    path.write_text(source)
    assert violations(tmp_path) == [f"{place}:{source.count(chr(10)) + 1} imports {module}"]


@pytest.mark.parametrize(
    ("place", "source"),
    [
        (
            "boardrl/deep/a.py",
            "from boardrl import game\nfrom . import b\nfrom .. import game\nfrom ..game import Spec",
        ),
        ("boardrl/a.py", "import gamesome, jax\nfrom searching import x\nimport launchpad.games"),
        ("games/a.py", "from boardrl.game import Spec\nfrom games.ludo import rules"),
        ("search/a.py", "import boardrl.game\nimport search.kernel.transposition_table"),
        ("algorithms/a.py", "from search import minimax\nfrom boardrl import nets"),
        ("launch/a.py", "import games, search, algorithms, boardrl\nfrom launch import cli"),
    ],
)
def test_a_good_import_is_not_found(tmp_path, place, source):
    path = tmp_path / place
    path.parent.mkdir(parents=True)
    path.write_text(source)
    assert violations(tmp_path) == []
