"""Game rules in JAX: one file or folder per game."""
