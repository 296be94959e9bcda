"""A game's rules as compiled host code (`facet`), and kernels made for one game (`template`)."""

from boardrl.host.facet import (
    FAST_PATHS,
    FUNCTIONS,
    Evaluator,
    Facet,
    SlowHostWarning,
    constants,
    in_jax,
    lower_features,
    lower_value,
    of,
    specialise,
)

__all__ = [
    "FAST_PATHS",
    "FUNCTIONS",
    "Evaluator",
    "Facet",
    "SlowHostWarning",
    "constants",
    "in_jax",
    "lower_features",
    "lower_value",
    "of",
    "specialise",
]
