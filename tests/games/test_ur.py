"""The Royal Game of Ur against published chances, a second solution of its rules, and positions made by hand."""

from __future__ import annotations

import random
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import plain_ur
import pytest

from boardrl import registry
from boardrl.errors import UserError
from boardrl.exact import solve
from boardrl.game import CHANCE, TERMINAL
from boardrl.matches import arena
from boardrl.play import players
from boardrl.testing import host_check
from games.ur import Ur

STEP = jax.jit(Ur().step)
ANSWERS = jax.jit(lambda state: (Ur().actor(state), Ur().legal(state)))
# Chances to win of who throws, with one or two pieces left to each, from Joseph Heled's solution of Finkel's rules
# (jheled.github.io/royalur, pages solve and luck: 4/7, 116/161, 74/161; 47.1 %, 51.31 %, 50.13 %). His squares
# a to d are ours 1 to 4, 1 to 8 are 5 to 12, and y, z are 13, 14.
PUBLISHED = [
    (1, "0:.............x 0:.............x 0 rolls", 4 / 7, 1e-9),
    (1, "0:............x. 0:.............x 0 rolls", 116 / 161, 1e-9),
    (1, "0:............x. 0:.............x 1 rolls", 74 / 161, 1e-9),
    (2, "0:.x.....x...... 0:......x..x.... 0 rolls", 0.471, 0.0005),
    (2, "0:...x...x...... 0:......x..x.... 0 rolls", 0.5131, 0.00005),  # moved b to d with a 2, and throws again
    (2, "0:.x.......x.... 1:......x....... 1 rolls", 1 - 0.5013, 0.00005),  # hit with it; the other throws
]


@pytest.mark.parametrize(("pieces", "text", "chance", "tolerance"), PUBLISHED)
def test_exact_chances_are_the_published_ones(pieces, text, chance, tolerance):
    game = Ur(pieces)
    solution, state = solve.solve(game), game.from_text(text)
    value = solution.values[int(solution.index(state)), int(state.turn)]
    assert (1 + value) / 2 == pytest.approx(chance, abs=tolerance)


def test_exact_values_are_those_of_a_second_solution():
    """Of every position with two pieces a side in which the dice are thrown."""
    solution, tables = solve.solve(Ur(2)), plain_ur.solve(2)
    states = solution.states()
    home = 2 - states.hand - states.squares.sum(2)
    thrown = np.flatnonzero((states.roll == 0) & (home < 2).all(1))
    masks = plain_ur.RANK[states.squares @ (1 << np.arange(14))]
    wanted = np.empty(len(thrown))
    for number, n in enumerate(thrown):
        me = states.turn[n]
        wanted[number] = tables[home[n, me], home[n, 1 - me]][masks[n, me], masks[n, 1 - me]]
    assert len(thrown) > 20_000
    np.testing.assert_allclose((1 + solution.values[thrown, states.turn[thrown]]) / 2, wanted, atol=1e-9)
    # Who begins wins 51.86 % of the games; with seven pieces 51.5 %, says Heled (page play).
    assert wanted[0] == pytest.approx(0.51857, abs=1e-5)


class Plain(NamedTuple):
    """A position in Python's own types: where each player's pieces are, 0 the hand and 15 home."""

    places: tuple[tuple[int, ...], tuple[int, ...]]
    turn: int = 0
    roll: int = 0

    @property
    def over(self) -> bool:
        return any(set(side) == {15} for side in self.places)

    def moves(self) -> list[int]:
        mine, theirs = self.places[self.turn], self.places[1 - self.turn]
        ends = {place: place + self.roll for place in mine if place < 15 and self.roll}
        fits = {place for place, end in ends.items() if end == 15 or (end < 15 and end not in mine)}
        return sorted(fits - {place for place in fits if ends[place] == 8 and 8 in theirs})

    def play(self, move: int) -> Plain:
        if self.roll == 0:
            thrown = self._replace(roll=move)
            return thrown if thrown.moves() else self._replace(turn=1 - self.turn)
        mine, theirs, end = list(self.places[self.turn]), self.places[1 - self.turn], move + self.roll
        mine[mine.index(move)] = end
        theirs = tuple(0 if 5 <= end <= 12 and place == end else place for place in theirs)
        sides = (tuple(mine), theirs) if self.turn == 0 else (theirs, tuple(mine))
        return Plain(sides, self.turn if end in (4, 8, 14) else 1 - self.turn)

    def text(self) -> str:
        sides = [
            f"{side.count(0)}:" + "".join("x" if square in side else "." for square in range(1, 15))
            for side in self.places
        ]
        return f"{sides[0]} {sides[1]} {self.turn} " + (f"plays {self.roll}" if self.roll else "rolls")


