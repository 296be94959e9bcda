"""QLGA: what an evolution asks for, and how its finalists are trained."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from algorithms import genetic
from algorithms.genomes import genome
from games.ludo import Ludo
from games.ludo.presets import PRESETS
from launch.papers import derakhshan2010


def test_finalists_are_trained_as_children_are_for_longer():
    game, flags = Ludo(rules="sdu_java"), derakhshan2010.evolution(20, 200_000)
    made = genome.make(flags["genome"])
    values = np.array([0.4, 0.3, 0.1, -0.2, 0.7, -0.1, 0.6, 0.5, 0.6, 0.1])
    child = made._config(game, values)
    assert (made.training_games, made.final_games, child.games) == (10_000, 200_000, 10_000)
    assert (child.learning_rate, child.learning_rate_end) == pytest.approx((0.4, 0.4 * derakhshan2010.ANNEAL))
    assert child.rewards.split(",")[2] == "knock=0.7"
    alike = derakhshan2010._annealed()
    assert child.learners == alike["learners"] == 4
    assert alike["learning_rate_end"] == pytest.approx(alike["learning_rate"] * derakhshan2010.ANNEAL)


def test_the_settings_of_the_evolution_suit_the_game():
    flags = derakhshan2010.evolution(derakhshan2010.EVOLVED, 200_000)
    own = {field.name for field in dataclasses.fields(genetic.Config)}
    config = genetic.Config(**PRESETS["genetic"]["derakhshan2010"] | {n: v for n, v in flags.items() if n in own})
    genetic.check(config, Ludo(rules="sdu_java"))
    assert (config.games, config.finalists) == (480_000, 3)
