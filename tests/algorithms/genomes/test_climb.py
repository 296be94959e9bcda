"""The climb after an evolution, and the finalists of its playoff."""

import dataclasses
from importlib import metadata

import jax
import numpy as np
import pytest

from algorithms import genetic
from algorithms.genomes import births, climb, genome, playoff, population
from algorithms.genomes.genome import Genes
from algorithms.genomes.reward_recipe import RewardRecipe
from algorithms.genomes.truth_table import TruthTable
from boardrl import entry_points, registry
from boardrl.errors import UserError
from boardrl.play import players
from games.ludo import Ludo

UNIT = Genes(("a", "b"), np.array([0, -2], np.float32), np.array([1, 2], np.float32))


@pytest.fixture
def threshold(monkeypatch):
    """A genome that another package has registered, whose one gene is when to hold in pig."""
    point = metadata.EntryPoint("threshold", "threshold_genome:Threshold", registry.GENOMES.name)
    found = entry_points.of
    monkeypatch.setattr(entry_points, "of", lambda group: found(group) + [point] * (group == registry.GENOMES.name))
    genome.make.cache_clear()
    yield "threshold"
    genome.make.cache_clear()


def test_all_genes_have_their_turn_before_one_has_it_again():
    turns = [climb.gene_of(turn, 5, (1, 2)) for turn in range(15)]
    assert [sorted(turns[start : start + 5]) for start in (0, 5, 10)] == [list(range(5))] * 3
    assert len({tuple(turns[start : start + 5]) for start in (0, 5, 10)}) > 1
    assert turns != [climb.gene_of(turn, 5, (1, 3)) for turn in range(15)]


def test_a_candidate_has_the_seats_that_opponents_have_not():
    np.testing.assert_array_equal(climb.seating(5, 4, 3), [[0, -1, -2, -3], [-3, 0, -1, -2], [-2, -3, 0, -1],
                                                           [-1, -2, -3, 0], [0, -1, -2, -3]])  # fmt: skip
    np.testing.assert_array_equal(climb.seating(2, 4, 2), [[0, -1, 0, -2], [-2, 0, -1, 0]])  # partners sit opposite
    np.testing.assert_array_equal(climb.seating(1, 3, 1), [[0, 0, -1]])


def test_variants_have_one_other_gene():
    rng = np.random.default_rng(0)
    found = climb.variants(object(), None, UNIT, np.array([0.3, 0.7], np.float32), 1, 5, rng)
    np.testing.assert_allclose(found, [[0.3, -2], [0.3, -1], [0.3, 0], [0.3, 1], [0.3, 2]])
    game, made = Ludo(rules="sdu_java"), TruthTable(encoding="saederup")
    few = climb.variants(made, game, made.genes(game), np.linspace(0, 1, 19, dtype=np.float32), 4, 6, rng)
    assert few.shape == (6, 19)


def test_neighbours_of_a_truth_table_have_one_combination_at_another_rank():
    vector = np.array([0.9, 0.1, 0.2], np.float32)  # the order 1, 2, 0
    found = TruthTable(low=0.2, high=0.8).neighbours(None, vector, 2)
    assert [np.argsort(row).tolist() for row in found] == [[2, 1, 0], [1, 0, 2]]
    np.testing.assert_allclose(np.sort(found, 1), np.tile([0.3, 0.5, 0.7], (2, 1)), rtol=1e-6)


def test_rounds_are_halved_on_the_same_dice_and_the_first_always_stays():
    """Games of a round differ by the candidate's strength alone; 24 games a round."""
    strength, asked = np.array([0.0, 5.0, 1.0, 7.0, 3.0, 2.0]), []

    def returns(candidate, games, number):
        asked.append((number, candidate, games))
        return strength[candidate] + np.random.default_rng(number).normal(size=games)

    found = climb.best(6, 72, returns)
    assert [[who for number, who, _ in asked if number == n] for n in range(3)] == [[0, 1, 2, 3, 4, 5], [0, 1, 3],
                                                                                   [0, 3]]  # fmt: skip
    assert [{games for number, _, games in asked if number == n} for n in range(3)] == [{4}, {8}, {12}]
    assert found.winner == 3
    assert found.fitness.argmax() == 3
    assert climb.best(1, 10, returns).winner == 0


def test_luck_does_not_move_a_gene():
    """A candidate that is ahead by half a standard error does not win; by two, it does."""
    noise = np.tile([1.0, -1.0], 50)
    for ahead, winner in ((0.05, 0), (0.2, 1)):
        found = climb.best(2, 200, lambda candidate, games, number, by=ahead: candidate * (by + noise[:games]))
        assert found.winner == winner
        assert found.fitness.max() == found.fitness[winner]


def evolved(threshold, **changes):
    """Members that are far too timid in pig, then a climb."""
    game = registry.make("pig:target=60")
    config = genetic.Config(
        genome=threshold, opponents="random", population=6, parents=2, children=1, first=(1.0,), mutated=0.0,
        games_per_generation=1200, games=3600, climb=2,
    )  # fmt: skip
    config = dataclasses.replace(config, **changes)
    genetic.check(config, game)
    opponents = (players.make("random", game).policy,)
    state, states = genetic.init(config, game, jax.random.key(1)), []
    for _ in range(births.num_generations(config)):
        state, metrics = genetic.update(config, game, opponents, state)
        states.append((state, metrics))
    return states


