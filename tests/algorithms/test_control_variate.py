"""Control variates: targets are results less luck, and matches of the players vary less by what is learned."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from algorithms import control_variate
from algorithms.self_play import valued_games
from boardrl.errors import UserError
from boardrl.matches import arena, observations
from boardrl.matches.compiled import policy_match
from boardrl.matches.luck import Control
from boardrl.matches.records import Record
from boardrl.play import players
from boardrl.play.players import Player
from boardrl.play.policy import Greedy, Policy
from boardrl.values import nets
from games.connect_four import ConnectFour
from games.ludo import Ludo
from games.pig import Pig

pytestmark = pytest.mark.usefixtures("optimized")

GAME = Ludo(players=2, pieces=2, ring=8, column=1)
SEATS = np.array([[0, 1], [1, 0]])
CONFIG = control_variate.Config(games=600, opponents="a,b", batch=100, minibatch=64, hidden=(16,))


def lineup() -> tuple[Policy, Policy]:
    """A net that knows nothing, and random play."""
    net = nets.ValueNet(GAME, nets.MLP((8,), 2))
    return Policy(Greedy(GAME, net), jax.jit(net.init)(jax.random.key(1))), players.make("random", GAME).policy


def fitted(config: control_variate.Config, game: object, opponents: tuple[Policy, ...]) -> control_variate.TrainState:
    state = control_variate.init(config, game, jax.random.key(0))
    while int(state.games) < config.games:
        state, metrics = control_variate.update(config, game, opponents, state)
        assert np.isfinite(float(metrics["loss"]))
    return state


def control_of(config: control_variate.Config, game: object, state: control_variate.TrainState) -> Control:
    policy = control_variate.policy(config, game, state)
    return Control("fitted", policy.apply.value, policy.params)


def test_a_target_is_the_result_less_all_luck_to_come():
    """From the first position on, by the same games as a match with the same dice."""
    opponents, state = lineup(), control_variate.init(CONFIG, GAME, jax.random.key(0))
    control = control_of(CONFIG, GAME, state)
    net = control_variate.value_net(CONFIG, GAME)
    games = valued_games.make(net, control.params, opponents)
    numbers = np.arange(30)
    positions = games.play(numbers, 5, decay=1.0, opening=0)
    match = policy_match.find(GAME, opponents, control, num_games=1000)
    record = Record()
    record.begin(SEATS, 30, luck=True)
    match.play(record, seed=5, tick=lambda done: None)
    played = record.played()
    np.testing.assert_array_equal(positions.results, played.returns)
    # Each game begins with the draw of the starter, which no later position is shown as.
    start = net.dense(net.inputs(GAME.init(), jnp.int32(0)))
    starts = np.asarray(jax.vmap(net.dense)(positions.inputs) == start[None]).all(axis=1).nonzero()[0]
    assert len(starts) == 30
    np.testing.assert_allclose(positions.target[starts], played.returns - played.luck, atol=1e-4)
    # With λ = 0 a target is the mean over the outcomes of the next roll, whatever happened after.
    near = games.play(numbers, 5, decay=0.0, opening=0)
    assert near.error == pytest.approx(0.0, abs=1e-6)
    assert positions.error > 0.1


def test_games_longer_than_there_is_room_for_are_played_again(monkeypatch):
    games = valued_games.make(
        control_variate.value_net(CONFIG, GAME),
        control_variate.scaled_params(GAME, control_variate.init(CONFIG, GAME, jax.random.key(0))),
        lineup(),
    )
    whole = games.play(np.arange(20), 1, decay=0.5, opening=3)
    monkeypatch.setattr(valued_games, "ROOM", 2)
    again = games.play(np.arange(20), 1, decay=0.5, opening=3)
    np.testing.assert_array_equal(again.target, whole.target)
    np.testing.assert_array_equal(again.viewer, whole.viewer)


def test_matches_of_the_players_vary_less_by_what_was_learned():
    """An untrained net takes hardly any luck out, a fitted one nearly all of it; the mean stays."""
    opponents = lineup()
    seated = [Player(name, policy) for name, policy in zip("ab", opponents, strict=True)]
    found = {}
    for games in (0, 4000):
        config = dataclasses.replace(CONFIG, games=games)
        control = control_of(config, GAME, fitted(config, GAME, opponents))
        played = arena.play(GAME, seated, SEATS, num_games=2000, seed=9, control=control)
        mine = observations.of_player(0, played)
        found[games] = observations.mean(mine.returns - mine.luck), observations.mean(mine.returns)
    for adjusted, plain in found.values():
        assert abs(adjusted.mean - plain.mean) < 4 * (plain.variance / 2000) ** 0.5
    assert found[4000][0].variance < 0.1 * found[4000][1].variance
    assert found[4000][0].variance < 0.2 * found[0][0].variance


def test_dense_inputs_are_learned_from_too():
    game = Pig(players=2, target=20)
    config = dataclasses.replace(CONFIG, games=1500, opponents="hold")
    hold = players.make("hold(total=8)", game)
    control = control_of(config, game, fitted(config, game, (hold.policy,)))
    played = arena.play(game, [hold, hold], SEATS, num_games=1000, seed=4, control=control)
    adjusted, plain = (observations.mean(values[:, 0]) for values in (played.returns - played.luck, played.returns))
    assert adjusted.variance < 0.6 * plain.variance
    assert abs(adjusted.mean - plain.mean) < 4 * (plain.variance / 1000) ** 0.5


def test_what_does_not_fit_is_refused():
    for changes, game, words in (
        ({"opponents": ""}, GAME, "names 0 players"),
        ({"opponents": "a,b,c"}, GAME, "names 3 players"),
        ({"decay": 1.5}, GAME, "--decay=1.5"),
        ({"opponents": "a"}, ConnectFour(), "nothing to dice"),
    ):
        with pytest.raises(UserError, match=words):
            control_variate.check(dataclasses.replace(CONFIG, **changes), game)
