"""Kalah against its published solution, a second reading of its rules in plain Python, and positions made by hand."""

from __future__ import annotations

import functools
import random
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from boardrl import host, registry
from boardrl.errors import UserError
from boardrl.exact import solve
from boardrl.game import TERMINAL
from boardrl.matches import arena
from boardrl.play import players
from boardrl.testing import host_check
from games.kalah import Kalah
from search.analysis import turns as lines

# Irving, Donkers and Uiterwijk (2000), "Solving Kalah", ICGA Journal 23(3), 139-147; its tables as others have copied
# them. Irving's own program (github.com/girving/kalah, rules.c) captures with an empty house opposite, too.
# Table 10: what Kalah(houses, seeds) is to the first player, for 1, 2, … seeds a house.
TABLE_10 = {1: "DLWLWD", 2: "WLLLWW", 3: "DWWWWL", 4: "WWWWWD", 5: "DDWWWW", 6: "WWWWW"}
# Table 9: the margin under best play and a game of best play, house by house, with a dash where the turn passes.
# (Kalah(4,6) is left out: its game as printed does not replay by the paper's own rules.)
TABLE_9 = {
    (4, 1): (2, "32-32-1"),
    (4, 2): (6, "3-3-230-231-1323"),
    (4, 3): (8, "13-1-032-2-3-0-1320-3-0-2"),
    (4, 4): (2, "02-2-3-0-2-21-303231-0-32-1-0"),
    (4, 5): (2, "0-2-1-3-0-2-1-0-32-3-021-2-0-02-2-1-3-3-313032-13031-1-2-2-3"),
    (5, 1): (0, "43-43-2-2"),
    (5, 2): (0, "31-32-24-0-0-31-3"),
    (5, 3): (8, "24-3-3-03-41-1-04342-3-3-2-2-4-414342-3"),
    (5, 4): (12, "12-04-03-2-20-41-1-42-32-3-2-40-0-1"),
    (5, 5): (2, "03-2-2-1-1-23-24-2-0-34414340-4240-2-14342"),
    (5, 6): (2, "2-0-0-3-3-0-2-1-440-4-42-2-121-12-3-1-4-20-0-34-24-324-1-3-3-1-41-43-2-2-3"),
    (6, 1): (2, "54-54-3-3-2"),
    (6, 2): (10, "42-42-30-0-1-1-4-5"),
    (6, 3): (2, "4-5-35-250-2-154-451535452-53-3-54-2"),
    (6, 4): (10, "25-10-3-3-5153-1-4-5-045-4-535452-53-4-1-3-2-0-54-1-3"),
    (6, 5): (12, "12-02-05-2-4-51-53-3-45-20-3-2-2-345-5-4-351-0-54-1-52-354-4-254-3-3"),
}


