"""Ludo's compiled rules against those in JAX; `python -m launch.dev.check_host` compares millions of rolls."""

import itertools

import numpy as np
import pytest

from boardrl import host, registry
from boardrl.testing import host_check

NAMES = [
    "ludo",
    "ludo:rules=sdu_java,players=3",
    "ludo:rules=ludopy150",
    "ludo:rules=ludopy131,players=2,three_sixes=true",
]


@pytest.mark.parametrize("name", NAMES)
def test_compiled_rules_do_not_differ(name):
    agreement = host_check.compare(registry.make(name), num_rolls=20_000, seed=1)
    assert agreement.rolls >= 20_000
    assert agreement.games >= 20
    assert agreement.differences == dict.fromkeys(agreement.differences, 0)


def test_keys_tell_positions_of_one_family_apart():
    """Once, two positions had one key: the high bytes of one word were undone by two bytes of the next."""
    game = registry.make("ludo:rules=sdu_java")
    facet, first = host.of(game), game.init()
    family = itertools.product(range(16, 48), range(1, 9), range(1, 9))
    pieces = [[[57, 5, 57, 57], [57, 1, 0, a], [57, 8, 0, b], [4, 57, 57, c]] for a, b, c in family]
    keys = {facet.key(facet.row(first._replace(pieces=np.array(piece, np.int8)))) for piece in pieces}
    assert len(keys) == len(pieces)
