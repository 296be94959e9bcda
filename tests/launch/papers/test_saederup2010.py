"""The NNGA paper: its t-tests by hand, the hand-set net, and what the items ask for."""

import jax
import numpy as np
import pytest

from algorithms import genetic
from algorithms.genomes.truth_table import TruthTable
from boardrl.play.players import Player
from boardrl.play.policy import Policy, Uniform
from games.ludo import Ludo
from launch.papers import saederup2010, saederup2010_limit, sdu_matches

TABLE_3 = np.array(
    [
        [2694, 3300], [2652, 3348], [2708, 3292], [2718, 3282], [2711, 3289],
        [2752, 3248], [2673, 3327], [2699, 3301], [2663, 3337], [2729, 3271],
    ],
    float,
)  # fmt: skip
TABLE_4 = np.array(
    [
        [2349, 3645], [2455, 3545], [2463, 3537], [2428, 3572], [2444, 3556],
        [2403, 3597], [2472, 3528], [2407, 3593], [2413, 3587], [2416, 3584],
    ],
    float,
)  # fmt: skip


def test_the_t_tests_are_the_papers():
    """Of the rows that Tables 3 and 4 print."""
    assert sdu_matches.paired_t(TABLE_3[:, 1], TABLE_3[:, 0]) == pytest.approx(30.9118, rel=2e-3)
    assert sdu_matches.unpaired_t(TABLE_4[:, 1], TABLE_4[:, 0]) == pytest.approx(72.5585, rel=2e-3)
    assert saederup2010.TABLES["table3"][0] == pytest.approx(TABLE_3[:, 1].mean())
    assert saederup2010.TABLES["table4"][0] == pytest.approx(TABLE_4[:, 1].mean())


def test_the_hand_set_net_wants_what_was_set_by_hand():
    game, made = Ludo(rules="sdu_java"), TruthTable(encoding="saederup")
    player = saederup2010.by_hand()
    codes = made.combinations(game) @ (1 << np.arange(9))
    reached = np.asarray(player.policy.params)[codes]
    wanted = dict(zip(made.genes(game).names, reached, strict=True))
    assert wanted["010000000"] == pytest.approx(0.95, abs=0.05)  # it hits
    assert wanted["010000100"] == pytest.approx(0.85, abs=0.05)  # and an enemy comes near
    assert wanted["001000000"] == pytest.approx(0.05, abs=0.05)  # it would be sent home
    assert max(wanted, key=wanted.get).startswith("01")


def test_two_against_two(monkeypatch):
    monkeypatch.setattr(saederup2010, "run", lambda generations, seed: None)
    player = Player("NNGA", Policy(Uniform(Ludo(rules="sdu_java"))))
    monkeypatch.setattr(saederup2010, "_load", lambda path: player)
    monkeypatch.setattr(sdu_matches, "team", lambda *given: (TABLE_4[:, 1], TABLE_4[:, 0]))
    mine, theirs, test = saederup2010.table_4(16_500, 0)
    assert (mine.ours, theirs.ours) == (pytest.approx(3574.4), pytest.approx(2425))
    assert mine.verdict() == "intervals overlap"
    assert test.ours == pytest.approx(72.56, abs=0.2)
    quick, *_ = saederup2010.table_4(150, 0)
    assert quick.paper is None  # a shorter evolution is not held against the paper's


@pytest.mark.parametrize(("name", "num_genes"), [("nine", 19), ("ten", 32)])
def test_our_settings_suit_the_game(name, num_genes):
    game = Ludo(rules="sdu_java")
    _, genome = saederup2010.OUR_GENOMES[name]
    settings = saederup2010.OUR_SETTINGS[name]
    games = saederup2010.OUR_GENERATIONS[name] * settings["games_per_generation"]
    climb = 2 * num_genes if name == "nine" else 0  # every gene twice
    config = genetic.Config(**settings, genome=genome, games=games, climb=climb)
    genetic.check(config, game)
    assert genetic.init(config, game, jax.random.key(0)).genes.shape == (20, num_genes)


def test_compiled_matches_have_the_same_seats_and_points():
    random = sdu_matches.players.make("random", Ludo(rules="sdu_java"))
    returns = sdu_matches.by_seat_compiled(random, 50, 0)
    assert returns.shape == (4, 50)
    assert 0.3 < returns.mean() < 1.3  # SemiSmart is stronger
    mine, theirs = sdu_matches.team_compiled(random, sdu_matches.opponent(), 20, 0)
    np.testing.assert_array_equal(mine + theirs, 6 * 20)
    assert mine.mean() < theirs.mean()


def test_neighbours_of_a_ranking_have_one_entry_elsewhere():
    found = saederup2010_limit.neighbours((2, 0, 1))
    assert found == [(0, 1, 2), (0, 2, 1), (1, 2, 0), (2, 1, 0)]
    assert len(saederup2010_limit.neighbours(range(19))) == 18 * 18


def test_a_bad_ranking_has_a_better_neighbour():
    """Upside down, the hand-set net loses most games."""
    player = saederup2010.by_hand()
    worst = Player("worst", Policy(player.policy.apply, -np.asarray(player.policy.params)))
    evolved, best, gain = saederup2010_limit.cells(worst, 4_000, 0)
    assert evolved.ours < 2_500
    assert best.ours - evolved.ours == pytest.approx(gain.ours)
    assert gain.ours > 0
    assert gain.low < gain.ours < gain.high
