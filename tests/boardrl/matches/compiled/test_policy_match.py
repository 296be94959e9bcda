"""Compiled matches of value nets: the same values and choices as in JAX, shared dice, no bias, resuming."""

from __future__ import annotations

import functools
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from compiled_calls import from_python

from boardrl import host
from boardrl.game import CHANCE
from boardrl.matches import arena, luck, observations
from boardrl.matches.compiled import policy_match
from boardrl.matches.luck import Control
from boardrl.matches.records import Record
from boardrl.play import players, rollout
from boardrl.play.players import Player
from boardrl.play.policy import Greedy, Policy, state_value
from boardrl.runs.saved_results import Kept
from boardrl.values.nets import MLP, ValueNet
from games.ludo import Ludo
from games.pig import Pig

GAME = Ludo(players=2, pieces=2, ring=8, column=1)
NET = ValueNet(GAME, MLP((8,), 2))
SEATS = np.array([[0, 1], [1, 0]])


def params(seed: int) -> object:
    return jax.tree.map(lambda leaf: 4 * leaf, jax.jit(NET.init)(jax.random.key(seed)))


CONTROL = Control("net", NET, params(0))
PLAYERS = [Player(f"net {seed}", Policy(Greedy(GAME, NET), params(seed))) for seed in (0, 1)]


@pytest.fixture(autouse=True)
def short_matches(monkeypatch):
    monkeypatch.setattr(policy_match, "LEAST_GAMES", 1)


def compiled() -> policy_match.PolicyMatch:
    found = policy_match.find(GAME, [player.policy for player in PLAYERS], CONTROL, num_games=1)
    assert found is not None
    return found


def positions(actor_is_chance: bool, count: int) -> list[np.ndarray]:
    """Rows of random play."""
    facet, work, rng = host.of(GAME), host.of(GAME).work(), np.random.default_rng(0)
    row, found = facet.rows(), []
    facet.init(row)
    while len(found) < count:
        who = int(facet.actor(row, work))
        if who == -2:
            facet.init(row)
            continue
        if (who == CHANCE) == actor_is_chance and rng.random() < 0.3:
            found.append(row.copy())
        probs = np.zeros(GAME.spec.num_outcomes, np.float32)
        facet.chance(row, probs, work)
        move = rng.choice(len(probs), p=probs / probs.sum()) if who == CHANCE else rng.choice(facet.actions(row))
        after = facet.rows()
        facet.step(row, int(move), after, work)
        row = after
    return found


def of_players(policies: list[Policy], seated: np.ndarray, state: object) -> jax.Array:
    """[C, A] how the players who sit there would choose after each outcome."""

    def choices(outcome: jax.Array) -> jax.Array:
        rolled = GAME.step(state, outcome)
        weights = [rollout.action_weights(GAME, one.apply(one.params, rolled), rolled) for one in policies]
        mine = jnp.stack(weights)[jnp.asarray(seated)[jnp.maximum(GAME.actor(rolled), 0)]]
        return mine / jnp.maximum(mine.sum(), 1e-9)

    return jax.vmap(choices)(jnp.arange(GAME.spec.num_outcomes))


