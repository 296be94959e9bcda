"""What the documents name is there: links, files and folders of the project, modules that are run."""

from __future__ import annotations

import importlib.util
import pathlib
import re
import tomllib

import pytest

import boardrl

ROOT = pathlib.Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
TOP = ("boardrl", "games", "search", "algorithms", "launch", "tests", "docs")
# Paths that begin with a folder of ours, up to what is no part of one; `<run>` and `*` stand for anything.
PATH = re.compile(rf"(?<![\w/.-])((?:{'|'.join(TOP)})(?:/[\w.*<>-]+)+/?)")
MODULE = re.compile(r"python -m ((?:launch|games|boardrl|search|algorithms)[\w.]*)")
DOTTED = re.compile(r"`((?:boardrl|games|search|algorithms|launch)(?:\.(?!jsonl?\b)\w+)+)`")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
GROUPS = PROJECT["entry-points"]


def paths(text: str) -> set[str]:
    """Names of files and folders of the project in a text, but not units like games/s."""
    return {found.rstrip(".") for found in PATH.findall(text)} - {"games/s"}


def exists(name: str) -> bool:
    pattern = re.sub(r"<\w+>", "*", name.rstrip("/"))
    return any(ROOT.glob(pattern))


def is_module(name: str) -> bool:
    """Whether a dotted name is a module or something in one, an entry point group, or a public name of boardrl."""
    if name in GROUPS or name.removeprefix("boardrl.") in boardrl.__all__:
        return True
    while name:
        path = ROOT / name.replace(".", "/")
        if path.with_suffix(".py").is_file() or (path / "__init__.py").is_file():
            return True
        name = name.rpartition(".")[0] if name.count(".") > 1 else ""
    return False


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_names_ships(page):
    text = page.read_text("utf-8")
    missing = [name for name in sorted(paths(text)) if not exists(name)]
    missing += [name for name in set(MODULE.findall(text)) if not importlib.util.find_spec(name.rstrip("."))]
    missing += [name for name in set(DOTTED.findall(text)) if not is_module(name)]
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text) + re.findall(r'<img src="([^"]+)"', text)
    missing += [name for name in links if not (page.parent / name).exists()]
    assert missing == []


def test_a_missing_file_is_found():
    assert paths("see `rules/ludo.md`, `boardrl/nothing.py` and games/pig.py.") == {
        "boardrl/nothing.py",
        "games/pig.py",
    }
    assert [exists(name) for name in ("boardrl/nothing.py", "games/pig.py", "tests/planted/<area>.toml")] == [
        False,
        True,
        True,
    ]
    assert [is_module(name) for name in ("boardrl.play.rollout", "boardrl.nothing.rollout", "launch.train.main")] == [
        True,
        False,
        True,
    ]


def test_files_are_named_with_their_folder():
    """A bare `name.py` in the docs is a file of boardrl/lowering, which one page is about, of the user, or a name."""
    bare = {
        (page.name, name)
        for page in PAGES
        for name in re.findall(r"`(\w+\.(?:py|md|toml))`", page.read_text("utf-8"))
        if not (ROOT / name).exists()
    }
    known = {path.name for folder in TOP for path in (ROOT / folder).rglob("*.py")} | {"my_nets.py", "report.md"}
    assert {name for _, name in bare} - known == set()


def test_marks_of_a_release_agree():
    version = PROJECT["version"]
    assert f"\n## {version}" in (ROOT / "CHANGELOG.md").read_text()
    citation = (ROOT / "CITATION.cff").read_text()
    assert f"\nversion: {version}\n" in citation
    assert f"\nlicense: {PROJECT['license']}\n" in citation
    papers = {"alhajry2012", "brunton2013", "derakhshan2010", "saederup2010", "szurkowski2021"}
    assert set(re.findall(r'notes: "(\w+):', citation)) == papers
    assert (ROOT / "LICENSE").read_text().strip().startswith("Apache License")
    for package in ("boardrl", "games", "search", "algorithms", "launch"):
        assert (ROOT / package / "py.typed").is_file()
