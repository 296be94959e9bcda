"""Compiles JAX functions to host code, so that rules written once run on the device and in compiled search."""

from boardrl.lowering.functions import Argument, Function, Successors
from boardrl.lowering.ir import LoweringError
from boardrl.lowering.layout import Layout, Leaf
from boardrl.lowering.lower import LOWERING, Lowered, lower, lower_module
from boardrl.system import numba_start

__all__ = [
    "LOWERING",
    "Argument",
    "Function",
    "Layout",
    "Leaf",
    "Lowered",
    "LoweringError",
    "Successors",
    "lower",
    "lower_module",
]

numba_start.install()
