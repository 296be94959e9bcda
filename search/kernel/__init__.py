"""Shared by search kernels: control block, memory, move ordering, transposition table, position keys, windows."""
