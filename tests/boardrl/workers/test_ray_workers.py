"""Workers of a Ray: the same results as on this machine, whatever dies; one sentence for whatever is wrong."""

from __future__ import annotations

import builtins
import dataclasses
import os
import signal
import socket
import time

import chex
import jax
import numpy as np
import pytest
from summing_handler import Sums
from test_workers import EXPECTED, SHARED, sums

from algorithms import dqn, td_lambda, tdleaf
from algorithms.genomes import reward_recipe, weights
from boardrl import registry, workers
from boardrl.errors import UserError
from boardrl.matches import arena
from boardrl.play import players
from boardrl.workers import Job, Local, ray_workers, versions


@pytest.fixture(scope="module")
def ray():
    with ray_workers.Ray(count=2) as made:
        made.check("tic_tac_toe")
        yield made


def test_results_are_those_of_this_machine(ray):
    found = ray.map(Job(Sums, ("",), range(9), SHARED))
    assert sums(found) == EXPECTED
    assert {one["loads"] for one in found} == {1}
    assert os.getpid() not in {one["process"] for one in found}
    assert ray.map(Job(Sums, ("here",), range(9), SHARED))[0]["process"] == os.getpid()  # what nobody else can do


def test_work_of_killed_workers_is_done_again(ray, tmp_path):
    assert sums(ray.map(Job(Sums, (str(tmp_path / "marker"),), range(9), SHARED))) == EXPECTED
    assert (tmp_path / "marker").exists()
    jobs = ray.run(Job(Sums, ("",), range(40), SHARED))
    found = {}
    for index, one in jobs:
        found[index] = one["sum"].tolist()
        if len(found) == 3:
            os.kill(one["process"], signal.SIGKILL)
    assert len(found) == 40
    assert [found[index] for index in range(9)] == EXPECTED


def test_jobs_may_be_left_unfinished(ray):
    """At whatever moment of their tasks; Ray 2.60 ends this process if a task ends while it is cancelled."""
    for _ in range(200):
        jobs = ray.run(Job(Sums, ("",), range(20), SHARED))
        next(jobs)
        jobs.close()
    assert sums(ray.map(Job(Sums, ("",), range(9), SHARED))) == EXPECTED


def test_training_by_search_ends_in_the_same_bits(ray):
    game = registry.make("jumper:size=3")
    config = tdleaf.Config(games=8, batch=4, depth=2, kilobytes=256, opening=3, epsilon=0.1)
    after = []
    for pool in (Local(1), Local(3), ray):
        with workers.lent(pool):
            state = tdleaf.init(config, game, jax.random.key(1))
            for _ in range(2):
                state, metrics = tdleaf.update(config, game, (), state)
            after.append((state, metrics))
    chex.assert_trees_all_equal(after[0], after[1])
    chex.assert_trees_all_equal(after[0], after[2])


def test_matches_have_the_same_result(ray):
    game = registry.make("tic_tac_toe")
    players = ["alphabeta(depth=2,kilobytes=64)", "random"]
    here = arena.match(game, players, num_games=10, seed=3, processes=1)
    with workers.lent(ray):
        there = arena.match(game, players, num_games=10, seed=3)
    assert here == there


def test_mistakes_and_bugs_are_sentences(ray, capfd):
    with pytest.raises(UserError, match=r"^a worker on \S+: 99 cannot be summed; expected less$"):
        ray.map(Job(Sums, ("",), [1, 99], SHARED))
    with pytest.raises(UserError, match=r"^a worker on \S+: a worker failed: RuntimeError: a bug; its traceback is ab"):
        ray.map(Job(Sums, ("",), [1, 98], SHARED))
    assert "in run" in capfd.readouterr().err


