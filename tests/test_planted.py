"""The bugs that `launch.dev.mutate` plants can all be planted: a changed line needs a changed entry."""

from __future__ import annotations

import ast
import pathlib

import pytest

from boardrl.errors import UserError
from launch.dev import mutate

ROOT = pathlib.Path(__file__).parent.parent
BUGS = mutate.read(ROOT)


def test_every_bug_can_be_planted_and_names_tests_that_exist() -> None:
    names: dict[str, set[str]] = {}
    for bug in BUGS:
        ast.parse(mutate.planted(ROOT, bug))
        assert bug.tests
        for test in bug.tests:
            file, _, name = test.partition("::")
            if file not in names:
                tree = ast.parse((ROOT / file).read_text())
                names[file] = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
            assert not name or name in names[file], f"{test} of {bug.what!r}"


def test_there_are_enough_bugs_of_every_area() -> None:
    by_area = {bug.area: sum(other.area == bug.area for other in BUGS) for bug in BUGS}
    assert set(by_area) == {"front", "learning", "lowering", "matches", "rules", "runs", "search"}
    assert min(by_area.values()) >= 10
    assert len({bug.what for bug in BUGS}) == len(BUGS)


def test_an_entry_that_no_longer_fits_is_refused(tmp_path: pathlib.Path) -> None:
    (tmp_path / "code.py").write_text("x = 1\ny = 1\n")
    bug = mutate.Bug("area", "what", "code.py", "y = 1", "y = 2", ("tests/test.py",))
    assert mutate.planted(tmp_path, bug) == "x = 1\ny = 2\n"
    for wrong, count in ((bug._replace(old="= 1"), 2), (bug._replace(old="z"), 0), (bug._replace(new="y = 1"), 1)):
        with pytest.raises(UserError, match=f"'what' of area: its old text occurs {count} times in code.py"):
            mutate.planted(tmp_path, wrong)
    with pytest.raises(UserError, match="contains no bugs; run this from the top folder"):
        mutate.read(tmp_path)


def test_caught_and_lived(tmp_path: pathlib.Path) -> None:
    """A tree of one file and its test, in which one bug is noticed and another is not."""
    tree = mutate.Tree.__new__(mutate.Tree)
    tree.root, tree._cache = tmp_path, tmp_path / "cache"
    (tmp_path / "code_under_test.py").write_text("def twice(x):\n    return 2 * x\n")
    (tmp_path / "test_code.py").write_text(
        "from code_under_test import twice\n\ndef test_twice():\n    assert twice(2) == 4\n"
    )
    bug = mutate.Bug("area", "what", "code_under_test.py", "2 * x", "3 * x", ("test_code.py",))
    tree.expect_success(bug.tests)
    assert tree.judge(bug, 60)[0] == "caught"
    assert tree.judge(bug._replace(new="x * x"), 60)[0] == "lived"
    assert tree.judge(bug._replace(new="__import__('time').sleep(60)"), 2)[0] == "caught: too long"
    assert (tmp_path / "code_under_test.py").read_text() == "def twice(x):\n    return 2 * x\n"
