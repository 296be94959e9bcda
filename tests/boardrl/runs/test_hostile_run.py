"""Run directories from elsewhere: they touch nothing outside themselves, and no weights are lost or mistaken."""

import contextlib
import json
import os
import pathlib
import shutil

import jax
import linear_learner
import numpy as np
import pytest

from boardrl import trust
from boardrl.errors import UserError
from boardrl.runs import checkpoint, run_config, run_directory
from boardrl.system import machine
from games.tic_tac_toe import TicTacToe

SETTINGS = linear_learner.Config()
FACTS = {"game": "tic_tac_toe", "algo": "linear", "seed": 5, "schedule": {}}
FACTS["settings"] = {"games": 40, "opponents": "", "lanes": 8, "step_size": 0.1}


@pytest.fixture(scope="module")
def first():
    return jax.device_get(linear_learner.init(SETTINGS, TicTacToe(), jax.random.key(0)))


def make_run(path, first, *, seed=5, updates=(10, 20), weights=0.0):
    with run_directory.Run.create(path, {**FACTS, "seed": seed}) as opened:
        for update in updates:
            opened.log("metrics.jsonl", {"kind": "train", "updates": update, "games": 0, "loss": 0.5})
            state = first._replace(updates=np.int32(update), weights=first.weights + np.float32(update + weights))
            opened.save(state, place={}, keep=5)
    return path


@pytest.fixture(scope="module")
def original(tmp_path_factory, first):
    return make_run(tmp_path_factory.mktemp("runs") / "original", first)


@pytest.fixture
def path(tmp_path, original):
    """A run with checkpoints of updates 10 and 20."""
    return pathlib.Path(shutil.copytree(original, tmp_path / "runs" / "theirs"))


def load(path):
    return run_directory.load_policy(path, lambda name: linear_learner)


def go_on(path, first):
    """All that a process writes to a run that it goes on with."""
    said = []
    with run_directory.Run.resume(path) as opened:
        restored = opened.restore(first, said.append)
        opened.log("metrics.jsonl", {"kind": "train", "updates": 25, "games": 0, "loss": 0.5})
        opened.save(first._replace(updates=np.int32(30)), place={}, keep=1)
        opened.write_config(opened.config)
        opened.write("report.md", b"report")
    return restored, said


def rewrite_manifest(checkpoint_path, change):
    """Changes a manifest as somebody would who can write a good sha256 too."""
    file = checkpoint_path / checkpoint.MANIFEST
    body = json.loads(file.read_text())["manifest"]
    change(body)
    file.write_text(json.dumps({"sha256": checkpoint._seal(body), "manifest": body}))


# --- nothing outside is touched ---------------------------------------------------------------------------------------

PLACES = [
    "lock", "metrics.jsonl", "speed.jsonl", "config.json", "report.md", "checkpoints", ".config.json.tmp",
    ".report.md.tmp", ".7.tmp", "checkpoints/.7.tmp", "checkpoints/.30.tmp", "checkpoints/30", "checkpoints/20",
    "checkpoints/20/manifest.json", "checkpoints/20/arrays.safetensors",
]  # fmt: skip


@pytest.mark.parametrize("target", ["file", "folder"])
@pytest.mark.parametrize("place", PLACES)
def test_links_are_not_followed_out(path, first, tmp_path, place, target):
    outside = tmp_path / "home"
    (outside / "photos").mkdir(parents=True)
    (outside / "diary").write_text("mine")
    (outside / "photos" / "cat").write_text("purr")
    link = path / place
    if link.is_dir():
        shutil.rmtree(link)
    link.unlink(missing_ok=True)
    link.symlink_to(outside / ("diary" if target == "file" else "photos"))
    before = contents(outside)
    for attempt in (lambda: load(path), lambda: go_on(path, first)):
        with contextlib.suppress(UserError):  # whether it is refused or not
            attempt()
        assert contents(outside) == before