@pytest.mark.parametrize("control", [CONTROL, Control("another", NET, params(2))])  # that of a player, and a third net
def test_values_after_outcomes_are_those_of_jax(control: Control):
    """With the choices of the players who sit there, who are not the same as the control."""
    policies = [player.policy for player in PLAYERS]
    match, facet = policy_match.find(GAME, policies, control, num_games=1), host.of(GAME)
    assert match is not None
    assert match.control == (0 if control is CONTROL else 2)
    look = jax.jit(functools.partial(luck.after_outcomes, GAME, NET, control.params))
    memory, rolls = match.module.new_memory(), match.module.new_rolls()
    probs, values, drawn_values, found = memory[2], rolls[3], rolls[4], rolls[6]
    after_outcomes, add_luck = from_python(match.module.after_outcomes), from_python(match.module.add_luck)
    seated, streams = np.array([1, 0], np.int32), (np.uint64(1), np.uint64(2), np.uint64(3))
    choices, others = jax.jit(functools.partial(of_players, policies, seated)), 0
    for row in positions(True, 30):
        values[:], drawn_values[:], found[:] = 0, 0, -1  # those of outcomes that cannot fall are not written
        viewer = after_outcomes(match.control, match.params, row, 1, seated, 5, 0, streams, memory, rolls)
        state = jax.tree.map(jnp.asarray, facet.state(row))
        drawn = found[:, :1] == np.arange(GAME.spec.num_actions)
        took = look(state, jnp.int32(1), choices=jnp.asarray(drawn, jnp.float32))
        np.testing.assert_allclose(drawn_values, took.values, atol=2e-6)
        want = look(state, jnp.int32(1), choices=choices(state))
        assert viewer == int(want.viewer)
        np.testing.assert_allclose(values, want.values, atol=2e-6)
        others += not np.allclose(values, look(state, jnp.int32(1)).values, atol=1e-3)
        sums = np.zeros(2, np.float32)
        add_luck(values, drawn_values[3], probs, sums)
        np.testing.assert_allclose(sums, took.values[3] - probs @ np.asarray(want.values), atol=2e-6)
    assert others > 3  # a player chooses otherwise than the control would


def test_a_drawn_choice_is_luck_too():
    """After each outcome the values are the mean over random play's choices; what it drew is known apart."""
    policies = [PLAYERS[0].policy, players.make("random", GAME).policy]
    match, facet = policy_match.find(GAME, policies, CONTROL, num_games=1), host.of(GAME)
    assert match is not None
    memory, rolls = match.module.new_memory(), match.module.new_rolls()
    after_outcomes = from_python(match.module.after_outcomes)
    values, drawn_values, found = rolls[3], rolls[4], rolls[6]
    seated, streams = np.array([1, 1], np.int32), (np.uint64(1), np.uint64(2), np.uint64(3))
    look = jax.jit(functools.partial(luck.after_outcomes, GAME, NET, CONTROL.params))
    choices, apart = jax.jit(functools.partial(of_players, policies, seated)), 0
    for row in positions(True, 25):
        values[:], drawn_values[:], found[:] = 0, 0, -1
        after_outcomes(match.control, match.params, row, 1, seated, 5, 0, streams, memory, rolls)
        state = jax.tree.map(jnp.asarray, facet.state(row))
        want = look(state, jnp.int32(1), choices=choices(state))
        np.testing.assert_allclose(values, want.values, atol=2e-6)
        apart += not np.allclose(values, drawn_values, atol=1e-3)
    assert apart > 3


def test_choices_are_the_best_afterstates():
    match, facet = compiled(), host.of(GAME)
    best_value = jax.jit(functools.partial(state_value, GAME, NET, CONTROL.params))
    memory = match.module.new_memory()
    choose, value_after = from_python(match.module.choose), from_python(match.module.value_after)
    for row in positions(False, 30):
        who = int(facet.actor(row, memory[6]))
        action = choose(0, match.params, row, who, np.float32(0.5), memory)
        after, values = facet.rows(), np.zeros(2, np.float32)
        facet.step(row, int(action), after, memory[6])
        value_after(0, match.params, after, who, values, memory)
        assert values[who] == pytest.approx(float(best_value(facet.state(row))[who]), abs=2e-6)


def test_a_choice_is_drawn_where_several_actions_are_possible():
    """A legal action with less than a millionth of the weights does not count."""
    several, mask = from_python(compiled().module.several), np.array([0b101], np.uint64)
    for weights, drawn in (([1, 5, 1], True), ([1, 5, 0], False), ([1, 5, 1e-7], False), ([1, 5, 1e-5], True)):
        assert several(mask, np.array(weights, np.float32)) == drawn
    assert not several(np.array([0b100], np.uint64), np.ones(3, np.float32))


