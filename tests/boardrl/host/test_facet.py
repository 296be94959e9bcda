"""The host facet: compiled rules agree with the rules in JAX over whole games, and search can build on them."""

from __future__ import annotations

import dataclasses
import pathlib
from typing import Any, NamedTuple

import host_kernel
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array

from boardrl import host, registry
from boardrl.game import TERMINAL, Deterministic, Spec, select
from boardrl.host import masks
from boardrl.play import sampling

GAMES = ["tic_tac_toe", "pig:players=3,target=30"]


def random_games(game: Any, num_games: int, num_steps: int, seed: int) -> tuple[Any, np.ndarray]:
    """[T, B] states of random games and the moves made in them; a finished game stays as it is."""

    def play(state: Any, uniform: Array) -> Any:
        weights = game.legal(state).astype(jnp.float32)
        if game.spec.num_outcomes:
            size = max(game.spec.num_actions, game.spec.num_outcomes)
            pad = lambda x: jnp.pad(x, (0, size - x.shape[0]))  # noqa: E731
            weights = pad(weights) + pad(game.chance(state))
        move = sampling.sample(weights, uniform)
        return select(game.actor(state) == TERMINAL, state, game.step(state, move)), (state, move)

    uniforms = jax.random.uniform(jax.random.key(seed), (num_steps, num_games))
    first = jax.tree.map(lambda x: jnp.broadcast_to(x, (num_games, *jnp.shape(x))), game.init())
    _, (states, moves) = jax.jit(lambda s, u: jax.lax.scan(jax.vmap(play), s, u))(first, uniforms)
    return jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), states), np.asarray(moves).reshape(-1)


@pytest.mark.parametrize("name", GAMES)
def test_compiled_rules_agree_with_jax_over_whole_random_games(name: str) -> None:
    game = registry.make(name)
    facet = host.of(game)
    states, moves = random_games(game, 40, 60, 0)
    spec = game.spec
    players = jnp.asarray(np.arange(len(moves)) % spec.num_players, jnp.int32)
    want = jax.jit(jax.vmap(lambda s, m, p: {
        "actor": game.actor(s), "legal": game.legal(s), "chance": game.chance(s), "returns": game.returns(s),
        "observe": game.observe(s, p).reshape(-1), "step": game.step(s, m)}))(states, moves, players)  # fmt: skip
    rows, after, work = facet.row(states), facet.rows(), facet.work()
    want_rows = facet.row(want["step"])
    mask, probs = facet.mask(), np.zeros(spec.num_outcomes, np.float32)
    returns, seen = np.zeros(spec.num_players, np.float32), np.zeros(facet.module.OBS_SIZE, np.float32)
    actors = np.asarray(want["actor"])
    assert (actors == TERMINAL).any()
    assert set(np.unique(actors)) >= set(range(spec.num_players))
    for n, row in enumerate(rows):
        assert facet.actor(row, work) == actors[n]
        facet.legal(row, mask, work)
        np.testing.assert_array_equal(masks.unpack(mask, spec.num_actions), want["legal"][n])
        np.testing.assert_array_equal(masks.pack(np.asarray(want["legal"][n])), mask)  # bits past the last are 0
        facet.chance(row, probs, work)
        np.testing.assert_array_equal(probs, want["chance"][n])
        facet.returns(row, returns, work)
        np.testing.assert_array_equal(returns, want["returns"][n])
        facet.observe(row, int(players[n]), seen, work)
        np.testing.assert_allclose(seen, want["observe"][n], rtol=1e-6)
        after[:] = 2**64 - 1  # gaps between leaves must be written too
        facet.step(row, moves[n], after, work)
        np.testing.assert_array_equal(after, want_rows[n])


def test_states_survive_the_way_to_a_row_and_back() -> None:
    game = registry.make("pig:players=3")
    states, _ = random_games(game, 4, 10, 1)
    facet = host.of(game)
    back = facet.state(facet.row(states))
    assert type(back) is type(states)
    jax.tree.map(np.testing.assert_array_equal, back, states)