class Plain(NamedTuple):
    """A position in Python's own types: a board of 2 H + 2 places, each side's houses and then its store."""

    board: tuple[int, ...]
    turn: int

    @classmethod
    def start(cls, houses: int, seeds: int) -> Plain:
        return cls(((seeds,) * houses + (0,)) * 2, 0)

    def side(self, seat: int) -> tuple[int, ...]:
        half = len(self.board) // 2
        return self.board[seat * half : seat * half + half - 1]

    def store(self, seat: int) -> int:
        return self.board[(seat + 1) * len(self.board) // 2 - 1]

    @property
    def over(self) -> bool:
        return not any(self.side(0)) and not any(self.side(1))

    def moves(self) -> list[int]:
        return [house for house, seeds in enumerate(self.side(self.turn)) if seeds]

    def play(self, house: int) -> Plain:
        board, size = list(self.board), len(self.board)
        half = size // 2
        stores = (half - 1, size - 1)
        place = self.turn * half + house
        hand, board[place] = board[place], 0
        while hand:
            place = (place + 1) % size
            if place != stores[1 - self.turn]:
                board[place] += 1
                hand -= 1
        own = self.turn * half <= place < self.turn * half + half - 1
        if own and board[place] == 1:
            opposite = size - 2 - place
            board[stores[self.turn]] += 1 + board[opposite]
            board[place] = board[opposite] = 0
        if not any(board[: half - 1]) or not any(board[half : size - 1]):
            for seat in (0, 1):
                board[stores[seat]] += sum(board[seat * half : seat * half + half - 1])
                board[seat * half : seat * half + half - 1] = [0] * (half - 1)
        again = place == stores[self.turn]
        return Plain(tuple(board), self.turn if again else 1 - self.turn)


@functools.cache
def margin(position: Plain) -> int:
    """Seeds that the player to move will store more than the other, when both play their best."""
    if position.over:
        return position.store(position.turn) - position.store(1 - position.turn)
    after = [position.play(house) for house in position.moves()]
    return max(margin(p) if p.turn == position.turn else -margin(p) for p in after)


@pytest.mark.parametrize(("houses", "most_seeds"), [(1, 6), (2, 6), (3, 3), (4, 1), (5, 1)])
def test_plain_python_solves_what_the_paper_solved(houses, most_seeds):
    found = ""
    for seeds in range(1, most_seeds + 1):
        value = margin(Plain.start(houses, seeds))
        found += "LDW"[int(np.sign(value)) + 1]
        assert value == TABLE_9.get((houses, seeds), (value,))[0]
    assert found == TABLE_10[houses][:most_seeds]


@pytest.mark.parametrize(("houses", "seeds"), [(2, 3), (3, 1), (3, 2)])
def test_the_exact_value_of_the_start_is_the_published_one(houses, seeds):
    solution = solve.solve(Kalah(houses, seeds))
    assert solution.values[0].tolist() == {"W": [1, -1], "D": [0, 0], "L": [-1, 1]}[TABLE_10[houses][seeds - 1]]


step = functools.partial(jax.jit, static_argnames="game")(lambda game, state, move: game.step(state, move))


@pytest.mark.parametrize("houses", [4, 5, 6])
def test_best_games_of_the_paper_end_as_it_says(houses):
    game = Kalah(houses)  # all numbers of seeds share its compiled rules, as only the first position differs
    for (_, seeds), (value, line) in ((key, row) for key, row in TABLE_9.items() if key[0] == houses):
        state, plain = Kalah(houses, seeds).init(), Plain.start(houses, seeds)
        for number, turn in enumerate(line.split("-")):
            for house in map(int, turn):
                assert int(state.turn) == plain.turn == number % 2
                state, plain = step(game, state, jnp.int32(house)), plain.play(house)
        assert plain.over
        assert plain.store(0) - plain.store(1) == int(state.stores[0] - state.stores[1]) == value
        assert game.returns(state).tolist() == [np.sign(value), -np.sign(value)]


@functools.partial(jax.jit, static_argnames="game")
def answers(game, state):
    return game.actor(state), game.legal(state), game.returns(state)


@pytest.mark.parametrize(("houses", "seeds", "games"), [(6, 4, 10), (2, 9, 20)])
def test_whole_games_agree_with_plain_python(houses, seeds, games):
    game, rng, results = Kalah(houses, seeds), random.Random(1), set()
    for _ in range(games):
        state, plain = game.init(), Plain.start(houses, seeds)
        while True:
            actor, legal, returns = map(np.asarray, answers(game, state))
            assert state.pits.tolist() == [list(plain.side(seat)) for seat in (0, 1)]
            assert state.stores.tolist() == [plain.store(seat) for seat in (0, 1)]
            assert np.flatnonzero(legal).tolist() == plain.moves()
            lead = np.sign(plain.store(0) - plain.store(1)) if plain.over else 0
            assert returns.tolist() == [lead, -lead]
            if plain.over:
                assert actor == TERMINAL
                results.add(int(lead))
                break
            assert actor == plain.turn
            house = rng.choice(plain.moves())
            state, plain = step(game, state, jnp.int32(house)), plain.play(house)
    assert {-1, 1} <= results


@pytest.mark.parametrize(
    ("text", "move", "after"),
    [
        ("4.4.4.4.4.4/0 4.4.4.4.4.4/0 0", 0, "0.5.5.5.5.4/0 4.4.4.4.4.4/0 1"),
        ("4.4.4.4.4.4/0 4.4.4.4.4.4/0 0", 2, "4.4.0.5.5.5/1 4.4.4.4.4.4/0 0"),  # ends in the store: moves again
        ("0.5.5.5.5.4/0 4.4.4.4.4.4/0 1", 5, "1.6.6.5.5.4/0 4.4.4.4.4.0/1 0"),  # into the own store only
        ("0.3.0.0.0.8/0 4.4.4.4.4.4/13 0", 5, "0.3.0.0.0.0/7 5.5.5.5.5.0/13 1"),  # past the other's store, and captures
        ("13.1.0.0.0.0/0 1.1.1.1.1.1/28 0", 0, "0.2.1.1.1.1/4 2.2.2.2.2.0/28 1"),  # round to where it came from
        ("1.0.1.0.0.0/20 1.1.1.1.0.1/21 0", 0, "0.0.1.0.0.0/21 1.1.1.1.0.1/21 1"),  # an empty house opposite
        ("0.0.0.0.0.1/20 0.0.0.3.0.0/24 0", 5, "0.0.0.0.0.0/21 0.0.0.0.0.0/27 0"),  # the other stores the rest
        ("1.0.3.0.0.0/20 0.0.0.0.4.0/20 0", 0, "0.0.0.0.0.0/28 0.0.0.0.0.0/20 1"),  # the other side is emptied
        ("0.0.0.0.0.3/20 0.0.0.0.0.1/24 1", 5, "0.0.0.0.0.0/23 0.0.0.0.0.0/25 1"),
    ],
)  # fmt: skip
def test_moves_made_by_hand(text, move, after):
    assert Kalah().to_text(step(Kalah(), Kalah().from_text(text), jnp.int32(move))) == after


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "expected 6 houses and a store"),
        ("4.4.4.4.4/4 4.4.4.4.4.4/0 0", "expected 6 houses and a store"),
        ("4.4.4.4.4.4/0 4.4.4.4.4.4/0 2", "expected 6 houses and a store"),
        ("4.4.4.4.4.999999999999/0 4.4.4.4.4.4/0 0", "expected 6 houses and a store"),
        ("4.4.4.4.4.4/1 4.4.4.4.4.4/0 0", "expected 48 seeds in all"),
        ("0.0.0.0.0.0/24 4.4.4.4.4.4/0 0", "a side is empty"),
    ],
)
def test_bad_positions_are_refused(text, words):
    with pytest.raises(UserError, match=words):
        Kalah().from_text(text)


