"""Strict settings for every test: no silent promotion, and warnings are errors (see pyproject.toml)."""

import jax

jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")