class Board(NamedTuple):
    cells: Array  # [4] int8
    weight: Array  # [] float32
    turn: Array  # [] int32


@dataclasses.dataclass(frozen=True)
class Odd:
    """A game that draws random numbers inside `legal`, for which there is no host code."""

    @property
    def spec(self) -> Spec:
        return Spec("odd", num_players=2, num_actions=4, num_outcomes=0, obs_shape=(4,), max_steps=4)

    def init(self) -> Board:
        return Board(jnp.zeros(4, jnp.int8), jnp.float32(0), jnp.int32(0))

    def actor(self, state: Board) -> Array:
        return jnp.where((state.cells != 0).all(), TERMINAL, state.turn)

    def legal(self, state: Board) -> Array:
        return (state.cells == 0) & (jax.random.uniform(jax.random.key(0), (4,)) < 2)

    def chance(self, state: Board) -> Array:
        return jnp.zeros(0, jnp.float32)

    def step(self, state: Board, move: Array) -> Board:
        return Board(state.cells.at[move].set(1), -state.weight, 1 - state.turn)

    def returns(self, state: Board) -> Array:
        return jnp.zeros(2, jnp.float32)

    def observe(self, state: Board, player: Array) -> Array:
        return state.cells.astype(jnp.float32)

    def features(self, state: Board, player: Array) -> Array:
        return jnp.stack([state.cells.sum().astype(jnp.float32), (player == state.turn).astype(jnp.float32)])


def test_what_cannot_be_lowered_runs_in_jax_and_says_so_once() -> None:
    line = next(
        n for n, text in enumerate(pathlib.Path(__file__).read_text().splitlines(), 1) if "== 0) & (jax.random" in text
    )
    with pytest.warns(UserWarning, match=rf"Odd\.legal uses the primitive '\w+' in .*test_facet\.py, line {line}, for"):
        facet = host.of(Odd())
    assert host.of(Odd()) is facet  # and no second warning, which would be an error
    assert list(facet.refused) == ["legal"]
    row, after, work = facet.row(Odd().init()), facet.rows(), facet.work()
    facet.step(row, 2, after, work)
    mask = facet.mask()
    facet.legal(after, mask, work)
    np.testing.assert_array_equal(masks.unpack(mask, 4), [True, True, False, True])
    # Compiled code may call it too: four cells can be filled in 4! orders.
    assert host.specialise(host_kernel, facet, DEPTH=4).count(row) == (24, 0, 0, 24)
    features = np.zeros(facet.module.NUM_FEATURES, np.float32)
    facet.features(after, 1, features, work)
    np.testing.assert_array_equal(features, [1, 1])


@pytest.mark.filterwarnings("ignore:Odd.legal")
def test_keys_tell_states_apart_and_take_negative_zero_for_zero() -> None:
    game = registry.make("tic_tac_toe")
    facet = host.of(game)
    states, _ = random_games(game, 500, 10, 2)
    rows = np.unique(facet.row(states), axis=0)
    keys = np.array([facet.key(row) for row in rows], np.uint64)
    assert len(np.unique(keys)) == len(rows) > 1000
    for part in range(0, 64, 8):  # every byte is close to uniform: chi-square with 255 degrees of freedom
        counts = np.bincount((keys >> np.uint64(part)).astype(np.uint8), minlength=256)
        assert ((counts - len(keys) / 256) ** 2 / (len(keys) / 256)).sum() < 400
    odd = host.of(Odd())
    zero, negative = (odd.row(Odd().init()._replace(weight=jnp.float32(w))) for w in (0.0, -0.0))
    assert (zero != negative).any()
    assert odd.key(zero) == odd.key(negative)
    assert odd.key(zero) != odd.key(odd.row(Odd().init()._replace(weight=jnp.float32(1.0))))


