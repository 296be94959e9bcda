"""Shorter ways to what Numba looks up: the same variables, sizes and options, and no events of LLVM's lock."""

import pytest
from llvmlite import ir as llvm
from numba import njit
from numba.core import event, ir
from numba.core.compiler import Flags, run_frontend
from numba.core.registry import cpu_target

from boardrl.system import numba_lookups


def listed(value):
    """The variables in a value, in order, by a search that tests for classes as Numba's documentation has them."""
    if isinstance(value, ir.Var):
        return [value]
    if isinstance(value, ir.Inst):
        return listed(value._kws if isinstance(value, ir.Expr) else vars(value))
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return [variable for item in items for variable in listed(item)]


def example(a, b):
    pair = (a, b)
    for k in range(a):
        if k > b:
            pair = (k, max(a, b))
    return pair[0] + b


def test_instructions_list_the_variables_they_hold():
    instructions = [one for block in run_frontend(example).blocks.values() for one in block.body]
    names = [[variable.name for variable in one.list_vars()] for one in instructions]
    assert names == [[variable.name for variable in listed(vars(one))] for one in instructions]
    assert sum(map(len, names)) > 40


@pytest.mark.parametrize(
    ("kind", "size"),
    [
        (llvm.IntType(1), 1),
        (llvm.DoubleType(), 8),
        (llvm.ArrayType(llvm.IntType(16), 5), 10),
        (llvm.LiteralStructType([llvm.IntType(8), llvm.IntType(64)]), 16),
        (llvm.global_context.get_identified_type("two_words"), 16),
    ],
)
def test_sizes_are_those_of_llvm(kind, size):
    if isinstance(kind, llvm.IdentifiedStructType) and kind.is_opaque:
        kind.set_body(llvm.IntType(64), llvm.IntType(64))
    context = cpu_target.target_context
    for _ in range(2):
        assert context.get_abi_sizeof(kind) == kind.get_abi_size(context.target_data) == size
    assert not any("two_words" in text for text in numba_lookups._sizes)


def test_options_are_the_values_of_the_properties():
    flags = Flags()
    flags.no_cpython_wrapper = True
    assert flags.values() == {name: getattr(flags, name) for name in flags.options}
    assert flags.values()["no_cpython_wrapper"]


def test_nobody_hears_of_llvm_s_lock():
    function = njit(example)
    with event.install_recorder("numba:llvm_lock") as locks, event.install_recorder("numba:compile") as compiled:
        assert function(3, 1) == 3
    assert compiled.buffer
    assert not locks.buffer
