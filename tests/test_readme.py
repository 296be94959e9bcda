"""The README's example and commands are what it says they are."""

import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).parent.parent
PAGE = (ROOT / "README.md").read_text()


def test_example(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(code, {})
    first, perfect, hold = capsys.readouterr().out.splitlines()
    assert 0.5 < float(first.split()[-1]) < 0.7  # moving first helps
    rate = {line.split(":")[0]: float(line.split()[1]) for line in (perfect, hold)}
    assert rate["perfect"] > rate["hold(total=15)"]


def test_ci_runs_the_readmes_test_command_and_nothing_else():
    script = (ROOT / ".ci" / "run").read_text()
    (line,) = [line for line in PAGE.splitlines() if "pip install -e" in line and "pytest" in line]
    show = script.replace('eval "$command"', "true")
    done = subprocess.run(["bash", "-c", show, str(ROOT / ".ci" / "run")], capture_output=True, text=True, check=True)
    assert done.stdout == f"+ {line}\n"


def test_every_folder_and_page_it_names_is_there():
    for name in re.findall(r"\]\(([^):]+)\)", PAGE):
        assert (ROOT / name).is_file(), name
    rows = re.findall(r"^\| (`[^|]*`) \|", PAGE, re.MULTILINE)
    folders = [name for row in rows for name in re.findall(r"`([\w/]+)/`", row)]
    assert len(folders) > 14
    for name in folders:
        assert (ROOT / name).is_dir(), name


def test_it_opens_with_a_picture():
    pictures = re.findall(r'<img src="([^"]+)"', PAGE.partition("\n## ")[0])
    assert [(ROOT / name).stat().st_size > 10_000 for name in pictures] == [True, True]
