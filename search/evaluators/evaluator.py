"""Makes evaluators: their kernels compiled for one game, and their weights."""

from __future__ import annotations

import dataclasses
import functools
import types
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from boardrl import host, optional, options
from boardrl.errors import UserError, did_you_mean
from boardrl.host import Facet
from boardrl.lowering.ir import LoweringError
from boardrl.options import Option
from boardrl.play.policy import Value, WithinReturns
from boardrl.values.linear import Linear, find
from boardrl.values.weight_file import check_values
from search.evaluators import batched_net_kernel, linear_kernel, net_kernel, none_kernel, playouts_kernel, td_kernel
from search.evaluators.jax_callback import BatchedNet

TEXTS = ("features", "playouts", "td", "none")
PLAYOUTS = 8  # random games a position by default
MOST_PLAYOUTS = 1 << 24  # float32 holds whole numbers up to here
LARGE = 5_000_000  # parameters from which batches in JAX are as fast as scalar code, measured on Jumper 8×8
# What a parameter of a convolution counts for, as it is used at every cell. On connect four scalar code takes 40 µs a
# node with conv(channels=16,layers=2) and 389 with conv(channels=32,layers=3), batches 93 and 199.
CONVOLUTION = 700
EXPLORE = 0.1  # share of random actions in the self-play of `td`, in games without dice


@dataclasses.dataclass(frozen=True, eq=False)
class Evaluator:
    """A compiled module that fills `search.evaluators.slots`, and its weights."""

    name: str  # as shown in results
    module: types.ModuleType
    weights: np.ndarray  # float32
    symmetric: bool = True  # whether mirror images of a position have the same value
    scratch: int = 1  # float32s that it needs to work in, an even number past those of the players
    row_scratch: int = 0  # float32s that it needs beside every row
    work_words: int = 0  # that the workspace must have, if more than those of the game's facet
    held_bytes: int = 0  # of parameters that it keeps elsewhere
    check: Callable[[], None] = lambda: None  # raises what went wrong while positions were valued
    load: Callable[[Any], None] = lambda params: None  # takes new parameters, for all searchers that use it


def none(facet: Facet) -> Evaluator:
    """The returns so far: for searches to the end."""
    return Evaluator("none", host.specialise(none_kernel, facet), np.zeros(1, np.float32))


def playouts(facet: Facet, *, games: int = PLAYOUTS) -> Evaluator:
    """The mean result of so many random games, for games that bring no evaluation."""
    if not 1 <= games <= MOST_PLAYOUTS:
        raise UserError(f"games={games} is not a number of playouts; expected 1 to {MOST_PLAYOUTS}")
    module = host.specialise(playouts_kernel, facet)
    number = np.array([games], np.float32)
    # Each game has its own random stream, so that mirror images differ.
    return Evaluator(f"playouts(games={games})", module, number, symmetric=False, scratch=module.SCRATCH)


def td(facet: Facet) -> Evaluator:
    """Values learned during the search, by self-play from its leaves; for searchers by simulations."""
    spec, part = facet.game.spec, host.lower_inputs(facet.game)
    constants: dict[str, Any] = {"LEAST": float(spec.min_return), "MOST": float(spec.max_return)}
    constants["EXPLORE"] = 0.0 if spec.num_outcomes else EXPLORE
    module = host.specialise(td_kernel, facet, slots={"search.evaluators.input_slots": part}, **constants)
    return Evaluator(
        "td",
        module,
        np.zeros(1, np.float32),
        symmetric=False,
        scratch=module.SCRATCH,
        work_words=part.WORK_WORDS,
    )


def linear(facet: Facet, weights: Sequence[float] | np.ndarray, features: str = "") -> Evaluator:
    """A weighted sum of the game's features, or of a set of them."""
    spec, names = facet.game.spec, find(facet.game, features).names
    part = host.lower_features(facet.game, features)
    if len(weights) != part.NUM_FEATURES:
        raise UserError(misfit(facet.game, len(weights), part.NUM_FEATURES, names))
    check_values(weights, f"evaluation of {facet.game.spec.name}")
    bounds: dict[str, Any] = {"LEAST": float(spec.min_return), "MOST": float(spec.max_return)}
    module = host.specialise(linear_kernel, facet, slots={"search.evaluators.feature_slots": part}, **bounds)
    own = np.array(weights, np.float32)
    return Evaluator(
        "features",
        module,
        own,
        scratch=part.NUM_FEATURES,
        work_words=part.WORK_WORDS,
        load=functools.partial(np.copyto, own),
    )


def misfit(game: Any, given: int, expected: int, names: Sequence[str]) -> str:
    """The sentence for a wrong number of weights."""
    known = f", for {', '.join(names)}" if names else ""
    return f"{given} weights do not fit {game.spec.name}: expected {expected}{known}"