def test_whole_games_agree_with_plain_python():
    game, rng, winners = Ur(), random.Random(4), set()
    for _ in range(6):
        state, plain = game.init(), Plain(((0,) * 7,) * 2)
        while not plain.over:
            actor, legal = ANSWERS(state)
            assert game.to_text(state) == plain.text()
            assert int(actor) == (plain.turn if plain.roll else CHANCE)
            assert np.flatnonzero(legal).tolist() == plain.moves()
            move = rng.choice(plain.moves() if plain.roll else range(5))
            state, plain = STEP(state, jnp.int32(move)), plain.play(move)
        assert int(game.actor(state)) == TERMINAL
        assert game.returns(state).tolist() == [1 if set(side) == {15} else -1 for side in plain.places]
        winners.add(set(plain.places[0]) == {15})
    assert winners == {True, False}


@pytest.mark.parametrize(
    ("text", "move", "after"),
    [
        ("7:.............. 7:.............. 0 rolls", 3, "7:.............. 7:.............. 0 plays 3"),
        ("7:.............. 7:.............. 0 rolls", 0, "7:.............. 7:.............. 1 rolls"),
        ("0:.............x 7:.............. 0 rolls", 2, "0:.............x 7:.............. 1 rolls"),  # no exact roll
        ("7:.............. 7:.............. 0 plays 3", 0, "6:..x........... 7:.............. 1 rolls"),
        ("7:.............. 7:.............. 0 plays 4", 0, "6:...x.......... 7:.............. 0 rolls"),  # a rosette
        ("6:...x.......... 6:......x....... 0 plays 3", 4, "6:......x....... 7:.............. 1 rolls"),  # hits
        ("6:..x........... 6:...x.......... 0 plays 1", 3, "6:...x.......... 6:...x.......... 0 rolls"),  # not shared
        ("6:...........x.. 6:............x. 0 plays 1", 12, "6:............x. 6:............x. 1 rolls"),
        ("6:.....x........ 7:.............. 1 rolls", 4, "6:.....x........ 7:.............. 1 plays 4"),
        ("0:............x. 6:x............. 0 plays 1", 13, "0:.............x 6:x............. 0 rolls"),
        ("1:............x. 6:x............. 0 plays 2", 13, "1:.............. 6:x............. 1 rolls"),  # goes home
        ("0:............x. 6:x............. 0 plays 2", 13, "0:.............. 6:x............. 1 rolls"),  # and wins
        ("0:.............. 6:x............. 1 rolls", 3, "0:.............. 6:x............. 1 rolls"),  # it is over
    ],
)
def test_moves_made_by_hand(text, move, after):
    game = Ur()
    assert game.to_text(STEP(game.from_text(text), jnp.int32(move))) == after


@pytest.mark.parametrize(
    ("text", "legal"),
    [
        ("7:.............. 7:.............. 0 rolls", []),
        ("5:..x........... 7:.............. 0 plays 3", [3]),  # not onto a piece of one's own
        ("5:.....x........ 5:.......x...... 0 plays 2", [0]),  # nor onto an enemy on the rosette that both pass
        ("5:.....x........ 5:......x....... 0 plays 1", [0, 6]),
        ("0:...........x.x 7:.............. 0 plays 3", [12]),
        ("0:...........x.x 7:.............. 0 plays 1", [12, 14]),
    ],
)
def test_what_may_be_moved(text, legal):
    game = Ur()
    assert np.flatnonzero(game.legal(game.from_text(text))).tolist() == legal


