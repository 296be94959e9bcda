"""What genes mean: truth tables, recipes of rewards, weights; and the matches in which their players meet."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from algorithms import genetic, q_table
from algorithms.genomes import matches, population, truth_table
from algorithms.genomes.reward_recipe import RewardRecipe
from algorithms.genomes.truth_table import TruthTable
from algorithms.genomes.weights import Weights
from algorithms.settings import genetic as genome_settings
from boardrl import registry
from boardrl.errors import UserError
from boardrl.game import one_hot
from boardrl.host import facet
from boardrl.play import players
from boardrl.play.policy import Policy
from boardrl.values import linear
from games.ludo import Ludo
from games.pig import Pig
from games.tic_tac_toe import TicTacToe

SDU = Ludo(rules="sdu_java")


def member(params, index):
    return jax.tree.map(lambda leaf: np.asarray(leaf)[index], params)


@pytest.mark.parametrize(
    ("num_players", "members", "opponents", "games", "each"),
    [(4, 4, 0, 8, 2), (4, 6, 0, 24, 4), (2, 5, 0, 20, 4), (4, 3, 3, 12, 1), (4, 2, 0, 8, 4), (3, 4, 1, 24, 4)],
)
def test_all_sit_in_every_seat_equally_often(num_players, members, opponents, games, each):
    seating = matches.seatings(games, num_players, np.arange(members), opponents, np.random.default_rng(0))
    assert seating.shape == (games, num_players)
    for number in range(members):
        assert [(seating[:, seat] == number).sum() for seat in range(num_players)] == [each] * num_players
    for number in range(opponents):
        assert ((seating == -1 - number).sum(1) == 1).all()


def test_points_are_means_over_the_seats_that_a_member_had():
    seating = np.array([[0, 1], [1, 0], [0, -1]])
    returns = np.array([[1.0, -1.0], [0.5, -0.5], [-1.0, 1.0]], np.float32)
    np.testing.assert_allclose(matches.points(returns, seating, 3), [(1 - 0.5 - 1) / 3, (-1 + 0.5) / 2, 0])


@dataclasses.dataclass(frozen=True)
class Prefer:
    """The legal action that comes first in an order, which is the parameters."""

    game: TicTacToe

    def __call__(self, params, state):
        wanted = jnp.where(self.game.legal(state), params, -jnp.inf)
        return jnp.where(one_hot(jnp.argmax(wanted), 9), 0.0, -jnp.inf)


def test_compiled_games_are_those_of_the_policies_in_jax():
    """Nothing is left to chance, so that both ways must end alike, game by game."""
    game, rng = TicTacToe(), np.random.default_rng(0)
    members = [Policy(Prefer(game), rng.permutation(9).astype(np.float32)) for _ in range(6)]
    seating = matches.seatings(30, 2, np.arange(6), 0, rng)
    compiled = matches.play(game, members, (), seating, seed=0)
    assert matches._compile.cache_info().currsize  # it was compiled
    in_jax = matches._play_in_jax(game, members, 6, seating, opening=0, seed=0)
    np.testing.assert_array_equal(compiled, in_jax)
    assert {tuple(row) for row in compiled.tolist()} >= {(1.0, -1.0), (-1.0, 1.0)}


def test_games_do_not_depend_on_the_number_of_threads(monkeypatch):
    game = Pig(target=20)
    members = [Policy(HoldAt(), jnp.float32(total)) for total in (5, 10, 15)]
    seating = matches.seatings(300, 2, np.arange(3), 0, np.random.default_rng(0))
    first = matches.play(game, members, (), seating, opening=2, seed=5)
    monkeypatch.setattr(matches.machine, "num_cores", lambda: 5)
    monkeypatch.setattr(matches, "BLOCK", 7)
    np.testing.assert_array_equal(matches.play(game, members, (), seating, opening=2, seed=5), first)
    assert (matches.play(game, members, (), seating, opening=2, seed=6) != first).any()


@dataclasses.dataclass(frozen=True)
class HoldAt:
    def __call__(self, params, state):
        enough = state.total.astype(jnp.float32) >= params
        return jnp.where(jnp.stack([~enough, enough]), 0.0, -jnp.inf)


def test_opponents_play_as_their_policies_say():
    """To hold at 1 in pig to 20 loses to hold(total=8) as often as in a match of the arena."""
    game = Pig(target=20)
    timid, opponent = Policy(HoldAt(), jnp.float32(1)), players.make("hold(total=8)", game).policy
    seating = matches.seatings(4000, 2, np.arange(1), 1, np.random.default_rng(0))
    compiled = matches.points(matches.play(game, [timid], [opponent], seating, seed=1), seating, 1)[0]
    in_jax = matches._play_in_jax(game, [timid, opponent], 1, seating, opening=0, seed=1)
    assert compiled == pytest.approx(matches.points(in_jax, seating, 1)[0], abs=0.06)
    assert compiled < -0.1


def test_nineteen_combinations_of_the_inputs_occur():
    """As many as saederup2010, section 2.1, counts; a piece that is hit comes from no globe, and so on."""
    made = TruthTable(encoding="saederup")
    truths, genes = made.combinations(SDU), made.genes(SDU)
    assert truths.shape == (19, 9)
    assert len(set(genes.names)) == 19
    assert {"000000000", "100000001", "010000100", "000011000"} <= set(genes.names)
    assert not (truths[:, 0] & truths[:, 3:].any(1) & ~truths[:, 8]).any()  # to the goal, and nothing else but the way
    np.testing.assert_array_equal(genes.low, 0)
    np.testing.assert_array_equal(genes.high, 1)


@pytest.mark.parametrize("text", ["truth_table(encoding=saederup)", "reward_recipe(preset=derakhshan2010)", "weights"])
def test_the_shape_of_a_state_is_known_without_one(text):
    """As a run is loaded: in a new process, where nothing is known of the genes, and while JAX traces."""
    truth_table._occurring.cache_clear()
    facet._of.cache_clear()
    config = genetic.Config(genome=text, population=4)
    state = jax.eval_shape(lambda: genetic.init(config, SDU, jax.random.key(0)))
    assert state.genes.shape == (4, len(genome_settings.genome_of(config, SDU).genes(SDU).names))
    assert all(leaf.shape[0] == 4 for leaf in jax.tree.leaves(state.params))


def test_nets_are_fitted_to_the_wanted_outputs_all_at_once():
    made, rng = TruthTable(encoding="saederup", iterations=300), np.random.default_rng(1)
    wanted = rng.uniform(0.1, 0.9, (5, 19)).astype(np.float32)
    expressed = made.express(SDU, wanted, np.arange(5))
    codes = made.combinations(SDU) @ (1 << np.arange(9))
    reached = np.asarray(expressed.params.table)[:, codes]
    errors = np.sqrt(np.square(reached - wanted).mean(1))
    assert (errors < 0.01).sum() >= 4  # three hidden units cannot do all
    assert expressed.metrics["fit_error"] == pytest.approx(errors.mean(), abs=1e-5)
    # The table is the net.
    net = truth_table.Net(*(leaf[0] for leaf in expressed.params.net))
    np.testing.assert_allclose(jax.vmap(net)(made.combinations(SDU).astype(np.float32)), reached[0], atol=1e-6)
    again = made.express(SDU, wanted[2:3], np.array([2]))
    np.testing.assert_allclose(again.params.table[0], expressed.params.table[2], atol=1e-3)


def test_a_fit_that_cannot_succeed_ends():
    net = truth_table._first_net(1, 1, jax.random.key(0))
    inputs, wanted = jnp.zeros((2, 1)), jnp.array([0.25, 0.75])  # one input, two wanted outputs
    _, error, steps = truth_table.fit(net, inputs, wanted, error=jnp.float32(0.01), iterations=jnp.int32(40))
    assert int(steps) == 40
    assert float(error) == pytest.approx(0.25, abs=1e-3)


def test_the_piece_with_the_highest_entry_is_moved_and_never_passed():
    made = TruthTable(encoding="saederup")
    genes = made.genes(SDU)
    table = np.zeros(512, np.float32)
    table[int("000011000"[::-1], 2)] = 1.0  # out of the base
    policy = made.policy(SDU, truth_table.Fitted(made.blank(SDU).net, jnp.asarray(table)))
    state = SDU.init()
    state = jax.jit(SDU.step)(state._replace(pieces=state.pieces.at[0, 0].set(30)), jnp.int32(5))
    logits = jax.jit(policy.apply)(policy.params, state)
    np.testing.assert_array_equal(jnp.isfinite(logits), [False, True, True, True, False])
    assert bool(SDU.legal(state)[4]) or bool(state.tries > 1)
    assert len(genes.names) == 19


def test_a_recipe_is_a_training_of_q_table():
    game = Pig(target=9)
    made = RewardRecipe(training_games=60, events=("win", "-lose", "~points"), entries=2048)
    genes = made.genes(game)
    assert genes.names == ("learning_rate", "discount", "win", "lose", "points")
    assert genes.low.tolist() == [0, 0, 0, -1, -1]
    assert genes.high.tolist() == [1, 1, 1, 0, 1]
    vector = np.array([0.5, 0.25, 1.0, -0.75, 0.5], np.float32)
    expressed = made.express(game, np.stack([vector, vector * 0.5]), np.array([7, 8]))
    config = q_table.Config(
        games=60, entries=2048, rewards="win=1,lose=-0.75,points=0.5", discount=0.25, learning_rate=0.5,
        learning_rate_end=0.5,
    )  # fmt: skip
    state = q_table.init(config, game, jax.random.key(7))
    while int(state.games) < 60:
        state, _ = q_table.update(config, game, (), state)
    table = member(expressed.params, 0)
    for own, expected in zip(table, state.table, strict=True):
        np.testing.assert_array_equal(own, expected)
    assert expressed.metrics["known"] > 10
    assert int((table.counts > 0).sum()) > 10
    assert (member(expressed.params, 1).values != table.values).any()


def test_a_papers_recipe_has_its_genes_in_their_order():
    """derakhshan2010, Table 4: learning rate, discount, then the rewards as section 2.7 lists them."""
    genes = RewardRecipe(preset="derakhshan2010").genes(SDU)
    assert genes.names == (
        "learning_rate", "discount", "not_hit", "lost", "knock", "near_enemy", "safe_zone", "goal", "star", "globe"
    )  # fmt: skip
    assert [name for name, low in zip(genes.names, genes.low, strict=True) if low < 0] == ["lost", "near_enemy"]


def test_a_recipe_may_be_learned_from_all_seats():
    mean = np.full(10, 0.5)
    assert RewardRecipe(preset="derakhshan2010")._config(SDU, mean).learners == 1
    made = RewardRecipe(preset="derakhshan2010", learners=4)
    made.check(SDU)
    assert made._config(SDU, mean).learners == 4
    with pytest.raises(UserError, match="learners=-1 of genome 'reward_recipe': expected at least 1"):
        RewardRecipe(learners=-1).check(SDU)
    with pytest.raises(UserError, match="--learners=5 are more than the 4 seats"):
        RewardRecipe(preset="derakhshan2010", learners=5).check(SDU)


def test_a_recipe_anneals_its_learning_rate():
    genes = np.array([0.4, 0.3, *np.zeros(8)])
    for anneal in (1.0, 0.05):
        made = RewardRecipe(preset="derakhshan2010", anneal=anneal)
        made.check(SDU)
        config = made._config(SDU, genes)
        assert (config.learning_rate, config.learning_rate_end) == pytest.approx((0.4, 0.4 * anneal))
    with pytest.raises(UserError, match="anneal=2 of genome 'reward_recipe': expected a number from 0 to 1"):
        RewardRecipe(preset="derakhshan2010", anneal=2.0).check(SDU)


def test_weights_are_those_of_the_features_or_of_a_net():
    game = registry.make("jumper:size=4")
    made = Weights(depth=1, low=-2, high=2)
    genes = made.genes(game)
    assert genes.names == ("pieces", "safe", "axes", "density")
    vector = np.array([[0.5, -1.0, 0.25, 0.0]], np.float32)
    policy = made.policy(game, member(made.express(game, vector, np.zeros(1)).params, 0))
    np.testing.assert_array_equal(policy.params, vector[0])
    assert isinstance(policy.apply.value, linear.Linear)
    net = Weights(hidden=(3,))
    assert len(net.genes(Pig()).names) == 6 * 3 + 3 + 3 * 2 + 2
    assert net.player(Pig(), None) is None  # dice: the best afterstate is taken


def test_members_who_search_find_the_better_weights():
    """Of Jumper's features pieces win games, and the opposite loses them."""
    game = registry.make("jumper:size=4")
    config = genetic.Config(
        genome="weights(depth=1)", population=4, games_per_generation=40, games=320, opening=4, parents=2, children=1
    )
    genetic.check(config, game)
    state = genetic.init(config, game, jax.random.key(0))
    for _ in range(8):
        state, _ = genetic.update(config, game, (), state)
    pieces, safe, *_ = np.asarray(state.genes)[population.best(state)].tolist()
    assert pieces + safe > 0
    assert genetic.player(config, game, state) is not None
    twice, _ = genetic.update(config, game, (), state), None
    np.testing.assert_array_equal(twice[0].fitness, genetic.update(config, game, (), state)[0].fitness)
