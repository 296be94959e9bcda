"""Tables of action values: coding of decisions, the hash table, the compiled kernel."""

from algorithms.tabular.coding import (
    STATE,
    Best,
    Book,
    Coding,
    Kernel,
    Plays,
    kernel,
)

__all__ = [
    "STATE",
    "Best",
    "Book",
    "Coding",
    "Kernel",
    "Plays",
    "kernel",
]
