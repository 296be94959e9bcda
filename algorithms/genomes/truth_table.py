"""Genome `truth_table`: the wanted outputs of a small net for every combination of its inputs that occurs.

Sæderup (2010), section 2: truths about each action are the inputs of a 9-3-1 net of sigmoids, which is fitted to a
truth table by backpropagation until its root mean square error is 0.01; the action with the highest output is played,
ties are left to chance. As inputs are truths, a fitted net is used as the table of its outputs.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Hashable
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.flatten_util import ravel_pytree

from algorithms.genomes.genome import Expressed, Genes
from algorithms.tabular import STATE, Coding
from boardrl import host, optional
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.host import random_games
from boardrl.play.policy import Policy

MOST_INPUTS = 16  # a table of outputs has 2 to the power of these entries
STEPS_PLAYED, SEED = 1 << 18, 0  # of random play, in which the combinations that occur are looked for
LEAST_DAMPING, FIRST_DAMPING, MOST_DAMPING = 1e-7, 0.1, 1e3


class Net(NamedTuple):
    """One hidden layer of H sigmoids and an output that is one."""

    hidden: Array  # [I, H]
    hidden_bias: Array  # [H]
    output: Array  # [H]
    output_bias: Array  # []

    def __call__(self, inputs: Array) -> Array:
        """[] output of [I] inputs."""
        return jax.nn.sigmoid(jax.nn.sigmoid(inputs @ self.hidden + self.hidden_bias) @ self.output + self.output_bias)


class Fitted(NamedTuple):
    net: Net
    table: Array  # [2^I] its outputs for every combination


@dataclasses.dataclass(frozen=True)
class ByTable:
    """The considered actions whose combination has the highest entry of a table; ties are left to chance."""

    coding: Coding

    def considered(self, state: Any) -> Array:
        """[A] bool."""
        return self.coding.considered(state)

    def __call__(self, params: Array, state: Any) -> Array:
        value = jnp.where(self.considered(state), params[self.coding.words(state)[:, 0]], -jnp.inf)
        return jnp.where(value == value.max(), 0.0, -jnp.inf)


@dataclasses.dataclass(frozen=True)
class TruthTable:
    encoding: str = setting("", "which of the game's action_encodings, of truths, is shown; empty: its first of truths")
    among: str = setting("random", "a scripted player of the game whose possible actions alone are considered")
    hidden: int = setting(3, "units of the net")
    error: float = setting(0.01, "root mean square error at which a fit is good enough")
    iterations: int = setting(200, "steps of a fit at most")
    low: float = setting(0.0, "the lowest wanted output")
    high: float = setting(1.0, "the highest")

    def check(self, game: Game[Any]) -> None:
        for name, least in {"hidden": 1, "iterations": 0}.items():
            if getattr(self, name) < least:
                raise UserError(f"{name}={getattr(self, name)} of genome 'truth_table': expected at least {least}")
        if not self.error > 0:
            raise UserError(f"error={self.error} of genome 'truth_table' is never reached: expected more than 0")
        if not (self.low >= 0 and self.high <= 1):
            raise UserError(
                f"low={self.low:g},high={self.high:g} of genome 'truth_table': a sigmoid gives outputs from 0 to 1"
            )
        encoding, inputs = self._coding(game).encoding, _num_inputs(self._coding(game))
        if inputs > MOST_INPUTS:
            raise UserError(
                f"encoding {encoding!r} of {game.spec.name} has {inputs} truths an action, more than the {MOST_INPUTS} "
                "of which a table can be made; choose another"
            )

    def genes(self, game: Game[Any]) -> Genes:
        combinations = self.combinations(game)
        names = tuple("".join(map(str, row.astype(int))) for row in combinations)
        return Genes(names, np.full(len(names), self.low, np.float32), np.full(len(names), self.high, np.float32))

    def combinations(self, game: Game[Any]) -> np.ndarray:
        """[K, I] bool: the inputs that occur, in the order of the genes."""
        coding = self._coding(game)
        return _truths(_occurring(coding), _num_inputs(coding))

    def blank(self, game: Game[Any]) -> Fitted:
        num_inputs = _num_inputs(self._coding(game))
        net = _first_net(num_inputs, self.hidden, jax.random.key(0))
        return Fitted(jax.tree.map(jnp.zeros_like, net), jnp.zeros(1 << num_inputs, jnp.float32))

    def express(self, game: Game[Any], genes: np.ndarray, seeds: np.ndarray) -> Expressed:
        inputs = jnp.asarray(self.combinations(game), jnp.float32)
        fitted, error, steps = _fit_all(
            inputs,
            jnp.asarray(genes, jnp.float32),
            jnp.asarray(seeds, jnp.uint32),
            jnp.float32(self.error),
            jnp.int32(self.iterations),
            hidden=self.hidden,
        )
        return Expressed(fitted, {"fit_error": float(error.mean()), "fit_steps": float(steps.mean())})

    def neighbours(self, game: Game[Any], vector: np.ndarray, gene: int) -> np.ndarray:
        """[K - 1, K] evenly spaced outputs, of every other ranking in which this combination alone has moved.

        Only the order of the outputs matters, and a fit keeps an order best whose outputs are far apart.
        """
        others = np.argsort(vector, kind="stable")
        rank = int(np.flatnonzero(others == gene)[0])
        others = np.delete(others, rank)
        orders = [np.insert(others, place, gene) for place in range(len(vector)) if place != rank]
        spaced = self.low + (self.high - self.low) * (np.arange(len(vector)) + 0.5) / len(vector)
        found = np.empty((len(orders), len(vector)), np.float32)
        for row, order in zip(found, orders, strict=True):
            row[order] = spaced
        return found

    def policy(self, game: Game[Any], params: Fitted) -> Policy:
        return Policy(ByTable(self._coding(game)), params.table)

    def player(self, game: Game[Any], params: Fitted) -> None:
        return None

    def _coding(self, game: Game[Any]) -> Coding:
        return _coding(cast(Hashable, game), self.encoding, self.among)


@functools.cache
def _coding(game: Any, encoding: str, among: str) -> Coding:
    known = optional.action_encodings(game)
    usable = [name for name in known if _is_truths(game, name)]
    if not usable:
        raise UserError(f"{game.spec.name} has no action encoding of truths, which genome 'truth_table' needs")
    name = encoding or usable[0]
    if name not in usable:
        why = "is none of truths" if name in (STATE, *known) else "is unknown"
        raise UserError(
            f"encoding {name!r} of {game.spec.name} {why}; genome 'truth_table' takes one of {', '.join(usable)}"
        )
    return Coding(game, name, joint=False, among=among)


def _is_truths(game: Any, name: str) -> bool:
    shapes = jax.eval_shape(lambda: game.action_encodings[name](game, game.init()))
    return all(leaf.dtype == bool for leaf in jax.tree.leaves(shapes))


@functools.cache  # found by tracing, which takes longer than a generation
def _num_inputs(coding: Coding) -> int:
    """I, the truths about one action."""
    game: Any = coding.game
    shapes = jax.eval_shape(lambda: game.action_encodings[coding.encoding](game, game.init()))
    return sum(int(np.prod(leaf.shape[1:])) for leaf in jax.tree.leaves(shapes))


def _truths(codes: np.ndarray, num_inputs: int) -> np.ndarray:
    """[K, I] bool: the bits of numbers, the lowest first, as `Coding.words` packs them."""
    return (codes[:, None] >> np.arange(num_inputs) & 1).astype(bool)


@functools.cache
def _occurring(coding: Coding) -> np.ndarray:
    """[K] the combinations that actions have in random play, in rising order; the same in every process."""

    def codes(state: Any) -> tuple[Array, Array]:
        decided = coding.game.actor(state) >= 0
        return coding.words(state)[:, 0], coding.considered(state) & decided

    # The shape of a TrainState, and with it the number of genes, is also asked for while JAX traces.
    with jax.ensure_compile_time_eval():
        facet = host.of(coding.game)
        rows, moves = facet.rows(STEPS_PLAYED), np.zeros(STEPS_PLAYED, np.int32)
        host.specialise(random_games, facet).record(rows, moves, SEED)
        words, counts = (np.asarray(found) for found in jax.jit(jax.vmap(codes))(facet.state(rows)))
    return np.unique(words[counts]).astype(np.int64)


def _first_net(num_inputs: int, hidden: int, key: Array) -> Net:
    key_hidden, key_output = jax.random.split(key)
    return Net(
        jax.random.uniform(key_hidden, (num_inputs, hidden), minval=-1.0, maxval=1.0),
        jnp.zeros(hidden, jnp.float32),
        jax.random.uniform(key_output, (hidden,), minval=-1.0, maxval=1.0),
        jnp.zeros((), jnp.float32),
    )


@functools.partial(jax.jit, static_argnames="hidden")
def _fit_all(
    inputs: Array, wanted: Array, seeds: Array, error: Array, iterations: Array, *, hidden: int
) -> tuple[Fitted, Array, Array]:
    """Nets for [N, K] wanted outputs of [K, I] inputs, their tables, and the [N] errors and steps of the fits."""
    num_inputs = inputs.shape[1]
    combinations = jnp.asarray(_truths(np.arange(1 << num_inputs), num_inputs), jnp.float32)

    def one(wanted: Array, seed: Array) -> tuple[Fitted, Array, Array]:
        first = _first_net(num_inputs, hidden, jax.random.key(seed))
        net, reached, steps = fit(first, inputs, wanted, error=error, iterations=iterations)
        return Fitted(net, jax.vmap(net.__call__)(combinations)), reached, steps

    return jax.vmap(one)(wanted, seeds)


def fit(net: Net, inputs: Array, wanted: Array, *, error: Array, iterations: Array) -> tuple[Net, Array, Array]:
    """The net after steps of Levenberg and Marquardt, its error and how many steps that were.

        w ← w − Jᵀ (J Jᵀ + μ I)⁻¹ r

    with r the K errors, J their Jacobian by backpropagation, and μ smaller after a step that helps, larger after one
    that does not, which is not taken. A fit takes about 20 steps, where plain gradient descent takes some thousand.
    """
    start, unravel = ravel_pytree(net)

    def errors(weights: Array) -> Array:
        return jax.vmap(unravel(weights))(inputs) - wanted

    def mean_square(weights: Array) -> Array:
        return jnp.mean(jnp.square(errors(weights)))

    def goes_on(carry: Any) -> Any:
        steps, _, _, reached = carry
        return (steps < iterations) & (reached > error * error)

    def step(carry: Any) -> Any:
        steps, weights, damping, reached = carry
        jacobian = jax.jacrev(errors)(weights)
        damped = jacobian @ jacobian.T + damping * jnp.eye(len(wanted), dtype=jnp.float32)
        towards = jacobian.T @ jax.scipy.linalg.solve(damped, errors(weights), assume_a="pos")
        tried = weights - towards
        then = mean_square(tried)
        helps = then < reached  # also false where it is not a number
        damping = jnp.clip(jnp.where(helps, 0.3 * damping, 4.0 * damping), LEAST_DAMPING, MOST_DAMPING)
        return steps + 1, jnp.where(helps, tried, weights), damping, jnp.where(helps, then, reached)

    first = (jnp.int32(0), start, jnp.float32(FIRST_DAMPING), mean_square(start))
    steps, weights, _, reached = jax.lax.while_loop(goes_on, step, first)
    return unravel(weights), jnp.sqrt(reached), steps
