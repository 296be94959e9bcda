"""The genetic algorithm: its operators by hand, whole generations, and what it refuses."""

import dataclasses
from importlib import metadata

import jax
import numpy as np
import pytest

from algorithms import genetic
from algorithms.genomes import breeding, genome, playoff, population
from algorithms.genomes.births import mutation as mutation_of
from algorithms.genomes.births import of_generation
from algorithms.genomes.breeding import Mutation
from algorithms.genomes.genome import Genes
from boardrl import entry_points, registry
from boardrl.errors import UserError

UNIT = Genes(tuple("abcdefghij"), np.zeros(10, np.float32), np.ones(10, np.float32))


def rng(seed=0):
    return np.random.default_rng(seed)


def test_a_child_has_the_genes_of_the_first_up_to_a_point_and_of_the_second_from_there():
    first, second = np.zeros(10, np.float32), np.ones(10, np.float32)
    cuts = set()
    for seed in range(60):
        child = breeding.crossed(first, second, "single_point", rng(seed))
        cut = int((child == 0).sum())
        np.testing.assert_array_equal(child, np.arange(10) >= cut)
        cuts.add(cut)
    assert cuts == set(range(1, 10))  # at least one gene of each
    mixed = np.stack([breeding.crossed(first, second, "uniform", rng(seed)) for seed in range(200)])
    assert mixed.mean() == pytest.approx(0.5, abs=0.05)
    assert (mixed[:, 1:] < mixed[:, :-1]).any()
    np.testing.assert_array_equal(breeding.crossed(first, second, "none", rng()), first)


def test_a_mutation_changes_its_share_of_the_genes_by_as_much_as_it_may():
    """Table 1 of derakhshan2010: 4 of 10 genes, by 0.1 to 0.3 up or down."""
    start, steps = np.full(10, 0.5, np.float32), []
    for seed in range(100):
        change = breeding.mutated(start, UNIT, Mutation(0.4, 0.1, 0.3), rng(seed)) - start
        assert (change != 0).sum() == 4
        steps += change[change != 0].tolist()
    assert 0.1 <= min(np.abs(steps)) < 0.11
    assert 0.29 < max(np.abs(steps)) <= 0.3 + 1e-6
    assert np.mean(np.array(steps) > 0) == pytest.approx(0.5, abs=0.1)


def test_no_gene_leaves_its_bounds_and_steps_are_shares_of_its_range():
    genes = Genes(("a", "b"), np.array([-1.0, 0.0], np.float32), np.array([0.0, 100.0], np.float32))
    changed = [breeding.mutated(np.array([0.0, 50.0]), genes, Mutation(1.0, 0.2, 0.2), rng(seed)) for seed in range(20)]
    assert {round(float(a), 5) for a, _ in changed} == {0.0, -0.2}
    assert {round(float(b), 5) for _, b in changed} == {30.0, 70.0}


def test_the_first_members_are_mutants_of_the_first_or_anywhere():
    first = np.linspace(0, 1, 10, dtype=np.float32)
    members = breeding.first_members(4, UNIT, first, Mutation(0.4, 0.1, 0.3), rng())
    np.testing.assert_array_equal(members[0], first)
    assert ((members[1:] != first).sum(1) >= 2).all()
    drawn = breeding.first_members(500, UNIT, None, Mutation(0.4, 0.1, 0.3), rng())
    assert drawn.min() < 0.01
    assert drawn.max() > 0.99


def test_the_mean_of_all_parents_is_the_child_of_each():
    vectors = np.arange(40, dtype=np.float32).reshape(4, 10) / 40
    options = {"num_parents": 3, "num_children": 2, "crossover": "mean", "rng": rng()}
    fitness, mean = np.array([1.0, 4.0, 2.0, 3.0]), (vectors[1] + vectors[2] + vectors[3]) / 3
    found = breeding.bred(vectors, fitness, UNIT, mutation=Mutation(0.0, 0.0, 0.0), **options)
    np.testing.assert_allclose(found, np.tile(mean, (2, 1)), rtol=1e-6)
    first, second = breeding.bred(vectors, fitness, UNIT, mutation=Mutation(0.5, 0.1, 0.1), **options)
    np.testing.assert_allclose(first, mean, rtol=1e-6)  # the mean itself is a child too
    assert (np.abs(second - mean) > 0.05).sum() == 5
    (only,) = breeding.bred(vectors, fitness, UNIT, mutation=Mutation(0.5, 0.1, 0.1), **options | {"num_children": 1})
    assert (np.abs(only - mean) > 0.05).sum() == 5  # or nothing would ever change