def contents(folder):
    return {str(path): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


@pytest.mark.parametrize("name", ["lock", "metrics.jsonl", "speed.jsonl"])
def test_a_second_name_of_a_file_is_not_written_to(path, first, tmp_path, name):
    (tmp_path / "diary").write_text("mine")
    (path / name).unlink()
    os.link(tmp_path / "diary", path / name)
    with pytest.raises(UserError, match=rf"{name}' cannot be written to: it is a file with several hard links"):
        go_on(path, first)
    assert (tmp_path / "diary").read_text() == "mine"


@pytest.mark.parametrize("name", ["lock", "metrics.jsonl", "config.json", "checkpoints/20/arrays.safetensors"])
def test_a_pipe_is_not_waited_for(path, first, name):
    (path / name).unlink()
    os.mkfifo(path / name)
    if name.startswith("checkpoints"):
        assert int(go_on(path, first)[0][0].updates) == 10
    else:
        with pytest.raises(UserError, match="it is not a regular file"):
            go_on(path, first)


def test_a_checkpoint_elsewhere_is_not_one_of_the_run(path, first, tmp_path):
    """Neither as the newest nor when it is asked for."""
    other = make_run(tmp_path / "runs" / "other", first, weights=0.5)
    shutil.rmtree(path / "checkpoints" / "20")
    (path / "checkpoints" / "20").symlink_to(other / "checkpoints" / "20")
    assert load(path).path.name == "10"
    with pytest.raises(UserError, match="no good checkpoint; checkpoints there are 10;"):
        load(path / "checkpoints" / "20")


def test_a_run_in_a_folder_called_checkpoints(tmp_path, first):
    path = make_run(tmp_path / "checkpoints" / "7", first)
    assert load(path).path == path / "checkpoints" / "20"
    assert load(path / "checkpoints" / "10").path == path / "checkpoints" / "10"


def test_a_link_to_a_run_or_a_checkpoint_may_be_given(path, tmp_path):
    (tmp_path / "best").symlink_to(path / "checkpoints" / "10")
    (tmp_path / "latest").symlink_to(path)
    assert load(tmp_path / "best").path == path / "checkpoints" / "10"
    assert load(tmp_path / "latest").path == path / "checkpoints" / "20"


# --- no more is read or allocated than fits ---------------------------------------------------------------------------


def huge(body):
    """As of a net of 8 TB."""
    body["leaves"]["weights"] = f"float32[{2**41}]"
    body["files"][checkpoint.ARRAYS]["bytes"] = 2**43 + 500


BOMBS = {
    "a size beyond the memory": (lambda body: body["files"][checkpoint.ARRAYS].update(bytes=2**60), UserError, "needs"),
    "8 TB": (huge, UserError, "needs 8.0 TB of memory"),
    "a negative size": (lambda body: body["files"][checkpoint.ARRAYS].update(bytes=-1), checkpoint.Damaged, "bytes"),
    "a fraction": (lambda body: body["files"][checkpoint.ARRAYS].update(bytes=1.5), checkpoint.Damaged, "boardrl's"),
    "a device": (lambda body: body["files"].update({"/dev/zero": {}}), checkpoint.Damaged, "boardrl's"),
    "a way out": (lambda body: body.update(files={"../x": {}}), checkpoint.Damaged, "boardrl's"),
    "files as a list": (lambda body: body.update(files=[1]), checkpoint.Damaged, "boardrl's"),
    "updates as a text": (lambda body: body.update(updates="20"), checkpoint.Damaged, "boardrl's"),
    "a format that is a truth": (lambda body: body.update(format=True), checkpoint.Damaged, "format True"),
    "a long format": (lambda body: body.update(format="x" * 10**6), checkpoint.Damaged, "format xxx"),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_manifests_that_ask_for_too_much(path, bomb):
    change, kind, words = BOMBS[bomb]
    rewrite_manifest(path / "checkpoints" / "20", change)
    with pytest.raises(kind, match=words) as error:
        checkpoint.verify(path / "checkpoints" / "20")
    assert len(str(error.value)) < 300


def test_a_file_of_many_terabytes_is_not_read(path, monkeypatch):
    """Sparse, so that it is there, and as long as its manifest says."""
    arrays = path / "checkpoints" / "20" / checkpoint.ARRAYS
    os.truncate(arrays, 2**42)
    with pytest.raises(checkpoint.Damaged, match=r"has 4,398,046,511,104 bytes, expected \d+"):
        checkpoint.verify(path / "checkpoints" / "20")
    rewrite_manifest(path / "checkpoints" / "20", lambda body: body["files"][checkpoint.ARRAYS].update(bytes=2**42))
    monkeypatch.setattr(machine, "free_memory", lambda: 2**50)
    monkeypatch.setattr(checkpoint.hashlib, "file_digest", lambda file, _: pytest.fail("read"))
    with pytest.raises(BaseException, match="read"):  # with the memory for it, it would be
        checkpoint.verify(path / "checkpoints" / "20")
    monkeypatch.setattr(machine, "free_memory", lambda: 2**40)
    with pytest.raises(UserError, match=r"needs 4.0 TB of memory, and 1.0 TB are free"):
        checkpoint.verify(path / "checkpoints" / "20")


@pytest.mark.parametrize("name", ["config.json", "checkpoints/20/manifest.json"])
@pytest.mark.parametrize(
    "content", ["[" * 10**5, '{"a":' * 10**5, "9" * 10**5, '{"format": NaN}', '{"format": 1e999}', ""]
)
def test_json_that_is_none(path, first, name, content):
    (path / name).write_text(content)
    if name == "config.json":
        with pytest.raises(UserError, match=r"cannot be read as JSON|is not from a boardrl run"):
            load(path)
    else:
        assert load(path).path.name == "10"


def test_large_json_is_not_read(path, first):
    (path / "config.json").write_text(" " * (run_config.MOST_CONFIG + 1))
    with pytest.raises(UserError, match=r"has 1,048,577 bytes, expected at most 1,048,576"):
        load(path)
    with (path / "checkpoints" / "20" / checkpoint.MANIFEST).open("ab") as file:
        file.truncate(2**40)
    with pytest.raises(checkpoint.Damaged, match=r"manifest.json cannot be read: it has 1,099,511,627,776 bytes"):
        checkpoint.verify(path / "checkpoints" / "20")


def test_a_log_of_many_terabytes_is_not_read(path, first):
    length = 2**42
    os.truncate(path / "metrics.jsonl", length)
    for updates in ("10", "20"):
        rewrite_manifest(
            path / "checkpoints" / updates, lambda body: body["notes"]["lengths"].update({"metrics.jsonl": length})
        )
    with pytest.raises(UserError, match=r"the log '.*metrics.jsonl' needs .* of memory"):
        go_on(path, first)
    (path / "metrics.jsonl").unlink()  # as the sentence says
    assert int(go_on(path, first)[0][0].updates) == 20


@pytest.mark.parametrize("change", [{"lanes": 10**30}, {"lanes": -5}, {"lanes": 10**11}])
def test_settings_of_absurd_sizes(path, change):
    stored = json.loads((path / "config.json").read_text())
    stored["settings"] |= change
    (path / "config.json").write_text(json.dumps(stored))
    with pytest.raises(UserError, match=r"settings that cannot be trained|no good checkpoint") as error:
        load(path)
    assert "\n" not in str(error.value)


# --- no weights are lost or mistaken ----------------------------------------------------------------------------------

NAMES = [
    "a[b]",
    "[",
    "]",
    "a\\b",
    "*",
    "a?b",
    "a b",
    "a,b",
    "a(b",
    "a)b",
    'a"b',
    "a'b",
    "a%41",
    "#",
    "ü",
    "-x",
    "{a}",
    "a:b",
]


@pytest.mark.parametrize("name", NAMES)
def test_any_path_keeps_its_weights(tmp_path, first, name):
    path = make_run(tmp_path / name / "runs" / name, first, updates=(7,))
    np.testing.assert_array_equal(load(path).policy.params, first.weights + np.float32(7))
    assert int(go_on(path, first)[0][0].updates) == 7
    assert load(path / "checkpoints" / "30").path == path / "checkpoints" / "30"


def test_what_cannot_be_read_back_is_not_saved(path, first, monkeypatch):
    """A disk, or a library, that stores something else than it is given."""
    write = checkpoint._write

    def write_and_flip(draft, *more):
        write(draft, *more)
        data = bytearray((draft / checkpoint.ARRAYS).read_bytes())
        data[-1] ^= 1
        (draft / checkpoint.ARRAYS).write_bytes(data)

    monkeypatch.setattr(checkpoint, "_write", write_and_flip)
    with run_directory.Run.resume(path) as opened:
        with pytest.raises(
            UserError, match=r"cannot be written: verification of the written files failed: .*has changed"
        ):
            opened.save(first._replace(updates=np.int32(30)), place={}, keep=1)
        assert sorted(os.listdir(opened.checkpoints)) == ["10", "20"]


@pytest.mark.parametrize("change", [{"seed": 6}, {"game": "pig"}, {"settings": {"step_size": 0.2}}])
def test_a_checkpoint_of_another_run_is_not_played(path, first, capsys, change):
    """The shapes are the same; game, settings or seed are not."""
    stored = json.loads((path / "config.json").read_text())
    for name, value in change.items():
        stored[name] = stored[name] | value if name == "settings" else value
    other = path.parent / "other"
    with run_directory.Run.create(other, stored) as opened:
        opened.save(first._replace(updates=np.int32(50)), place={}, keep=1)
    shutil.copytree(other / "checkpoints" / "50", path / "checkpoints" / "50")
    assert load(path).path.name == "20"
    name = "step_size" if "settings" in change else next(iter(change))
    assert f"checkpoints/50 is damaged (it belongs to another run: {name} is " in capsys.readouterr().err
    (state, _), said = go_on(path, first)
    assert int(state.updates) == 20
    assert "it belongs to another run" in said[0]


def test_a_wrong_config_condemns_no_checkpoint(path, first):
    """Where no checkpoint fits, the reason lies elsewhere: with the config as it was, the run goes on."""
    good = (path / "config.json").read_text()
    (path / "config.json").write_text(good.replace('"seed": 5', '"seed": 6'))
    with pytest.raises(
        UserError, match=r"no good checkpoint to resume from: 20 \(it belongs to another run: seed is 5 "
    ):
        go_on(path, first)
    (path / "config.json").write_text(good)
    assert int(go_on(path, first)[0][0].updates) == 20


def test_more_games_are_no_other_run(path, first):
    with run_directory.Run.resume(path) as opened:
        opened.write_config({**opened.config, "settings": {**opened.config["settings"], "games": 80}})
    assert load(path).path.name == "20"
    assert int(go_on(path, first)[0][0].updates) == 20


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_are_not_finite_are_not_played(path, first, value, capsys):
    with run_directory.Run.resume(path) as opened:
        state = first._replace(updates=np.int32(30), weights=np.full_like(first.weights, value))
        opened.save(state, place={}, keep=5)
    assert load(path).path.name == "20"
    assert "weights has numbers that are not finite" in capsys.readouterr().err
    assert int(go_on(path, first)[0][0].updates) == 20


def test_a_checkpoint_that_was_set_aside_can_be_asked_for(path, first):
    """It is named where no good one is found, and played if it is good after all."""
    (path / "checkpoints" / "20" / checkpoint.MANIFEST).rename(path / "manifest")
    assert int(go_on(path, first)[0][0].updates) == 10
    shutil.rmtree(path / "checkpoints" / "30")
    with pytest.raises(UserError, match=r"no good checkpoint; checkpoints there are 20\.damaged;"):
        load(path)
    (path / "manifest").rename(path / "checkpoints" / "20.damaged" / checkpoint.MANIFEST)
    np.testing.assert_array_equal(
        load(path / "checkpoints" / "20.damaged").policy.params, first.weights + np.float32(20)
    )


@pytest.mark.parametrize("name", ["0040", "40", "٤٠", "9" * 200, "-1", "4.0", "99999999999"])
def test_folders_that_are_no_checkpoints(path, first, name):
    """None hides the good ones."""
    (path / "checkpoints" / name).mkdir()
    assert load(path).path.name == "20"
    assert int(go_on(path, first)[0][0].updates) == 20


@pytest.mark.parametrize(
    "notes",
    [
        {},
        {"lengths": {"metrics.jsonl": -5, "speed.jsonl": 0}},
        {"lengths": {"metrics.jsonl": "5", "speed.jsonl": 0}},
        {"lengths": {"metrics.jsonl": True, "speed.jsonl": 0}},
        {"lengths": {"metrics.jsonl": 5}},
        {"lengths": [1]},
        {"place": 7},
        {"run": None},
        {"run": {"settings": []}},
    ],
)
def test_notes_that_are_none(path, first, notes):
    def change(body):
        body["notes"] = body["notes"] | notes if notes else {}

    rewrite_manifest(path / "checkpoints" / "20", change)
    assert load(path).path.name == "10"
    assert int(go_on(path, first)[0][0].updates) == 10


def test_counts_that_are_not_those_of_the_arrays(path):
    rewrite_manifest(path / "checkpoints" / "20", lambda body: body.update(games=7))
    assert load(path).path.name == "10"


# --- the format before ------------------------------------------------------------------------------------------------


@pytest.fixture
def old(path, first):
    """A checkpoint of update 40 as boardrl wrote it with orbax."""
    import orbax.checkpoint as ocp

    folder = path / "checkpoints" / "40"
    state = first._replace(updates=np.int32(40))
    arrays = {name: np.asarray(leaf) for name, leaf in checkpoint._named(state).items()}
    with ocp.Checkpointer(ocp.PyTreeCheckpointHandler()) as checkpointer:
        filled = {name: array for name, array in arrays.items() if array.size}
        checkpointer.save(folder / "arrays", ocp.args.PyTreeSave(filled))
    digests = {
        str(file.relative_to(folder)): checkpoint.hashlib.sha256(file.read_bytes()).hexdigest()
        for file in folder.rglob("*")
        if file.is_file()
    }
    kinds = {name: checkpoint._kind(array) for name, array in arrays.items()}
    notes = {"lengths": {"metrics.jsonl": 0, "speed.jsonl": 0}, "place": {}}
    body = {"format": 1, "updates": 40, "games": 0, "leaves": kinds, "files": digests, "notes": notes}
    (folder / checkpoint.MANIFEST).write_text(json.dumps({"sha256": checkpoint._seal(body), "manifest": body}))
    return folder


def test_an_older_format_is_read_from_trusted_runs_only(old, first):
    with pytest.raises(UserError, match=r"written by an older boardrl .* add --trust"):
        load(old)
    with trust.granted():
        np.testing.assert_array_equal(load(old).policy.params, first.weights)
    for name in ("/dev/zero", "../../config.json", "arrays/../../../config.json", "manifest.json"):
        rewrite_manifest(old, lambda body, name=name: body["files"].update({name: "0"}))
        with trust.granted(), pytest.raises(UserError, match="no good checkpoint"):
            load(old)
