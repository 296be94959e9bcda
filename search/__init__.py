"""Compiled search under budgets of time, nodes, depth and memory: one file for each searcher."""