def test_a_specialised_kernel_plays_the_game() -> None:
    game = registry.make("tic_tac_toe")
    facet = host.of(game)
    module = host.specialise(host_kernel, facet, DEPTH=9)
    assert module is host.specialise(host_kernel, facet, DEPTH=9)
    # Counted by many: all tic-tac-toe games, and how they end.
    assert module.count(facet.row(game.init())) == (255168, 131184, 77904, 46080)
    assert host.specialise(host_kernel, facet, DEPTH=2).count(facet.row(game.init())) == (72, 0, 0, 72)


def test_a_value_net_runs_on_rows() -> None:
    game = registry.make("tic_tac_toe")
    states, _ = random_games(game, 20, 9, 3)
    facet = host.of(game)

    def value(params: Any, state: Any, player: Array) -> Array:
        hidden = jnp.tanh(game.observe(state, player) @ params["w"] + params["b"])
        return jnp.tanh(hidden @ params["v"])

    def params_of(seed: int) -> dict[str, Array]:
        keys = jax.random.split(jax.random.key(seed), 3)
        shapes = {"w": (27, 16), "b": (16,), "v": (16, 2)}
        return {name: jax.random.normal(k, shapes[name]) for name, k in zip(shapes, keys, strict=True)}

    evaluator = host.lower_value(value, params_of(0), game)
    work, out = evaluator.work(), np.zeros(2, np.float32)
    for seed in (1, 2):
        params = params_of(seed)
        want = jax.vmap(value, (None, 0, None))(params, states, jnp.int32(1))
        for row, expected in zip(facet.row(states), want, strict=True):
            evaluator.module.evaluate(evaluator.params(params), row, 1, out, work)
            np.testing.assert_allclose(out, expected, rtol=2e-5, atol=2e-6)


class Mixed(NamedTuple):
    numbers: Array  # [128] int32
    left: Array  # [] int32


class Mixer(Deterministic):
    """A game whose steps cost much and share nothing: `step` and `successors` are made of `act`."""

    spec = Spec("mixer", num_players=2, num_actions=3, num_outcomes=0, obs_shape=(1,), max_steps=4)

    def init(self) -> Mixed:
        return Mixed(jnp.arange(128, dtype=jnp.int32), jnp.int32(4))

    def actor(self, state: Mixed) -> Array:
        return jnp.where(state.left > 0, state.left % 2, TERMINAL).astype(jnp.int32)

    def legal(self, state: Mixed) -> Array:
        return (state.left > 0) & (jnp.arange(3) != state.left % 3)

    def act(self, state: Mixed, move: Array) -> Mixed:
        mixed = jnp.cumsum(state.numbers * (move + 2))
        return Mixed(mixed ^ mixed[::-1], state.left - 1)

    def step(self, state: Mixed, move: Array) -> Mixed:
        return select(state.left > 0, self.act(state, move), state)

    def returns(self, state: Mixed) -> Array:
        return jnp.zeros(2, jnp.float32)

    def observe(self, state: Mixed, player: Array) -> Array:
        return state.left[None].astype(jnp.float32) / 4


MIXER = Mixer()


def test_rules_of_steps_that_share_nothing_are_compiled_once() -> None:
    facet = host.of(MIXER)
    assert facet.module.LAZY
    assert facet.module.__file__ is not None
    source = pathlib.Path(facet.module.__file__).read_text()
    assert source.count("# cumsum") == 1  # in `act` alone
    row, work, rows, after = facet.row(MIXER.init()), facet.work(), facet.rows(3), facet.rows()
    for _ in range(MIXER.spec.max_steps):
        state, actions = facet.state(row), facet.actions(row)
        assert facet.successors(row, rows, work) == len(actions) == 2
        for action, successor in zip(actions.tolist(), rows, strict=False):
            np.testing.assert_array_equal(successor, facet.row(MIXER.step(state, jnp.int32(action))))
            facet.step(row, action, after, work)
            np.testing.assert_array_equal(after, successor)
        row = rows[1].copy()
    assert facet.actor(row, work) == TERMINAL
    facet.step(row, 1, after, work)
    np.testing.assert_array_equal(after, row)
