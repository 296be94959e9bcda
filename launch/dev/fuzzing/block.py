"""A block of cases of one target, drawn by Hypothesis from a seed: the same seed gives the same cases."""

from __future__ import annotations

import contextlib
from typing import Any, NamedTuple

import hypothesis
from hypothesis import HealthCheck, Phase
from hypothesis import strategies as st
from hypothesis.errors import Flaky

from launch.dev.fuzzing.contract import Broken, place
from launch.dev.fuzzing.targets import TARGETS


class Found(NamedTuple):
    cases: int
    broken: str = ""  # how the contract was broken, if it was; later cases were not run


def run(target: str, seed: int, cases: int, *, shrink: bool = False) -> Found:
    """Runs `cases` cases, or fewer if one breaks the contract.

    Args:
      shrink: whether to shrink a failing case, which may take long.
    """
    tried, broken = 0, ""

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=cases,
        deadline=None,
        database=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink] if shrink else [Phase.generate],
    )
    @hypothesis.given(st.data())
    def case(data: Any) -> None:
        nonlocal tried, broken
        tried += 1
        try:
            with place() as where:
                TARGETS[target](data.draw, where)
        except Broken as how:
            broken = str(how)
            raise

    with contextlib.suppress(Broken, Flaky):  # Flaky: the second run did not fail, but one failure is enough
        case()
    return Found(tried, broken)
