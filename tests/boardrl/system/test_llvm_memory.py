"""Memory of LLVM's pass managers."""

import pathlib

from llvmlite import binding

from boardrl.system import llvm_memory


def resident_megabytes():
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def test_pass_managers_are_freed():
    """Numba makes one for each function of each module; 2,000 of them take 35 MB unless they are."""
    llvm_memory.install()
    machine = binding.Target.from_default_triple().create_target_machine()

    def make(number):
        for _ in range(number):
            builder = binding.create_pass_builder(machine, binding.create_pipeline_tuning_options(speed_level=2))
            builder.getFunctionPassManager()

    make(100)
    before = resident_megabytes()
    make(2_000)
    assert resident_megabytes() - before < 12
