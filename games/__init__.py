"""Rules: one file or folder a game, written once, in JAX."""