def net(facet: Facet, value: Value, params: Any, *, batched: bool | None = None) -> Evaluator:
    """A value function in JAX, such as a flax net.

    Args:
      batched: whether positions are valued in JAX, all successors of a node at once; else by scalar code compiled
        for rows. None: by which is faster for a net of this many parameters.
    """
    value = WithinReturns(facet.game, value)  # searches rely on it
    if chooses_batches(params) if batched is None else batched:
        return batched_net(facet, value, params)
    compiled = host.lower_value(value, params, facet.game)
    module = host.specialise(net_kernel, facet, evaluator=compiled.module)
    scratch = module.NET_WORK + 2 * compiled.module.EVALUATOR_WORDS
    weights = compiled.params(params).view(np.float32)

    def load(params: Any) -> None:
        weights[:] = compiled.params(params).view(np.float32)

    return Evaluator("net", module, weights, symmetric=False, scratch=scratch, load=load)


def batched_net(facet: Facet, value: Value, params: Any) -> Evaluator:
    """A value function that stays in JAX."""
    called = BatchedNet(facet, value, params)
    module = host.specialise(batched_net_kernel, facet)
    called.warm_up(min(max(facet.module.ROOM, facet.game.spec.num_outcomes), module.AT_ONCE))
    address = np.array([called.address], np.int64).view(np.float32)
    return Evaluator(
        "batched net",
        module,
        address,
        symmetric=False,
        scratch=module.OUT,
        row_scratch=2 * module.SLOT,
        held_bytes=sum(leaf.nbytes for leaf in jax.tree.leaves(params)),
        check=called.check,  # also keeps the function alive that the address is of
        load=called.load,
    )


def chooses_batches(params: Any) -> bool:
    """Whether a net is large enough for JAX to be faster, in spite of what a call into it costs."""
    return sum(leaf.size * (CONVOLUTION if leaf.ndim == 4 else 1) for leaf in jax.tree.leaves(params)) >= LARGE


def learned(game: Any, value: Value, params: Any, *, batched: bool | None = None) -> Evaluator:
    """What was learned as an evaluator; what cannot be lowered is valued by batches in JAX."""
    facet = host.of(game)
    if not (chooses_batches(params) if batched is None else batched):
        try:
            if isinstance(value, Linear):
                return linear(facet, np.asarray(params), value.features)
            return net(facet, value, params, batched=False)
        except LoweringError:
            if batched is False:
                raise
    return net(facet, value, params, batched=True)


def default(facet: Facet, *, games: int = PLAYOUTS, limited: bool = True, simulates: bool = False) -> Evaluator:
    """By the weights that the game offers as `feature_weights`; else by playouts, or in simulations of games with dice
    by values learned in the search: they need far fewer of them, as playouts vary by the luck of all dice to come.

    Args:
      limited: whether searches end before the game does; if not, playouts would only cost time.
      simulates: whether the search is made of simulations.
    """
    if optional.feature_weights(facet.game):
        return of_text("features", facet)
    if simulates and facet.game.spec.num_outcomes and "observe" not in facet.refused:
        return td(facet)
    return playouts(facet, games=games) if limited else none(facet)


def of_text(
    text: str,
    facet: Facet,
    weights: Sequence[float] = (),
    *,
    games: int = PLAYOUTS,
    simulates: bool = False,
) -> Evaluator:
    """The evaluator of a text like `playouts(games=16)`, `features`, `td` or `none`; empty: `features`.

    Args:
      weights: of the features; none: the game's own.
      games: playouts a position where the text gives no number.
      simulates: whether the search is made of simulations.
    """
    name, rest = options.split_call(text or "features")
    if name not in TEXTS:
        hint = did_you_mean(name, TEXTS)
        raise UserError(
            f"unknown evaluation {text!r}{hint}; expected features, playouts, playouts(games=N), td or none"
        )
    takes = [Option("games", int, games, "random games a position")] if name == "playouts" else []
    given = options.parse(rest, takes, f"evaluation {name!r}")
    if weights and name != "features":
        raise UserError(f"evaluation={text} has no use for weights; leave out one of the two")
    if name == "none":
        return none(facet)
    if name == "td":
        if not simulates:
            raise UserError("evaluation=td learns from simulations, which only mcts makes; choose playouts or features")
        return td(facet)
    if name == "playouts":
        return playouts(facet, games=given.get("games", games))
    chosen: Any = tuple(weights) or optional.feature_weights(facet.game)
    if not chosen:
        raise UserError(f"{facet.game.spec.name} offers no feature_weights; give weights=…, or evaluation=playouts")
    return linear(facet, chosen)


def named(game: Any, features: str, weights: Sequence[float] = ()) -> Evaluator:
    """By a set of features of the game and these weights, or the set's own."""
    chosen, names = tuple(weights) or find(game, features).weights, find(game, features).names
    if not chosen:
        raise UserError(f"features={features} of {game.spec.name} have no weights of their own; give weights=…")
    if names and len(chosen) != len(names):
        raise UserError(misfit(game, len(chosen), len(names), names))
    check_values(chosen, f"features={features} of {game.spec.name}")
    return learned(game, Linear(game, features), np.array(chosen, np.float32))