def test_the_fittest_climbs(threshold):
    bred, first, second = evolved(threshold)
    assert np.asarray(bred[0].genes).ravel().tolist() == [1.0] * 6
    for state, metrics in (first, second):
        assert population.best(state) == 0
        assert metrics["worst"] < metrics["mean"] <= metrics["best"] == float(state.fitness[0])
        np.testing.assert_array_equal(state.params, np.asarray(state.genes)[:, 0])
    assert float(first[0].genes[0, 0]) > 8  # one of 1, 10.75, 20.5, 30.25 and 40
    assert first[1]["best"] > bred[1]["best"] + 0.1
    assert int(second[0].games) == 3600
    assert int(second[0].updates) == 3


def test_a_climb_may_have_more_games(threshold, monkeypatch):
    asked = []
    best = climb.best
    monkeypatch.setattr(climb, "best", lambda number, games, returns: asked.append(games) or best(number, 60, returns))
    states = evolved(threshold, climb_games=5000)
    assert asked == [5000, 5000]
    assert int(states[-1][0].games) == 3600  # as the training counts them


def test_a_climb_is_the_same_again_and_a_playoff_comes_before_it(threshold):
    first, again = (evolved(threshold, playoff_games=600) for _ in range(2))
    for (one, rows), (two, others) in zip(first, again, strict=True):
        jax.tree.map(np.testing.assert_array_equal, one, two)
        assert rows == others
    plain = evolved(threshold)
    assert not np.array_equal(first[0][0].fitness, plain[0][0].fitness)


def test_only_finalists_are_in_a_playoff():
    asked = []

    def points(members, games, number):
        asked.append(members.tolist())
        return np.array([9.0, 1.0, 9.0, 2.0, 9.0])

    found = playoff.fitness(5, 10, points, np.array([1, 3]))
    assert asked == [[1, 3]]
    assert found.argmax() == 3
    assert max(found[[0, 2, 4]].astype(np.float32)) < np.float32(found[1])  # also where a single one plays
    assert playoff.fitness(2, 10, lambda *_: np.array([0.0, -1.0]), np.array([1])).argmax() == 1


def test_finalists_are_trained_anew_for_longer():
    game = Ludo(rules="sdu_java")
    recipe = RewardRecipe(preset="derakhshan2010", training_games=20, final_games=60, entries=1 << 12)
    genes, seeds = np.full((1, 10), 0.4, np.float32), np.array([3])
    genes[0, [3, 5]] = -0.4
    grown = recipe.mature(game, genes, seeds)
    longer = dataclasses.replace(recipe, training_games=60).express(game, genes, seeds)
    jax.tree.map(np.testing.assert_array_equal, grown.params, longer.params)
    assert grown.metrics["known"] > recipe.express(game, genes, seeds).metrics["known"]
    assert dataclasses.replace(recipe, final_games=0).mature(game, genes, seeds) is None


def test_the_best_finalist_plays_as_it_was_trained_anew():
    """Two finalists of three; the one who stays out keeps its table."""
    game = Ludo(rules="sdu_java")
    config = genetic.Config(
        genome="reward_recipe(preset=derakhshan2010,training_games=10,final_games=40,entries=4096)", population=3,
        parents=2, children=1, games_per_generation=40, games=40, playoff_games=80, finalists=2,
    )  # fmt: skip
    genetic.check(config, game)
    without = dataclasses.replace(config, finalists=0, playoff_games=0)
    key = jax.random.key(0)
    plain, _ = genetic.update(without, game, (), genetic.init(without, game, key))
    state, _ = genetic.update(config, game, (), genetic.init(config, game, key))
    ranked = np.argsort(-np.asarray(plain.fitness), kind="stable")
    taken = [[np.count_nonzero(np.asarray(made.params.values)[place]) for place in ranked] for made in (plain, state)]
    assert taken[1][2] == taken[0][2]
    assert min(taken[1][0] - taken[0][0], taken[1][1] - taken[0][1]) > 0
    assert population.best(state) in ranked[:2]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"climb": -1}, "--climb=-1 is no number of generations: expected 0 or more"),
        ({"climb": 1, "opponents": ""}, "--climb=1 needs --opponents"),
        ({"climb": 3}, "--climb=3 leaves none of the 3 generations of --games=3600 to evolve in; expected fewer"),
        ({"climb": 1, "population": 1, "crossover": "none", "parents": 1}, "--population=1 leaves no place for var"),
        ({"climb": 1, "climb_games": 17}, "--climb_games=17 leaves variants without a game; expected at least 18"),
        ({"climb": 1, "games_per_generation": 12, "games": 36}, "--climb_games=0 leaves variants without a game"),
        ({"finalists": 7, "playoff_games": 600}, "--finalists=7: expected 0 for all, or at most the 6 of all islands"),
        ({"finalists": -1, "playoff_games": 600}, "--finalists=-1: expected 0 for all, or at most the 6"),
        ({"finalists": 2, "playoff_games": 0}, "--finalists=2 have no playoff; give --playoff_games too"),
    ],
)
def test_mistakes_are_one_sentence(threshold, changes, words):
    with pytest.raises(UserError, match=words) as error:
        evolved(threshold, **changes)
    assert "\n" not in str(error.value)
