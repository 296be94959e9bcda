"""Who may import whom: reads every import of every module and holds the direction of the architecture."""

from __future__ import annotations

import ast
import pathlib

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
