"""The public names, and docs/api.md: its table is complete and its examples run."""

import os
import pathlib
import re
import shlex
import subprocess
import sys

import pytest

import boardrl

ROOT = pathlib.Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "api.md").read_text()


def example(title):
    """The code of one section."""
    (section,) = re.findall(rf"^## {re.escape(title)}\n.*?(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
    (code,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    return code


def printed(title, capsys):
    exec(example(title), {})
    return capsys.readouterr().out.splitlines()


def test_every_public_name_is_there_and_in_the_table():
    table = "".join(line for line in PAGE.splitlines() if line.startswith("| `"))
    for name in boardrl.__all__:
        assert getattr(boardrl, name) is not None
        assert re.search(rf"`{name}\b", table), name
    assert set(re.findall(r"`(\w+)[`(]", "".join(re.findall(r"^\| (.*?) \|", PAGE, re.MULTILINE)))) == set(
        boardrl.__all__
    )
    assert set(boardrl.__all__) <= set(dir(boardrl))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'mkae'"):
        boardrl.mkae  # noqa: B018


def test_the_import_alone_loads_neither_jax_nor_games():
    code = "import sys, boardrl; print([name for name in ('jax', 'flax', 'games') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_function_plays(capsys):
    bold, other = printed("A player is a function", capsys)
    assert bold.startswith("bold: 0.")
    assert float(bold.split()[1]) > 0.55
    assert float(bold.split()[1]) + float(other.split()[1]) == pytest.approx(1)


def test_a_training_loop(capsys):
    (line,) = printed("A training loop of your own", capsys)
    rate, games, loss = re.fullmatch(r"(\S+) after (\d+) games, loss (\S+)", line).groups()
    assert float(rate) > 0.65
    assert 4000 <= int(games) < 4200
    assert 0.4 < float(loss) < 0.7  # of two players who know nothing: ln 2


def test_an_evaluator_in_a_search(capsys):
    value, line = printed("An evaluator of your own in a search", capsys)
    # The first player takes the middle column, and again after the other has: 4 − 4 + 4 hundredths.
    assert re.fullmatch(r"value 0\.04 at depth 3, \d+ positions", value)
    assert line == "best line: 3 3 3"


def test_values_of_a_trained_run(capsys, tmp_path, monkeypatch):
    (command,) = re.findall(r"```sh\nboardrl (train .*)\n```", PAGE)
    quick = ["--final_games=20", "--evaluate_games=20", "--evaluate_every=4000"]
    env = dict(os.environ, PYTHONPATH=str(ROOT))
    train = [sys.executable, "-m", "launch", *shlex.split(command), *quick]
    done = subprocess.run(train, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    monkeypatch.chdir(tmp_path)
    mine, theirs, rate = printed("What a trained run thinks of a position", capsys)
    first, second = (float(line.split()[4]) for line in (mine, theirs))
    assert first > 0.5 > -0.5 > second  # whoever is to move wins at once
    assert float(rate) > 0.7
