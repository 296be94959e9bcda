"""Limits of the machine: memory and cores, and what is refused before it is allocated."""

import dataclasses
import os

import jax
import jax.numpy as jnp
import pytest

from boardrl import registry
from boardrl.errors import UserError
from boardrl.matches import arena
from boardrl.runs import training
from boardrl.system import machine
from games.tic_tac_toe import TicTacToe

GIB = 2**30
CACHE = 1000  # bytes of files that a control group would give back


def write(folder, **files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(f"{text}\n")


def test_cores_are_those_that_the_process_may_use():
    assert machine.num_cores() == len(os.sched_getaffinity(0))


def test_free_memory_is_no_more_than_the_machine_has():
    assert 0 < machine.free_memory() <= os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize("path", ["/jobs/mine", "/known/to/the/host/alone"])
def test_the_tightest_group_counts(tmp_path, path):
    """Version 2: a limit of the group itself, or of one above it; the mount's own where a container hides the path."""
    own = tmp_path / "cgroup"
    own.write_text(f"0::{path}\n")
    mount = tmp_path / "mount"
    stat = f"anon 5\ninactive_file {CACHE}"
    write(mount, memory__max=9 * GIB, memory__current=GIB, memory__stat=stat)
    assert machine.control_group_free(mount, own) == 8 * GIB + CACHE
    write(mount / "jobs", memory__max=3 * GIB, memory__current=GIB, memory__stat=stat)
    write(mount / "jobs" / "mine", memory__max="max", memory__current=GIB, memory__stat=stat)
    assert machine.control_group_free(mount, own) == (2 if path == "/jobs/mine" else 8) * GIB + CACHE


def test_version_1_has_other_names(tmp_path):
    own = tmp_path / "cgroup"
    own.write_text("5:cpu,cpuacct:/a\n4:memory:/a\n")
    stat = f"cache 7\ntotal_inactive_file {CACHE}"
    write(tmp_path / "memory" / "a", memory__limit_in_bytes=4 * GIB, memory__usage_in_bytes=GIB, memory__stat=stat)
    assert machine.control_group_free(tmp_path, own) == 3 * GIB + CACHE
    write(tmp_path / "memory" / "a", memory__limit_in_bytes=GIB, memory__usage_in_bytes=2 * GIB, memory__stat=stat)
    assert machine.control_group_free(tmp_path, own) == 0


def test_no_groups_no_limit(tmp_path):
    assert machine.control_group_free(tmp_path, tmp_path / "none") is None


def test_what_does_not_fit_is_one_sentence():
    machine.require(5, "this", "lower it", free=5)
    with pytest.raises(UserError, match=r"^kilobytes=9 needs 1\.5 GB of memory, and 512 bytes are free; lower it$"):
        machine.require(3 * GIB // 2, "kilobytes=9", "lower it", free=512)


@dataclasses.dataclass(frozen=True)
class Vast(TicTacToe):
    cells: int = 1

    @property
    def spec(self):
        return dataclasses.replace(super().spec, num_actions=self.cells)

    def init(self):
        return jnp.zeros(self.cells, jnp.int8)


def test_a_game_whose_positions_do_not_fit_is_refused():
    machine.check_game(Vast(1000), "vast")
    with pytest.raises(UserError, match=r"game 'vast:cells=.*' has 10,000,000 moves and states of 9\.5 MB.*90\.9 TB"):
        machine.check_game(Vast(10**7), "vast:cells=10000000")
    with pytest.raises(UserError, match=r"'jumper:size=1000' has 9,000,001 moves .*choose a smaller game"):
        registry.make("jumper:size=1000")


def test_a_broken_game_is_left_to_the_conformance_kit():
    machine.check_game(object(), "broken")


class Unrolled(TicTacToe):
    def step(self, state, move):
        after = super().step(state, move)
        for _ in range(1000):
            after = after._replace(turn=jnp.abs(after.turn))
        return after


def test_rules_that_are_slow_to_compile_are_named(monkeypatch):
    assert machine.compile_warning(TicTacToe()) is None
    monkeypatch.setattr(machine, "SLOW_SECONDS", 1000 * machine.OPERATION_SECONDS)
    assert "operations in JAX" in machine.compile_warning(Unrolled())


def test_operations_inside_of_functions_count():
    def inner(x):
        return x + x * x

    def outer(x):
        return jax.lax.cond(x > 0, jax.jit(inner), lambda x: -x, x)

    assert machine.num_operations(inner, jnp.float32(1)) == 2
    # x > 0, its conversion to an index, the branch; in it a call of two operations, and one operation.
    assert machine.num_operations(outer, jnp.float32(1)) == 3 + (1 + 2) + 1


def no_matches(*_, **__):
    raise AssertionError


VAST = {
    "lanes": 10**11,
    "window": 10**12,
    "hidden": (10**6, 10**6),
    "capacity": 10**12,
    "entries": 2**40,
    "population": 10**12,
}


@pytest.mark.parametrize("algo", registry.names(registry.ALGORITHMS))
def test_every_algorithm_is_checked_before_anything_is_allocated(algo):
    algorithm, game = registry.algorithm(algo), registry.make("pig")
    default = algorithm.Config()

    def check(config, **schedule):
        task = training.Task(algorithm, config, game, (), no_matches, training.Schedule(**schedule), 0)
        training.check_size(task, no_matches)

    check(default)
    names = [name for name in VAST if hasattr(default, name)]
    assert names
    for name in names:
        with pytest.raises(UserError, match=rf"of memory, and .* are free; choose smaller sizes than .*{name}="):
            check(dataclasses.replace(default, **{name: VAST[name]}))
    with pytest.raises(UserError, match=r"results of 1,000,000,000,000 games is the largest part"):
        check(default, final_games=10**12)
    with pytest.raises(UserError, match="--games=3000000000 cannot be counted"):
        check(dataclasses.replace(default, games=3 * 10**9))


def test_a_function_that_needs_too_much_memory_to_run_is_not_called():
    @jax.jit
    def squared(x):
        return jnp.sort(x[:, None] * x[None, :], axis=0).sum()

    x = jnp.ones(1000)
    machine.require_for(squared, x, what="squaring", remedy="stop")
    shape = jax.ShapeDtypeStruct((200_000,), jnp.float32)
    with pytest.raises(UserError, match=r"^squaring needs \d+\.\d GB of memory, and .* are free; stop$"):
        machine.require_for(squared, shape, what="squaring", remedy="stop")


def test_a_match_asks_for_its_memory_first(monkeypatch):
    monkeypatch.setattr(machine, "free_device_memory", lambda: 100)
    with pytest.raises(UserError, match=r"a match of 4 games of tic_tac_toe at a time needs .*; give fewer games"):
        arena.match(TicTacToe(), ["random", "random"], num_games=4, seed=0)


@pytest.mark.parametrize(
    ("algo", "name"),
    [
        ("td_lambda", "opening"),
        ("td_lambda", "evaluate_opening"),
        ("dqn", "epsilon_games"),
        ("dqn", "learning_steps"),
        ("dqn", "copy_every"),
        ("dqn", "steps"),
        ("tdleaf", "opening"),
    ],
)
def test_counts_that_no_device_can_hold_are_refused(algo, name):
    algorithm, huge = registry.algorithm(algo), 10**20
    of_schedule = hasattr(training.Schedule, name)
    config = algorithm.Config(**({} if of_schedule else {name: huge}))
    schedule = training.Schedule(**({name: huge} if of_schedule else {}))
    task = training.Task(algorithm, config, TicTacToe(), (), no_matches, schedule, 0)

    def check():
        algorithm.check(config, task.game)
        training.check_size(task, no_matches)

    with pytest.raises(UserError, match=f"--{name}={huge} is "):
        check()
