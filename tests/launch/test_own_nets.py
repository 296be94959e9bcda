"""Nets by name on the command line, as docs/learning.md says: trained, stored, resumed, played and searched with."""

import json
import pathlib
import re
import shlex
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from boardrl import registry, trust
from boardrl.game import TERMINAL
from boardrl.play import players, policy
from boardrl.runs import run_directory
from boardrl.runs.learned import load_run
from launch import cli, train
from launch.console import named_players

pytestmark = pytest.mark.usefixtures("optimized")

PAGE = (pathlib.Path(__file__).parents[2] / "docs" / "learning.md").read_text()
GAME = "connect_four:rows=4,columns=4"
TINY = ["--games=8", "--lanes=4", "--window=4", "--log_every=1", "--evaluate_games=4", "--final_games=4"]


def train_by(*arguments):
    with pytest.raises(SystemExit) as ended:
        cli.run(train.main, train.TrainConfig, more=train.more, argv=["train", *arguments])
    return ended.value.code


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where the example lies, and what its commands have trained, on a smaller board and with fewer games."""
    folder = tmp_path_factory.mktemp("own")
    section = PAGE[PAGE.index("### Nets: built-in and your own") :]
    code, commands = (re.search(rf"```{kind}\n(.*?)```", section, re.DOTALL)[1] for kind in ("python", "sh"))
    (folder / "my_nets.py").write_text(code)
    jax.config.update("jax_disable_most_optimizations", True)  # much is compiled here, and little run
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.syspath_prepend(folder)
        for line in commands.splitlines():
            _, _, module, *arguments = shlex.split(line)
            arguments = [word.replace("--game=connect_four", f"--game={GAME}") for word in arguments]
            if module == "launch.train":
                assert train_by(*arguments, *TINY, *(["--warm_up=8"] if "--algo=dqn" in arguments else [])) == 0
            else:
                assert module == "launch.evaluate"
                assert "--trust" in arguments
                (text,) = (word.removeprefix("--players=") for word in arguments if word.startswith("--players="))
                text = text.replace("negascout(depth=3", "maxn(depth=1")  # whose code a test below needs anyway
                with trust.granted():
                    assert len(named_players.make(text, registry.make(GAME))) == 2
        conv = ("--net=conv(channels=3,layers=2)", "--hidden=4", f"--game={GAME}")
        assert train_by(*conv, *TINY, "--run=runs/small") == 0
        yield folder
        sys.modules.pop("my_nets", None)
    jax.config.update("jax_disable_most_optimizations", False)


def test_the_name_is_stored(folder):
    assert json.loads((folder / "runs/lines/config.json").read_text())["settings"]["net"] == "my_nets:Lines(width=32)"
    with trust.granted():
        found = load_run(folder / "runs/lines")
    assert found.policy.apply.value.net.module.width == 32
    assert load_run(folder / "runs/conv").policy.apply.net.module.channels == 16


@pytest.mark.parametrize("name", ["lines", "small"])
def test_search_has_the_values_of_jax(folder, name):
    game, path = registry.make(GAME), folder / "runs" / name
    with trust.granted():
        learned = load_run(path).policy
        searcher = players.make(f"maxn(depth=1,net={path})", game).host.searcher
    assert searcher.evaluator.name == "net"  # compiled
    values = jax.jit(lambda state: policy.afterstate_values(game, learned.apply.value, learned.params, state))
    value = jax.jit(lambda state, seat: learned.apply.value(learned.params, state, seat)[seat])
    state, moves = game.init(), [0, 1, 1, 2, 3]
    for move in moves:
        seat = int(game.actor(state))
        row = searcher.facet.row(jax.device_get(state))
        wanted = [value(state, jnp.int32(player)) for player in range(2)]
        np.testing.assert_allclose(searcher.evaluate(row), wanted, atol=1e-5)
        best = np.asarray(values(state))[np.asarray(game.legal(state)), seat].max()
        np.testing.assert_allclose(searcher.search_row(row).value[seat], best, atol=1e-5)
        state = game.step(state, jnp.int32(move))
    assert int(game.actor(state)) != TERMINAL


def test_a_run_goes_on_with_its_net(folder, capfd):
    before = run_directory.load_policy(folder / "runs/small", registry.algorithm).policy.params.net["params"]["Conv_0"][
        "kernel"
    ]
    assert train_by("--resume=runs/small", "--net=mlp") == 2
    assert "--net=mlp contradicts net=conv(channels=3,layers=2)" in capfd.readouterr().err
    assert train_by("--resume=runs/small", "--games=16") == 0
    after = load_run(folder / "runs/small").policy.params.net["params"]["Conv_0"]["kernel"]
    assert after.shape == before.shape == (3, 3, 3, 3)
    assert not np.array_equal(before, after)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--game=tic_tac_toe", "--net=conv"), "net 'conv' needs a board"),
        (("--game=tic_tac_toe", "--net=conv", "--algo=dqn"), "net 'conv' needs a board"),
        (("--game=tic_tac_toe", "--net=nowhere:Net"), "net 'nowhere:Net' cannot be loaded"),
        (("--game=tic_tac_toe", "--net=pathlib:Path"), "net 'pathlib:Path' is not a flax.linen Module"),
        ((f"--game={GAME}", "--net=my_nets:Lines(with=3)"), "unknown option 'with' of net 'my_nets:Lines'"),
    ],
)
def test_mistakes_are_one_sentence(folder, capfd, arguments, words):
    capfd.readouterr()
    assert train_by(*arguments) == 2
    err = capfd.readouterr().err
    assert err.count("\n") == 1
    assert words in err
