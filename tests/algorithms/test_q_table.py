"""Tabular Q-learning: the exact solution of a small game, the same table however it is run, no silent overflow."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from algorithms import q_table
from algorithms.learning import experience, rewards
from algorithms.tabular import coding as tabular_coding
from algorithms.tabular import hash_table, q_kernel
from boardrl.errors import Exhausted, UserError
from boardrl.exact import solve
from boardrl.matches import arena
from boardrl.play import rollout, sampling
from boardrl.play.players import Player, make
from boardrl.runs import checkpoint
from games.ludo import Ludo
from games.ludo.presets import PRESETS
from games.pig import Pig

PIG = Pig(target=9)
SMALL = q_table.Config(games=4_000, entries=1 << 11, games_per_update=200, learning_rate=0.5, learning_rate_end=0.05)


def train(config, game, updates, state=None):
    state = q_table.init(config, game, jax.random.key(0)) if state is None else state
    for _ in range(updates):
        state, metrics = q_table.update(config, game, (), state)
    return state, metrics


def test_pig_is_solved():
    """Each side learns at the other's expense: random at first, then as good as both have become."""
    rates = {"learning_rate": 0.2, "learning_rate_end": 0.002, "epsilon": 1.0, "epsilon_end": 0.05}
    config = dataclasses.replace(SMALL, games=160_000, games_per_update=2_000, **rates)
    q_table.check(config, PIG)
    state, metrics = train(config, PIG, 80)
    assert int(state.games) == 160_000
    exact = solve.solve(PIG)
    states = jax.tree.map(jnp.asarray, exact.states())
    coding = q_table.coding(config, PIG)
    values = jax.vmap(lambda s: jnp.where(PIG.legal(s), coding.values(state.table, s), -jnp.inf).max())(states)
    seats = np.asarray(jax.vmap(PIG.actor)(states))
    decisions = np.flatnonzero(seats >= 0)
    error = np.abs(np.asarray(values)[decisions] - exact.values[decisions, seats[decisions]])
    assert metrics["known"] == len(decisions) > 100  # every decision was met
    assert error.mean() < 0.08  # of returns between -1 and 1; the other still tries out 1 decision in 20
    learned, perfect = Player("learned", q_table.policy(config, PIG, state)), make("perfect", PIG)
    assert arena.match(PIG, [learned, perfect], num_games=20_000, seed=0).players[0].win_rate > 0.48
    assert metrics["load"] == metrics["known"] / config.entries


def test_threads_and_a_stop_change_nothing(monkeypatch, tmp_path):
    config = dataclasses.replace(SMALL, epsilon_end=0.2)
    whole, _ = train(config, PIG, 6)
    monkeypatch.setattr(tabular_coding.machine, "num_cores", lambda: 5)
    monkeypatch.setattr(tabular_coding, "GAMES", 7)
    half, _ = train(config, PIG, 3)
    checkpoint.save(tmp_path, half, notes={})
    stored = tmp_path / "3"
    restored = checkpoint.restore(stored, checkpoint.verify(stored), q_table.init(config, PIG, jax.random.key(0)))
    resumed, _ = train(config, PIG, 3, restored)
    jax.tree.map(np.testing.assert_array_equal, resumed, whole)
    other, _ = train(dataclasses.replace(config, rewards="points=-1"), PIG, 6)
    assert not np.array_equal(other.table.values, whole.table.values)


def test_a_full_table_keeps_what_it_has_learned_and_then_ends():
    config = dataclasses.replace(SMALL, entries=64)
    state, metrics = train(config, PIG, 1)
    assert metrics["known"] == np.count_nonzero(state.table.counts) == hash_table.room(64) == 56
    with pytest.raises(
        Exhausted, match=r"the table of 64 entries is full after 200 games \(56 may be taken\).*entries=128"
    ):
        train(config, PIG, 1, state)


def test_the_last_update_plays_the_games_that_are_left():
    config = dataclasses.replace(SMALL, games=250)
    state, _ = train(config, PIG, 2)
    assert int(state.games) == 250


def test_opponents_and_other_seats_do_not_learn():
    hold = make("hold(total=1)", PIG).policy
    _, against = q_table.update(SMALL, PIG, (hold,), q_table.init(SMALL, PIG, jax.random.key(0)))
    _, one = train(dataclasses.replace(SMALL, learners=1), PIG, 1)
    _, both = train(SMALL, PIG, 1)
    assert 0.4 < one["transitions"] / both["transitions"] < 0.6
    assert against["transitions"] < both["transitions"]


@pytest.mark.parametrize("name", PRESETS["q_table"])
def test_presets_fit_ludo(name):
    config = q_table.Config(**PRESETS["q_table"][name])
    q_table.check(config, Ludo(rules="sdu_java"))


def test_only_the_first_reward_counts_if_they_are_exclusive():
    worth, events = np.array([0.5, -2.0, 8.0], np.float32), np.array([0, 2, 1, 0], np.float32)
    assert q_kernel.total(worth, events, False) == -4 + 8
    assert q_kernel.total(worth, events, True) == -4
    assert q_kernel.total(worth, np.zeros(4, np.float32), True) == 0


def test_durochers_moves_are_worth_what_the_paper_prints():
    """Along random games, the first reward of the preset's list that a move brings is that of the move's kind."""
    game = Ludo(rules="ludopy131")
    worth = rewards.parse(PRESETS["q_table"]["szurkowski2021"]["rewards"], game)

    def decide(state, uniform):
        action = sampling.sample_evenly(game.legal(state), uniform[1])
        return experience.Decision(action, action, state)

    def first(state, action, player):
        after = game.step(state, action)
        happened = rewards.counts(game, tuple(worth), state, after)[player] != 0
        kind = game.action_encodings["durocher"](game, state)[action, 1]
        home = (game.mine(state)[action] != 0) & (after.pieces[player, action] == 0)
        return jnp.argmax(happened), kind, home

    @jax.jit
    def play(key):
        _, slots = experience.play(game, decide, (), {}, rollout.start(game, 16), key, num_turns=500)
        flat = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), slots)
        return flat.player, jax.vmap(first)(flat.memo, flat.choice, jnp.maximum(flat.player, 0))

    player, (event, kind, home) = jax.tree.map(np.asarray, play(jax.random.key(0)))
    table = np.array([0.25, 0.0001, 0.9, 0.5, 0.4, 0.2, 0.5, 0, 0.4])  # its Table 1, in the order of the kinds
    told = (player >= 0) & ~home  # of a piece that is sent home by its own move the paper says nothing
    np.testing.assert_allclose(np.array(list(worth.values()))[event[told]], table[kind[told]])
    assert set(kind[told]) == set(range(9))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"entries": 100}, "--entries=100 is no size of a table; expected a power of 2"),
        ({"learners": 3}, "--learners=3 are more than the 2 seats"),
        ({"encoding": "durocher"}, "unknown encoding 'durocher' of pig; expected one of state"),
        ({"among": "nobody"}, "unknown player 'nobody'"),
        ({"rewards": "knock=1"}, "unknown reward 'knock'"),
        ({"epsilon": 1.5}, "--epsilon=1.5 is out of range"),
    ],
)
def test_mistakes_are_one_sentence(changes, sentence):
    with pytest.raises(UserError, match=sentence):
        q_table.check(dataclasses.replace(SMALL, **changes), PIG)