def test_versions_and_games_that_a_worker_does_not_have(ray, monkeypatch):
    with pytest.raises(UserError, match=r"^machine \S+ \(\S+\) cannot work .* unknown game 'goo'.*; install the ga"):
        ray.check("goo")
    ours = versions.versions()
    monkeypatch.setattr(versions, "versions", lambda: {**ours, "boardrl": "9.9"})
    with pytest.raises(UserError, match=r"^machine .* it has boardrl 0\.\S+, but this process has boardrl 9\.9; inst"):
        ray.check("")
    with pytest.raises(UserError, match=r"^a worker on \S+: this worker has boardrl 0"):
        ray.map(Job(Sums, ("",), range(3), SHARED))


def test_an_address_nobody_answers_at():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    began = time.monotonic()
    with pytest.raises(UserError, match=rf"^nobody answers at 127\.0\.0\.1:{port} \(Connection refused\); start a "):
        workers.make(f"ray:127.0.0.1:{port}")
    assert time.monotonic() - began < 10


def test_ray_that_is_not_installed(monkeypatch):
    imported = builtins.__import__

    def without(name, *rest):
        if name == "ray":
            raise ModuleNotFoundError("No module named 'ray'")
        return imported(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UserError, match=r"^--workers=ray needs Ray, .*: pip install 'boardrl\[ray\]'"):
        workers.make("ray")


def test_traffic_is_counted(ray):
    before = ray_workers.workers.Traffic(**vars(ray.traffic))
    ray.map(Job(Sums, ("",), range(9), np.zeros((400, 3))))
    traffic = ray.traffic.since(before)
    assert traffic.items == 9
    assert traffic.shared > 8000
    assert traffic.received > 9 * 24


TD_LAMBDA = td_lambda.Config(games=64, lanes=8, shards=4, window=4, hidden=(4,), opponents="random")
DQN = dqn.Config(
    games=64, lanes=8, shards=4, window=4, hidden=(4,), opponents="random", capacity=60, warm_up=8, batch=8, steps=2
)


@pytest.mark.parametrize("play", ["compiled", "jax"])
@pytest.mark.parametrize(
    ("algorithm", "config"),
    [(td_lambda, TD_LAMBDA), (td_lambda, dataclasses.replace(TD_LAMBDA, local_steps=3)), (dqn, DQN)],
    ids=["td_lambda", "local_steps", "dqn"],
)
def test_lanes_in_shards_end_in_the_same_bits(ray, algorithm, config, play):
    game, config = registry.make("pig:target=10"), dataclasses.replace(config, play=play)
    opponents = tuple(player.policy for player in players.make_lineup(config.opponents, game))
    after, items = [], ray.traffic.items
    for pool in (Local(1), Local(3), ray):
        with workers.lent(pool):
            state = algorithm.init(config, game, jax.random.key(1))
            for _ in range(3):
                state, metrics = algorithm.update(config, game, opponents, state)
            after.append((state, metrics))
    chex.assert_trees_all_equal(after[0], after[1])
    chex.assert_trees_all_equal(after[0], after[2])
    assert int(after[0][0].games) > 0
    assert ray.traffic.items - items == 3 * config.shards


def test_children_and_their_matches_are_the_same(ray):
    game = registry.make("tic_tac_toe")
    recipe = reward_recipe.RewardRecipe(training_games=60, entries=1024)
    genes = np.linspace(0.1, 0.9, 2 * len(recipe.genes(game).names), dtype=np.float32).reshape(2, -1)
    made = weights.Weights(depth=1, kilobytes=64, hidden=(3,), evaluator="net")
    vectors = np.random.default_rng(0).uniform(-1, 1, (4, len(made.genes(game).names))).astype(np.float32)
    params = jax.device_get(made.express(game, vectors, np.zeros(4, np.uint32)).params)
    seating = np.array([[0, 1], [2, 3], [1, 2], [3, 0]], np.int32)
    found = []
    for pool in (Local(1), ray):
        with workers.lent(pool):
            children = recipe.express(game, genes, np.array([5, 6], np.uint32))
            found.append((children, made.tables(game).play(params, seating, opening=2, seed=3)))
    chex.assert_trees_all_equal(*found)
    assert found[0][0].metrics["known"] > 10