@pytest.mark.parametrize(("name", "value"), [("houses", 0), ("houses", 11), ("seeds", 0), ("seeds", 11)])
def test_bad_options_are_refused(name, value):
    with pytest.raises(UserError, match=f"{name}={value} does not fit kalah: expected 1 to 10"):
        Kalah(**{name: value})


def test_moves_and_the_board_in_words():
    state = Kalah(3, 2).from_text("1.0.2/3 2.2.1/1 0")
    assert [Kalah(3, 2).move_text(state, jnp.int32(house)) for house in (0, 2)] == [
        "house 0 (1 seed)",
        "house 2 (2 seeds)",
    ]
    assert str(Kalah(3, 2).show(state)).split("\n") == [
        "      1    2    2",
        "  1                 3",
        "      1    0    2",
    ]


def test_features_weigh_seeds_extra_turns_and_the_turn():
    state = Kalah(3, 2).from_text("1.0.1/3 2.2.2/1 0")  # house 2 of seat 0 and house 1 of seat 1 end in the store
    np.testing.assert_allclose(Kalah(3, 2).features(state, jnp.int32(0)), [2 / 12, -4 / 12, 0, 1], rtol=1e-6)
    np.testing.assert_allclose(Kalah(3, 2).features(state, jnp.int32(1)), [-2 / 12, 4 / 12, 0, -1], rtol=1e-6)


def test_compiled_rules_do_not_differ():
    agreement = host_check.compare(registry.make("kalah"), num_rolls=8192, seed=1)
    assert agreement.games >= 100
    assert agreement.differences == dict.fromkeys(agreement.differences, 0)


def test_a_shallow_search_beats_random():
    game = Kalah()
    pair = [players.make("negascout(depth=2,kilobytes=512)", game), players.make("random", game)]
    assert arena.match(game, pair, num_games=20, seed=0, processes=1).players[0].wins >= 17


def test_a_line_tells_every_move_of_a_turn():
    game = Kalah(houses=3, seeds=3)
    facet, work = host.of(game), host.of(game).work()
    rows = [facet.row(game.init())]
    for house in (0, 1, 2):  # three seeds from house 0 end in the store, so that the player moves again
        rows.append(facet.rows())
        facet.step(rows[-2], house, rows[-1], work)
    assert lines.text(facet, rows) == ["house 0 (3 seeds) + house 1 (4 seeds)", "house 2 (3 seeds)"]
