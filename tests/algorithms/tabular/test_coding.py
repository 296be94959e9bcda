"""Keys, transitions and credit of tabular learning, on positions and games that are worked out anew here."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from algorithms import tabular
from algorithms.tabular import hash_table
from algorithms.tabular.hash_table import Table
from algorithms.tabular.q_kernel import END
from boardrl import host
from boardrl.errors import UserError
from games.ludo import Ludo
from games.pig import Pig

LUDO = Ludo(rules="sdu_java", players=3, pieces=2, ring=8, column=2)


def frozen(coding, entries=64):
    return Table(*map(np.asarray, hash_table.empty(entries, words=coding.num_words, values=coding.num_values)))


def test_truths_share_words_and_numbers_have_their_own():
    @dataclasses.dataclass(frozen=True)
    class Coded(Pig):
        action_encodings = {
            "truths": lambda game, state: jnp.array([[True, False] + [False] * 32, [False, True] + [True] * 32]),
            "numbers": lambda game, state: jnp.array([[3, -1], [5, 7]], jnp.int32),
            "shares": lambda game, state: jnp.zeros((2, 3)),
        }

    game = Coded()
    words = {
        (e, j): tabular.Coding(game, e, j).words(game.init()) for e in ("truths", "numbers") for j in (True, False)
    }
    assert words["truths", False].tolist() == [[1, 0], [2**32 - 2, 3]]
    # 68 truths in a row: the second action's begin at bit 34.
    assert words["truths", True].tolist() == [[1, 2**32 - 8, 15]]
    assert words["numbers", False].tolist() == [[3, 2**32 - 1], [5, 7]]
    assert words["numbers", True].tolist() == [[3, 2**32 - 1, 5, 7]]
    for encoding, joint, sentence in (
        ("shares", True, "has fractions, which are no keys"),
        ("nothing", True, "unknown encoding 'nothing' of pig; expected one of state, truths, numbers, shares"),
        ("state", False, "does not tell actions apart"),
    ):
        with pytest.raises(UserError, match=sentence):
            tabular.Coding(game, encoding, joint)


def test_the_greedy_player_takes_the_first_of_the_best():
    coding = tabular.Coding(LUDO, "durocher", joint=False, among="random")
    table = Table(*map(np.array, frozen(coding)))
    state = LUDO.from_text("3.0 0.0 0.0 0 plays 6 tries=1 ranks=0.0.0")
    words = np.asarray(jax.jit(coding.words)(state))
    assert words.shape == (3, 2)  # two pieces and the pass
    policy, values = jax.jit(tabular.Best(coding)), jax.jit(coding.values)
    unknown = jax.tree.map(jnp.asarray, table)
    assert np.isfinite(policy(unknown, state)).tolist() == [True, False, False]  # nothing known: the first
    for piece, value in ((0, -0.5), (1, 0.25)):
        place = hash_table.find(words[piece], table.keys, table.counts)
        table.keys[place], table.values[place], table.counts[place] = words[piece], value, 1
    table = jax.tree.map(jnp.asarray, table)
    assert values(table, state).tolist()[:2] == [-0.5, 0.25]
    assert np.isfinite(policy(table, state)).tolist() == [False, True, False]


@pytest.fixture(scope="module")
def played():
    """Transitions of three learners, with what was rewarded: +1 a release, -10 a piece lost, 100 times the points."""
    coding = tabular.Coding(LUDO, "state", joint=True)
    worth = {"release": 1.0, "lost": -10.0, "points": 100.0}
    kernel = tabular.kernel(coding, list(worth), ())
    plays = tabular.Plays(learners=3, rivals=0, epsilon=1.0)
    return kernel, list(kernel.play(frozen(coding), range(40), worth=worth, plays=plays, seed=5))


def test_credit_goes_to_the_right_player_across_extra_rolls_and_passed_turns(played):
    """Every reward is worked out from the rows alone: what was released, lost and won up to the next decision."""
    kernel, pages = played
    facet = host.of(LUDO)
    assert list(kernel.causes) == [("release", "lost", "points"), ("lost", "points"), ("points",)]
    ends, losses, again, apart = 0, 0, 0, 0
    for book, count in pages:
        before, after = facet.state(book.before), facet.state(book.after)
        for here, there in zip(book.transition_from[:count], book.transition_to[:count], strict=True):
            seat = int(before.turn[here])
            assert book.seats[here] == seat
            held = (before.pieces[here, seat] == 0).sum(), (after.pieces[here, seat] == 0).sum()
            action = int(book.actions[here])
            released = action < 2 and before.pieces[here, seat, action] == 0 and held[1] < held[0]
            expected = 1.0 * released
            if there == END:
                ends += 1
            else:
                assert before.turn[there] == seat
                lost = int((before.pieces[there, seat] == 0).sum() - held[1])  # base fills up only by being hit
                expected -= 10.0 * lost
                losses += lost
                again += bool(after.turn[here] == seat)
                apart += bool(there > here + 1)
                assert book.rewards[here] == expected
    assert ends == 3 * 40
    assert losses > 20  # each would be credited wrongly by a flipped sign or another player's slot
    assert again > 50  # extra rolls
    assert apart > 50  # others decided in between


def test_points_are_those_of_the_player_whose_game_ends(played):
    _, pages = played
    totals = []
    for book, count in pages:
        last = book.transition_to[:count] == END
        totals += [(int(book.seats[i]), float(book.rewards[i])) for i in book.transition_from[:count][last]]
    points = np.array([round(reward / 100) for _, reward in totals]).reshape(-1, 3)  # the rest is less than 50
    assert sorted(points[0].tolist()) == [0, 1, 2]
    assert (np.sort(points, axis=1) == [0, 1, 2]).all()


def test_a_transition_by_hand():
    """Q(s, a) ← Q(s, a) + α (r + γ max_b Q(s', b) − Q(s, a)), with masked actions left out of the maximum."""
    coding = tabular.Coding(Pig(target=9), "state", joint=True)
    kernel = tabular.kernel(coding, ["points"], ())
    table = Table(*(np.array(leaf) for leaf in frozen(coding, 8)))
    width, words = kernel.module.WORDS, coding.num_words
    book = tabular.Book(
        keys=np.array([[1] * words, [2] * words], np.uint32),
        masks=np.array([[True, True], [True, False]]),
        actions=np.array([1, 0], np.int32),
        rewards=np.array([0.5, 2.0], np.float32),
        transition_from=np.array([1, 0], np.int32),
        transition_to=np.array([END, 1], np.int32),
        seats=np.zeros(2, np.int32),
        before=np.zeros((2, width), np.uint64),
        after=np.zeros((2, width), np.uint64),
    )
    place = hash_table.find(book.keys[1], table.keys, table.counts)
    table.keys[place], table.values[place], table.counts[place] = book.keys[1], [4.0, 100.0], 1
    used, squares = kernel.module.learn(2, 0.5, 0.25, tuple(table), tuple(book), 1, 7)
    # First the end: 4 + 0.5 (2 − 4) = 3. Then 0 + 0.5 (0.5 + 0.25 · 3 − 0), as action 1 is not allowed there.
    assert used == 2
    assert table.values[place].tolist() == [3.0, 100.0]
    first = hash_table.find(book.keys[0], table.keys, table.counts)
    assert table.values[first].tolist() == [0.0, 0.625]
    assert squares == pytest.approx(2.0**2 + 1.25**2)
    assert (
        kernel.module.learn(2, 0.5, 0.25, tuple(frozen_copy(table)), tuple(book._replace(keys=book.keys + 7)), 2, 2)[0]
        == -1
    )


def frozen_copy(table):
    return Table(*map(np.array, table))
