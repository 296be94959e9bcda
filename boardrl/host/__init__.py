"""A game's rules as compiled host code (`facet`), and kernels compiled for one game (`template`, `slots`)."""

from boardrl.host.facet import (
    FAST_PATHS,
    FUNCTIONS,
    Facet,
    SlowHostWarning,
    constants,
    in_jax,
    lower_features,
    lower_inputs,
    of,
)
from boardrl.host.template import TemplateError, slots_of, specialise
from boardrl.host.value import LoweredValue, lower_value

__all__ = [
    "FAST_PATHS",
    "FUNCTIONS",
    "Facet",
    "LoweredValue",
    "SlowHostWarning",
    "TemplateError",
    "constants",
    "in_jax",
    "lower_features",
    "lower_inputs",
    "lower_value",
    "of",
    "slots_of",
    "specialise",
]