def test_mutations_become_smaller_along_a_straight_line():
    """Five generations, of which the last has a quarter of the steps."""
    config = genetic.Config(
        games=500, games_per_generation=100, mutated=0.2, mutation_least=0.1, mutation_most=0.4, mutation_end=0.25
    )
    steps = [mutation_of(config, generation) for generation in range(7)]
    np.testing.assert_allclose([step.most for step in steps], [0.4, 0.325, 0.25, 0.175, 0.1, 0.1, 0.1])
    np.testing.assert_allclose([step.least for step in steps], [0.1, 0.08125, 0.0625, 0.04375, 0.025, 0.025, 0.025])
    assert {step.share for step in steps} == {0.2}


def births(config, fitness, generation=1):
    islands = np.arange(len(fitness)).reshape(config.islands, config.population)
    vectors = np.arange(len(fitness), dtype=np.float32)[:, None].repeat(10, 1) / 100
    rngs = [rng(seed) for seed in range(config.islands)]
    return of_generation(config, UNIT, islands, vectors, np.array(fitness), generation, rngs)


def test_the_child_of_the_two_best_replaces_the_worst():
    config = genetic.Config(population=4, parents=2, children=1, mutated=0.0)
    for seed in range(5):
        found = births(dataclasses.replace(config), [1.0, 3.0, 0.5, 2.0], seed + 1)
        assert found.children.tolist() == [2]
        assert set(np.round(100 * found.vectors[0]).tolist()) == {1, 3}  # genes of members 1 and 3
        assert found.vectors[0, 0] == np.float32(0.01)  # the fitter one gives the first genes
        assert found.source.tolist() == [0, 1, 2, 3]


def test_a_generation_may_be_replaced_as_a_whole():
    config = genetic.Config(population=4, parents=2, children=4, mutated=0.0)
    assert sorted(births(config, [1.0, 3.0, 0.5, 2.0]).children) == [0, 1, 2, 3]


def test_the_best_of_an_island_takes_the_place_of_a_child_of_the_next():
    config = genetic.Config(population=3, parents=2, children=2, mutated=0.0, islands=2, migrate_every=5)
    fitness = [3.0, 1.0, 2.0, 1.0, 2.0, 5.0]
    found = births(config, fitness, generation=4)
    assert found.children.tolist() == [2, 1, 4, 3]
    assert found.source.tolist() == [0, 1, 2, 3, 4, 5]
    found = births(config, fitness, generation=5)
    assert found.children.tolist() == [2, 4]
    assert found.source.tolist() == [0, 5, 2, 0, 4, 5]


@pytest.fixture
def threshold(monkeypatch):
    """A genome that another package has registered."""
    point = metadata.EntryPoint("threshold", "threshold_genome:Threshold", registry.GENOMES.name)
    found = entry_points.of
    monkeypatch.setattr(entry_points, "of", lambda group: found(group) + [point] * (group == registry.GENOMES.name))
    genome.make.cache_clear()
    yield "threshold"
    genome.make.cache_clear()


def evolve(config, game, updates, state=None):
    state = genetic.init(config, game, jax.random.key(1)) if state is None else state
    rows = []
    for _ in range(updates):
        state, metrics = genetic.update(config, game, (), state)
        rows.append(metrics)
    return state, rows


def test_a_genome_of_another_package_evolves(threshold):
    """In pig to 60, to hold at 20 to 30 beats those who are timid, who die out."""
    assert threshold in registry.names(registry.GENOMES)
    game = registry.make("pig:target=60")
    config = genetic.Config(genome=threshold, population=8, games_per_generation=1000, games=20_000, memory=0.0)
    genetic.check(config, game)
    state, rows = evolve(config, game, 20)
    assert (int(state.updates), int(state.games)) == (20, 20_000)
    assert 15 <= float(state.genes[population.best(state), 0]) <= 38
    assert np.asarray(state.genes).min() > 8
    for row in rows:
        assert row["worst"] < row["mean"] < row["best"]
        assert row["mean"] == pytest.approx(0, abs=0.05)  # what one wins, another loses
    assert genetic.describe(config, game, state) == {"hold_at": f"{float(state.genes[population.best(state), 0]):.4g}"}
    assert float(genetic.policy(config, game, state).params) == float(state.genes[population.best(state), 0])


