"""Code that a run names runs only with --trust, whatever command meets the run."""

import dataclasses
import json
import pathlib
import shutil
import sys

import jax
import pytest

from algorithms import q_table
from boardrl import registry, trust
from boardrl.errors import UserError
from boardrl.runs import learned, run_directory
from boardrl.runs.training import Schedule
from launch import analyse, cli, evaluate, export, train

TINY = ["--games=8", "--lanes=4", "--window=4", "--hidden=4", "--log_every=1", "--evaluate_games=4", "--final_games=4"]
PAYLOAD = """
import pathlib, flax.linen as nn
pathlib.Path(__file__).with_name("imported").touch()


class Bot:
    def choose(self, game, state, rng):
        return int(game.legal(state).argmax())


class Net(nn.Module):
    num_outputs: int

    @nn.compact
    def __call__(self, seen):
        return nn.Dense(self.num_outputs)(seen.reshape(-1))
"""


def call(main, settings, *arguments, more=None):
    with pytest.raises(SystemExit) as ended:
        cli.run(main, settings, more=more, argv=["command", *arguments])
    return ended.value.code


def train_by(*arguments):
    return call(train.main, train.TrainConfig, *arguments, more=train.more)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Runs that name no code, of td_lambda and of q_table, stopped before their first update."""
    folder, game = tmp_path_factory.mktemp("trained"), registry.make("tic_tac_toe")
    small = {"td_lambda": {"lanes": 4, "window": 4, "hidden": (4,)}, "q_table": {"entries": 64}}
    for algo, sizes in small.items():
        algorithm = registry.algorithm(algo)
        settings = algorithm.Config(games=8, **sizes)
        schedule = Schedule(log_every=1, evaluate_games=4, final_games=4).resolve(8)
        facts = {"game": "tic_tac_toe", "algo": algo, "seed": 0}
        facts |= {"settings": dataclasses.asdict(settings), "schedule": dataclasses.asdict(schedule)}
        with run_directory.Run.create(folder / algo, facts) as opened:
            state = algorithm.init(settings, game, jax.random.key(0))
            opened.save(jax.device_get(state), place={"rows": [], "evaluated": -1}, keep=1)
    return folder


@pytest.fixture
def theirs(trained, tmp_path, monkeypatch):
    """A folder of somebody else's with these runs and a module."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    pathlib.Path("payload.py").write_text(PAYLOAD)
    shutil.copytree(trained, "theirs")
    yield pathlib.Path("theirs")
    sys.modules.pop("payload", None)


def name_code(path, **changes):
    """Writes texts into the settings, or the schedule, of a run and of its checkpoints."""
    stored = json.loads((path / "config.json").read_text())
    for section in ("settings", "schedule"):
        stored[section] |= {name: text for name, text in changes.items() if name in stored[section]}
    (path / "config.json").write_text(json.dumps(stored))


def imported():
    return pathlib.Path("imported").exists()


PLACES = [
    ("td_lambda", {"evaluate_against": "payload:Bot"}),
    ("td_lambda", {"evaluate_against": "random,payload:Bot()"}),
    ("td_lambda", {"opponents": "payload:Bot"}),
    ("td_lambda", {"net": "payload:Net"}),
    ("q_table", {"among": "payload:Bot"}),
    ("q_table", {"opponents": "payload:Bot"}),
]


@pytest.mark.parametrize(("algo", "changes"), PLACES)
def test_resume_imports_nothing_that_the_run_names(theirs, capfd, algo, changes):
    name_code(theirs / algo, **changes)
    before = {file: file.read_bytes() for file in theirs.rglob("*") if file.is_file()}
    capfd.readouterr()
    assert train_by(f"--resume={theirs / algo}") == 2
    err = capfd.readouterr().err
    assert err.count("\n") == 1
    assert f"error: the run 'theirs/{algo}' names code to import, 'payload:" in err
    assert "add --trust" in err
    assert not imported()
    assert {file: file.read_bytes() for file in theirs.rglob("*") if file.is_file()} == before


