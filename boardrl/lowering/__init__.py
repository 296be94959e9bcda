"""Compiles JAX functions to host code, so that rules written once run on the device and in compiled search."""

from boardrl.system import numba_start

numba_start.import_array_functions()  # before the first function is compiled

from boardrl.lowering.ir import LoweringError
from boardrl.lowering.layout import Layout, Leaf
from boardrl.lowering.lower import Argument, Function, Lowered, Successors, lower, lower_module

__all__ = ["Argument", "Function", "Layout", "Leaf", "Lowered", "LoweringError", "Successors", "lower", "lower_module"]
