"""A game's rules as compiled host code (`facet`), and kernels made for one game (`template`)."""

from boardrl.host.facet import (
    FAST_PATHS,
    FUNCTIONS,
    Evaluator,
    Facet,
    Handwritten,
    SlowHostWarning,
    constants,
    in_jax,
    lower_value,
    lowered,
    of,
    specialise,
)

__all__ = [
    "FAST_PATHS",
    "FUNCTIONS",
    "Evaluator",
    "Facet",
    "Handwritten",
    "SlowHostWarning",
    "constants",
    "in_jax",
    "lower_value",
    "lowered",
    "of",
    "specialise",
]
