"""Ludo's compiled rules against those in JAX; `python -m launch.check_host` compares millions of rolls."""

import pytest

from boardrl import host_check, registry

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
