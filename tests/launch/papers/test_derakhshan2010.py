"""QLGA: an evolved recipe is trained in the end as its children were."""

from __future__ import annotations

import numpy as np
import pytest

from algorithms.genomes import genome
from games.ludo import Ludo
from launch.papers import derakhshan2010


def test_the_evolved_recipe_is_trained_as_its_children_are():
    game = Ludo(rules="sdu_java")
    made = genome.make(derakhshan2010.OURS["genome"])
    names = made.genes(game).names
    values = dict(zip(names, (0.4, 0.3, 0.1, -0.2, 0.7, -0.1, 0.6, 0.5, 0.6, 0.1), strict=True))
    child = made._config(game, np.array(list(values.values())))
    end = derakhshan2010._settings({name: str(value) for name, value in values.items()})
    assert (end["learning_rate"], end["learning_rate_end"]) == pytest.approx((0.4, 0.4 * derakhshan2010.ANNEAL))
    assert (child.learning_rate, child.learning_rate_end) == pytest.approx((0.4, end["learning_rate_end"]))
    assert child.rewards.split(",")[2] == end["rewards"].split(",")[2] == "knock=0.7"
    assert (child.discount, end["discount"]) == pytest.approx((0.3, 0.3))
    assert child.learners == end["learners"] == derakhshan2010._annealed()["learners"] == 4