def test_the_dice_and_the_end():
    game = Ur()
    assert int(game.actor(game.init())) == CHANCE
    np.testing.assert_allclose(game.chance(game.init()), [1 / 16, 4 / 16, 6 / 16, 4 / 16, 1 / 16], rtol=1e-6)
    over = game.from_text("3:.............. 0:.............. 0 rolls")
    assert int(game.actor(over)) == TERMINAL
    assert game.returns(over).tolist() == [-1, 1]
    assert not game.chance(over).any()
    assert not game.legal(over).any()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "expected each seat's hand and 14 squares"),
        ("7:............. 7:.............. 0 rolls", "expected each seat's hand and 14 squares"),
        ("7:.............. 7:.............. 0 plays 5", "expected each seat's hand and 14 squares"),
        ("7:x............. 7:.............. 0 rolls", "expected at most 7 pieces"),
        ("6:....x......... 6:....x......... 0 rolls", "both seats have a piece on one of the squares 5 to 12"),
        ("0:.............. 0:.............. 0 rolls", "both have won"),
        ("7:.............. 0:.............. 0 plays 1", "no piece can be moved"),
        ("0:...........x.x 7:.............. 0 plays 2", "no piece can be moved"),
    ],
)
def test_bad_positions_are_refused(text, words):
    with pytest.raises(UserError, match=words):
        Ur().from_text(text)


@pytest.mark.parametrize("pieces", [0, 8])
def test_bad_options_are_refused(pieces):
    with pytest.raises(UserError, match=f"pieces={pieces} does not fit ur: expected 1 to 7"):
        Ur(pieces)


@pytest.mark.parametrize(
    ("text", "move", "words"),
    [
        ("7:.............. 7:.............. 0 rolls", 3, "throws 3"),
        ("7:.............. 7:.............. 0 rolls", 0, "throws 0, nothing to move"),
        ("7:.............. 7:.............. 0 plays 4", 0, "from the hand to 4, throws again"),
        ("6:...x.......... 6:......x....... 0 plays 3", 4, "from 4 to 7, hits"),
        ("1:............x. 6:x............. 0 plays 2", 13, "from 13 to home"),
    ],
)
def test_moves_in_words(text, move, words):
    assert Ur().move_text(Ur().from_text(text), jnp.int32(move)) == words


def test_the_board_is_shown():
    state = Ur().from_text("5:..x......x.... 4:...x...x.....x 0 rolls")
    assert str(Ur().show(state)) == "o . . .     o .   4 in hand\n. . . o . x . .\n* x . .     * .   5 in hand"


def test_features_weigh_the_race_the_danger_and_the_rosette():
    state = Ur(3).from_text("1:......x....... 1:.......x...... 1 rolls")  # one home each
    np.testing.assert_allclose(Ur(3).features(state, jnp.int32(0)), [-1 / 45, 0, 1 / 3, -1, -1], rtol=1e-5)
    np.testing.assert_allclose(Ur(3).features(state, jnp.int32(1)), [1 / 45, 0, -1 / 3, 1, 1], rtol=1e-5)


def test_compiled_rules_do_not_differ():
    agreement = host_check.compare(registry.make("ur"), num_rolls=8192, seed=1)
    assert agreement.games >= 40
    assert agreement.differences == dict.fromkeys(agreement.differences, 0)


def test_a_shallow_search_beats_random():
    game = Ur()
    pair = [players.make("expectimax(depth=1,kilobytes=512)", game), players.make("random", game)]
    assert arena.match(game, pair, num_games=20, seed=0, processes=1).players[0].wins >= 18
