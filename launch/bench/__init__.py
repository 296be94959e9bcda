"""Benchmarks: one module a suite."""