def test_resume_with_trust_goes_on(theirs, capfd):
    name_code(theirs / "td_lambda", evaluate_against="payload:Bot")
    assert train_by(f"--resume={theirs / 'td_lambda'}", "--trust") == 0
    assert imported()
    assert "--resume=theirs/td_lambda --trust --games=16" in capfd.readouterr().out


def test_no_command_imports_the_net_that_a_run_names(theirs, capfd):
    path = theirs / "td_lambda"
    name_code(path, net="payload:Net")
    commands = [
        (evaluate.main, evaluate.Settings, "--game=tic_tac_toe", f"--players={path},random", "--games=2"),
        (evaluate.main, evaluate.Settings, "--game=tic_tac_toe", f"--players=maxn(depth=1,net={path}),random"),
        (export.main, export.Config, f"--run={path}", "--to=weights.json"),
    ]
    for main, settings, *flags in commands:
        assert call(main, settings, *flags) == 2
        err = capfd.readouterr().err
        assert "names code to import, 'payload:Net'" in err
        assert err.count("\n") == 1
    flags = ("--game=tic_tac_toe", "--depth=1", f"--net={path}")
    assert call(analyse.main, analyse.Config, *flags, more=analyse.options_of) == 2
    assert "names code to import, 'payload:Net'" in capfd.readouterr().err
    assert not imported()


def test_a_run_that_names_a_run_that_names_code(theirs, capfd):
    name_code(theirs / "q_table", evaluate_against="theirs/td_lambda")
    name_code(theirs / "td_lambda", net="payload:Net")
    assert train_by("--resume=theirs/q_table") == 2
    assert "td_lambda' names code to import, 'payload:Net'" in capfd.readouterr().err
    assert not imported()


def test_what_the_user_types_needs_no_trust(theirs, capfd):
    flags = ("--net=payload:Net", "--evaluate_against=payload:Bot", "--run=mine", *TINY)
    assert train_by("--game=tic_tac_toe", *flags) == 0
    out = capfd.readouterr().out
    assert "train on  python -m launch.train --resume=mine --trust --games=16" in out
    assert "--players=mine,payload:Bot --games=4" in out
    assert out.count("--trust") == 2
    # Anybody else's command meets a run like any other.
    with pytest.raises(UserError, match="names code to import, 'payload:Net'"):
        learned.load_run(pathlib.Path("mine"))
    with trust.granted():
        assert learned.load_run(pathlib.Path("mine")).game == registry.make("tic_tac_toe")


def test_trust_ends_with_its_block():
    with pytest.raises(RuntimeError), trust.granted():
        raise RuntimeError
    assert not trust.is_granted()
    with trust.stored_in(pathlib.Path("theirs")), pytest.raises(UserError, match="add --trust"):
        trust.check("payload:Bot")
    trust.check("payload:Bot")


def test_texts_that_name_code():
    for text in ("my_bots:Careful", "random,a.b:c(x=1)", "maxn(depth=1,net=x),a:b", ["mlp", "n:N"]):
        assert trust.names_code({"text": text})
    for text in ("random", "runs/12:30,random", "win=1,lose=-1", 7, None, "hold(total=15)"):
        assert not trust.names_code({"text": text})


def test_a_full_table_is_no_state(theirs):
    """In it a search for a key that is missing would never end."""
    found = run_directory.read_config(theirs / "q_table")
    settings = run_directory.read_settings(q_table.Config, found, "settings")
    state = q_table.init(settings, registry.make("tic_tac_toe"), jax.random.key(0))
    q_table.check_state(settings, None, state)
    full = state._replace(table=state.table._replace(counts=state.table.counts + 1))
    with pytest.raises(ValueError, match="no free entry"):
        q_table.check_state(settings, None, full)
