"""Kernels and slots that do not fit are refused, and kernels that share code are specialised together."""

from __future__ import annotations

import types

import counting_kernel
import host_kernel
import numpy as np
import pytest

from boardrl import host, registry
from boardrl.host import TemplateError, template
from boardrl.lowering import cache
from search import alphabeta, minimax, negascout
from search.kernel import full_window


@pytest.fixture
def facet() -> host.Facet:
    return host.of(registry.make("tic_tac_toe"))


def test_a_constant_that_the_kernel_does_not_define_is_refused(facet: host.Facet) -> None:
    with pytest.raises(TemplateError, match="host_kernel defines the constant DEPHT 0 times; expected once"):
        host.specialise(host_kernel, facet, DEPHT=4)


def test_slots_that_the_kernel_does_not_import_are_refused(facet: host.Facet) -> None:
    with pytest.raises(TemplateError, match=r"host_kernel imports nothing from search.kernel.window_slots; its slots"):
        host.specialise(host_kernel, facet, slots={"search.kernel.window_slots": full_window})


def test_slots_that_nothing_fills_are_refused(facet: host.Facet) -> None:
    with pytest.raises(TemplateError, match=r"nothing fills the slots of search\.evaluators\.slots, which search"):
        host.specialise(minimax, facet)


def test_a_filling_without_a_name_that_the_kernel_imports_is_refused(facet: host.Facet) -> None:
    rules = types.ModuleType("half_filled")
    rules.WORDS = 1  # type: ignore[attr-defined]
    broken = host.Facet(facet.game, rules, facet.pack, facet.unpack, {})
    with pytest.raises(TemplateError, match=r"half_filled has no '\w+', which host_kernel imports from boardrl"):
        host.specialise(host_kernel, broken)


def test_slots_of_shared_kernels_count() -> None:
    assert host.slots_of(minimax) == {template.RULES, "search.evaluators.slots"}
    assert host.slots_of(alphabeta) == {
        *(template.RULES, "search.evaluators.slots"),
        *("search.kernel.key_slots", "search.kernel.window_slots"),
    }
    assert host.slots_of(negascout) == set()


def test_a_kernel_is_specialised_with_the_kernels_that_it_imports_from(facet: host.Facet) -> None:
    """`counting_kernel` uses no rules itself: it counts what `host_kernel` does."""
    module = host.specialise(counting_kernel, facet)
    assert module.won_by_the_first(facet.row(facet.game.init())) == 0  # in one move
    assert module.count.__module__.startswith(f"{cache.PACKAGE}.host_kernel_tic_tac_toe_")
    assert module.SCALE == 2
    assert host.specialise(counting_kernel, facet, SCALE=3).scaled(np.int64(5)) == 15
