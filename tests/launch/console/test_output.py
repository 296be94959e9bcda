"""Files that commands write: a place that cannot be written to is found before the work, not after."""

import pathlib
import subprocess

import pytest

from boardrl.errors import UserError
from boardrl.system import atomic_files
from launch.console import output


@pytest.fixture
def read_only(tmp_path):
    """A file system that cannot be written to; only root can have one."""
    place = tmp_path / "mount"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,ro", "tmpfs", place], capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def test_a_read_only_place(read_only):
    sentence = "cannot be written: Read-only file system"
    with pytest.raises(UserError, match=rf"--json=.*out.json {sentence}; choose another place"):
        output.free_path("json", str(read_only / "out.json"), overwrite=False)
    with pytest.raises(UserError, match=sentence):  # should it have become so since
        atomic_files.write(read_only / "out.json", b"{}")


@pytest.mark.parametrize("name", ["a" * 300, "a" * 252, "/proc/out.json", "/dev/full/out.json"])
def test_names_that_cannot_be(tmp_path, name):
    with pytest.raises(UserError, match=r"--json=.* cannot be written"):
        output.free_path("json", str(tmp_path / name), overwrite=False)


def test_looking_leaves_nothing_behind(tmp_path):
    path = output.free_path("json", str(tmp_path / "out.json"), overwrite=False)
    assert path == tmp_path / "out.json"
    assert list(tmp_path.iterdir()) == []


def test_a_draft_that_is_a_link_is_not_followed(tmp_path):
    (tmp_path / "diary").write_text("mine")
    (tmp_path / ".out.json.tmp").symlink_to(tmp_path / "diary")
    output.write_json(tmp_path / "out.json", {"a": 1})
    assert (tmp_path / "diary").read_text() == "mine"
    assert (tmp_path / "out.json").read_text() == '{\n  "a": 1\n}\n'
    (tmp_path / ".b.tmp").mkdir()
    pathlib.Path(tmp_path / ".b.tmp" / "kept").touch()
    with pytest.raises(UserError, match="cannot be written: Is a directory"):
        atomic_files.write(tmp_path / "b", b"")