def test_islands_evolve_side_by_side_and_their_sizes_add_up(threshold):
    game = registry.make("pig:target=20")
    config = genetic.Config(
        genome=threshold, population=3, games_per_generation=24, games=24 * 2 * 4, islands=2, migrate_every=2,
        parents=2, children=1,
    )  # fmt: skip
    state, _ = evolve(config, game, 2)
    before = np.asarray(state.genes)
    after, _ = evolve(config, game, 1, state)
    fittest = [3 * island + int(np.argmax(state.fitness[3 * island : 3 * island + 3])) for island in range(2)]
    assert int(after.games) == 24 * 2 * 3
    # Both children of generation 2 are replaced by the best of the other island.
    changed = np.flatnonzero((np.asarray(after.genes) != before).any(1))
    assert sorted(float(after.genes[place, 0]) for place in changed) == sorted(float(before[f, 0]) for f in fittest)


def test_what_is_remembered_counts_less_and_less(threshold):
    """Of a member who stays, fitness is Σ m^k p_(t-k) / Σ m^k, with p its points in each generation."""
    game = registry.make("pig:target=20")
    config = genetic.Config(
        genome=threshold, population=3, games_per_generation=60, games=180, parents=2, children=1, memory=0.5
    )
    state, _ = evolve(dataclasses.replace(config, memory=0.5), game, 1)
    stays = population.best(state)
    then, _ = evolve(config, game, 1, state)
    alone, _ = evolve(dataclasses.replace(config, memory=0.0), game, 1, state)
    expected = (float(alone.fitness[stays]) + 0.5 * float(state.fitness[stays])) / 1.5
    assert float(then.fitness[stays]) == pytest.approx(expected, abs=1e-6)
    assert float(then.weight[stays]) == pytest.approx(1.5)


def test_a_playoff_decides_after_the_last_generation(threshold):
    """The points of fresh games alone count then, and the genes stay."""
    game = registry.make("pig:target=40")
    config = genetic.Config(genome=threshold, population=4, games_per_generation=40, games=120, memory=0.9)
    before, _ = evolve(config, game, 2)
    plain, _ = evolve(config, game, 1, before)
    off, _ = evolve(dataclasses.replace(config, games=160, playoff_games=4000), game, 1, before)
    np.testing.assert_array_equal(off.fitness, plain.fitness)  # a generation is still to come
    state, _ = evolve(dataclasses.replace(config, playoff_games=4000), game, 1, before)
    np.testing.assert_array_equal(state.genes, plain.genes)
    assert int(state.games) == 120
    assert np.asarray(state.weight).tolist() == [1, 1, 1, 1]
    changed, _ = evolve(dataclasses.replace(config, memory=0.1, playoff_games=4000), game, 1, before)
    np.testing.assert_array_equal(state.fitness, changed.fitness)  # nothing of the generations before
    assert not np.array_equal(state.fitness, plain.fitness)


def test_in_a_playoff_the_better_half_plays_on():
    """Rounds of 100 games: 5 members play 20 each, 3 then 33, 2 then 50."""
    rounds = [[1.0, 5.0, 4.0, 0.5, 3.0], [0, 1.0, 2.0, 0, 3.0], [0, 0, 4.0, 0, 2.0]]
    asked = []

    def points(members, games, number):
        asked.append((members.tolist(), games))
        return np.array(rounds[number])

    found = playoff.fitness(5, 300, points)
    assert asked == [([0, 1, 2, 3, 4], 100), ([1, 2, 4], 100), ([2, 4], 100)]
    third = (4.0 / 5 + 2.0 / 3 + 4.0 / 2) / (1 / 5 + 1 / 3 + 1 / 2)
    last = (3.0 / 5 + 3.0 / 3 + 2.0 / 2) / (1 / 5 + 1 / 3 + 1 / 2)
    left = (5.0 / 5 + 1.0 / 3) / (1 / 5 + 1 / 3)
    assert left < last
    np.testing.assert_allclose(found, [1.0, left, third, 0.5, last])
    # Who left stays behind those who played on, whatever these lost to each other.
    later = playoff.fitness(2, 10, lambda members, games, number: np.array([2.0, 1.0]))
    assert later.tolist() == [2.0, 1.0]
    worse = [[3.0, 2.0, 1.0, 0.0], [-9.0, -8.0, 0.0, 0.0]]
    behind = playoff.fitness(4, 10, lambda members, games, number: np.array(worse[number]))
    assert behind.argmax() == 1
    assert max(behind[2:]) <= min(behind[:2])
    assert playoff.fitness(1, 10, lambda members, games, number: np.array([0.5])).tolist() == [0.5]