def test_luck_is_unbiased_and_both_ways_of_playing_agree(monkeypatch):
    """Plain, adjusted in compiled code, adjusted in JAX: three estimates of the same win rate."""
    played = arena.play(GAME, PLAYERS, SEATS, num_games=1000, seed=3, control=CONTROL)
    monkeypatch.setattr(policy_match, "LEAST_GAMES", 10**9)
    jaxed = arena.play(GAME, PLAYERS, SEATS, num_games=1000, seed=3, control=CONTROL)
    means = [observations.mean(one.returns[np.arange(1000), np.arange(1000) % 2]) for one in (played, jaxed)]
    assert abs(played.luck.mean(axis=0)).max() < 4 * played.luck.std() / 1000**0.5
    assert abs(means[0].mean - means[1].mean) < 4 * (means[0].variance / 500) ** 0.5
    assert played.luck.std() == pytest.approx(jaxed.luck.std(), rel=0.1)
    assert (played.returns.sum(axis=1) == 0).all()
    assert played.distinct > 950


def test_scripted_players_too(monkeypatch):
    """One who holds at 8 against random play, without luck: the same mean as in JAX, above a half."""
    game = Pig(players=2, target=20)
    net = ValueNet(game, MLP((4,), 2))
    control = Control("net", net, jax.jit(net.init)(jax.random.key(0)))
    random, hold = (players.make(name, game) for name in ("random", "hold(total=8)"))
    found = policy_match.find(game, [random.policy, hold.policy, random.policy], control, num_games=1)
    assert found is not None
    assert found.number_of.tolist() == [0, 1, 0]  # equal players share their code
    means = []
    for least in (1, 10**9):
        monkeypatch.setattr(policy_match, "LEAST_GAMES", least)
        played = arena.play(game, [random, hold], SEATS, num_games=1000, seed=4, control=control)
        means.append(observations.mean((played.returns - played.luck)[np.arange(1000), 1 - np.arange(1000) % 2]))
    assert abs(means[0].mean - means[1].mean) < 4 * (2 * means[0].variance / 1000) ** 0.5
    assert means[0].low > 0


def test_a_group_shares_its_dice():
    """A net against itself: with the same dice in both seatings, both games of a group are the same."""
    twins = [Player(name, PLAYERS[0].policy) for name in ("a", "b")]
    played = arena.play(GAME, twins, SEATS, num_games=200, seed=0, control=CONTROL, duplicate=True)
    np.testing.assert_array_equal(played.returns[::2], played.returns[1::2])
    # Ties are drawn for each game, so that the pieces' order may differ, and rounding with it.
    np.testing.assert_allclose(played.luck[::2], played.luck[1::2], atol=1e-5)
    assert played.group is not None
    assert len(np.unique(played.returns[::2, 0])) == 2


def test_the_seed_decides_and_a_match_resumes(tmp_path: pathlib.Path):
    def play(seed: int, record: Record | None = None) -> np.ndarray:
        played = arena.play(GAME, PLAYERS, SEATS, num_games=60, seed=seed, control=CONTROL, record=record)
        return np.concatenate([played.returns, played.luck], axis=1)

    whole = play(1)
    assert (play(2) != whole).any()
    path = tmp_path / "games.jsonl"
    np.testing.assert_array_equal(play(1, Record(Kept(path))), whole)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:20] + lines[41:]))
    np.testing.assert_array_equal(play(1, Record(Kept(path))), whole)
    assert len(path.read_text().splitlines()) == len(lines)


def test_nets_of_different_layers_and_what_is_played_in_jax():
    policies = [player.policy for player in PLAYERS]
    wider = ValueNet(GAME, MLP((9,), 2))
    other = Policy(Greedy(GAME, wider), jax.jit(wider.init)(jax.random.key(0)))
    assert policy_match.find(GAME, [policies[0], other], CONTROL, num_games=100) is not None
    assert policy_match.find(GAME, policies, CONTROL._replace(at_decisions=True), num_games=100) is None
    assert policy_match.find(GAME, policies, CONTROL, num_games=0) is None
