"""Benchmarks: one module per suite."""
