"""What search kernels share inside: control block, memory, move ordering, transposition table, position keys."""