def test_a_newcomers_luck_counts_half():
    """m = 1; the newcomer stands at 1 + 2 · 1/2, the one of nine generations at 1 + 1.5 · 9/10."""
    standing = population.standing(np.array([3.0, 2.5, -2.5]), np.array([1.0, 9.0, 9.0]))
    np.testing.assert_allclose(standing, [1 + 2 * 0.5, 1 + 1.5 * 0.9, 1 - 3.5 * 0.9])
    fitness = np.array([1.4, 1.7, 1.2, 1.6])
    assert np.argsort(population.standing(fitness, np.ones(4))).tolist() == np.argsort(fitness).tolist()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"genome": "wieghts"}, r"unknown genome 'wieghts' \(did you mean 'weights'\?\); known genomes: .*truth_table"),
        ({"population": 0}, "--population=0 is too small: expected at least 1"),
        ({"parents": 9}, "--parents=9 are more than the --population=4 has members"),
        ({"children": 5}, "--children=5 are more than the --population=4 has members"),
        ({"parents": 1}, "--parents=1 leaves nobody to cross with"),
        ({"genome": "weights(low=1,high=-1)"}, "gene 'w0' of genome .* goes from 1 to -1: expected the lower bound"),
        ({"mutation_least": 0.5}, "--mutation_least=0.5 is above --mutation_most=0.3; exchange them"),
        ({"mutated": 1.5}, "--mutated=1.5 is out of range: expected 0 to 1"),
        ({"mutation_end": -1.0}, "--mutation_end=-1.0 is out of range: expected 0 to 1"),
        ({"playoff_games": 1}, "--playoff_games=1 leaves members without a game; expected at least 4, or 0 for none"),
        ({"playoff_games": -5}, "--playoff_games=-5 leaves members without a game; expected at least 4, or 0 for none"),
        ({"games": 150}, "--games=150 ends within a generation, which has 100 games .*like 200"),
        ({"genome": "truth_table"}, "pig has no action encoding of truths, which genome 'truth_table' needs"),
        (
            {"genome": "reward_recipe(encoding=derakhshan)"},
            "unknown encoding 'derakhshan' of pig; expected one of state",
        ),
        ({"genome": "reward_recipe(events=win+knock)"}, "unknown event 'knock' .* pig can reward win, draw, lose"),
        ({"genome": "weights(evaluator=features)"}, "pig offers no features to weigh.*weights\\(evaluator=net\\)"),
        ({"genome": "weights(depth=1)", "opponents": "random"}, "--opponents=random cannot be seated where members"),
        ({"first": (1.0, 2.0)}, r"--first=1\+2 has 2 genes: expected 74"),
        ({"games_per_generation": 1, "games": 2, "population": 9}, "--games_per_generation=1 leaves members without"),
        ({"opponents": "random,random"}, "leaves no seat to learn"),
    ],
)
def test_mistakes_are_one_sentence(changes, words):
    config = genetic.Config(
        **{"genome": "weights", "population": 4, "games_per_generation": 100, "games": 200} | changes
    )
    with pytest.raises(UserError, match=words) as error:
        genetic.check(config, registry.make("pig:target=20"))
    assert "\n" not in str(error.value)


def test_it_is_an_algorithm_and_its_genomes_are_none():
    assert "genetic" in registry.names(registry.ALGORITHMS)
    assert "genomes" not in registry.names(registry.ALGORITHMS)
    assert registry.algorithm("genetic") is genetic
