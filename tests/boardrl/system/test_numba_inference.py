"""Inference of types by Numba does no work twice, and finds the same types."""

import collections

import numpy as np
import pytest
from numba import njit
from numba.core import codegen, errors, typeinfer

from boardrl.system import numba_inference


@pytest.fixture
def runs(monkeypatch):
    """How often each call's constraint ran, and how often a function's return type was looked for in between."""
    numba_inference.install()
    counted = collections.Counter()
    resolve, infer = typeinfer.CallConstraint.resolve, numba_inference._infer_return_type

    def counted_resolve(constraint, *arguments, **options):
        counted[constraint] += 1
        return resolve(constraint, *arguments, **options)

    def counted_infer(inferer):
        counted["return type"] += 1
        return infer(inferer)

    monkeypatch.setattr(typeinfer.CallConstraint, "resolve", counted_resolve)
    monkeypatch.setattr(numba_inference, "_infer_return_type", counted_infer)
    return counted


def test_each_call_of_straight_code_is_looked_at_once(runs):
    @njit
    def straight(x):
        y = np.sqrt(x + 1.0)
        return abs(y) * x

    assert straight(8.0) == 24.0
    assert len(runs) >= 4
    assert set(runs.values()) == {1}


def test_a_type_that_widens_in_a_loop_is_followed(runs):
    @njit
    def widened(n):
        total = 0
        step = 1
        for _ in range(n):
            total = total + step
            step = total / 2
        return total, step

    total, step = widened(3)
    assert (total, step) == (2.25, 1.125)
    assert widened.nopython_signatures[0].return_type.types == (typeinfer.types.float64,) * 2
    assert max(runs.values()) > 1


def test_the_return_type_of_a_recursion_is_looked_for_once_a_round(runs):
    @njit
    def fibonacci(n):
        if n < 2:
            return 1.0
        if n % 2:
            return fibonacci(n - 2) + fibonacci(n - 1)
        return fibonacci(n - 1) + fibonacci(n - 2)

    assert fibonacci(10) == 89.0
    assert 1 <= runs["return type"] <= 3  # of four calls in each of two rounds or more


def test_functions_that_call_each_other(runs):
    @njit
    def even(n):
        if n == 0:
            return True
        return odd(n - 1)

    @njit
    def odd(n):
        if n == 0:
            return False
        return even(n - 1)

    assert even(10)
    assert not odd(10)


def test_a_type_that_does_not_fit_is_still_an_error():
    @njit
    def wrong(x):
        return x + "one"

    with pytest.raises(errors.TypingError, match="No implementation of function"):
        wrong(1)


def test_function_passes_leave_declarations_out(monkeypatch):
    numba_inference.install()
    made = codegen.CPUCodegen._function_pass_manager
    count = collections.Counter()

    def counted(self, **options):
        count["made"] += 1
        return made(self, **options)

    monkeypatch.setattr(codegen.CPUCodegen, "_function_pass_manager", counted)
    monkeypatch.setattr(codegen.CPUCodeLibrary, "add_llvm_module", noted(codegen.CPUCodeLibrary.add_llvm_module, count))
    assert njit(lambda x: x + 1)(1) == 2
    assert count["made"] == count["bodies"]
    assert count["declarations"] > 0


def noted(add, count):
    def added(library, module):
        for function in module.functions:
            count["declarations" if function.is_declaration else "bodies"] += 1
        return add(library, module)

    return added
