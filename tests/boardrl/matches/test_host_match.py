"""Host players: the same games whether played on device, here or in other processes."""

from __future__ import annotations

import itertools
import re

import chex
import numpy as np
import pytest
from arena_bots import Careful, Cheat
from tiny_games import Coin

from boardrl.errors import UserError
from boardrl.game import CHANCE, TERMINAL
from boardrl.matches import arena, host_match
from boardrl.play.players import Bot, Player, make, make_lineup
from boardrl.play.policy import Policy, Uniform
from boardrl.workers import local
from games.pig import Pig
from games.tic_tac_toe import TicTacToe

GAME = Pig(target=20)


def test_a_bot_that_plays_as_a_policy_gets_the_same_games():
    policy, bot, other = make_lineup("hold(total=8),arena_bots:Careful(total=8),random", GAME)
    for index in range(12):
        with_policy = host_match.play_game(GAME, [policy, other], seed=3, index=index)
        with_bot = host_match.play_game(GAME, [bot, other], seed=3, index=index)
        assert with_policy == with_bot
        assert sorted(with_bot.returns) == [-1.0, 1.0]
        assert not with_bot.cut


@pytest.mark.parametrize("names", ["hold(total=8),random", "random,arena_bots:Careful(total=8)"])
def test_the_steps_in_one_call_change_nothing(names, monkeypatch):
    """All that is drawn ahead is used, in order; and who watches sees every step, each from where the last one led."""
    lineup, games = make_lineup(names, GAME), {}
    for ahead in (64, 3):
        monkeypatch.setattr(host_match, "AHEAD", ahead)
        made: list[host_match.Made] = []
        results = [host_match.play_game(GAME, lineup, seed=5, index=n, watch=made.append) for n in range(3)]
        assert results == [host_match.play_game(GAME, lineup, seed=5, index=n) for n in range(3)]
        games[ahead] = (results, [(step.actor, step.move) for step in made])
        for before, after in itertools.pairwise(made):
            if before.after.actor != TERMINAL:
                chex.assert_trees_all_equal(before.after.state, after.before)
                assert after.actor == before.after.actor
    assert games[64] == games[3]
    assert len(games[64][1]) > 60


def test_games_differ_by_index_and_by_seed():
    lineup = make_lineup("arena_bots:Careful,random", GAME)

    def winners(seed, first):
        return [host_match.play_game(GAME, lineup, seed=seed, index=first + n).returns[0] for n in range(40)]

    assert len(set(winners(0, 0))) == 2
    assert winners(0, 0) == winners(0, 0)
    assert winners(0, 0) != winners(0, 40)
    assert winners(0, 0) != winners(1, 0)


def test_a_player_s_numbers_do_not_move_the_dice(monkeypatch):
    """Seat 0 takes random numbers and plays as one who takes none: the dice of both games fall alike."""

    class Wasteful(Careful):
        def choose(self, game, state, rng):
            rng.random(7)
            return super().choose(game, state, rng)

    monkeypatch.setattr(host_match, "AHEAD", 3)  # numbers that are drawn before anybody is asked
    rolls = {}
    for bot in (Careful, Wasteful):
        made: list[host_match.Made] = []
        lineup = [Player("bot", host=Bot(bot, {"total": 4})), make("hold(total=4)", GAME)]
        host_match.play_game(GAME, lineup, seed=3, index=0, watch=made.append)
        rolls[bot] = [(step.actor, step.move) for step in made]
    assert rolls[Careful] == rolls[Wasteful]
    assert sum(actor == CHANCE for actor, _ in rolls[Careful]) > 9


def test_the_number_of_processes_changes_nothing():
    game = TicTacToe()
    lineup = make_lineup("arena_bots:Moody(patience=1),random", game)
    here = arena.match(game, lineup, num_games=30, seed=7, processes=1)
    assert here == arena.match(game, lineup, num_games=30, seed=7, processes=2)
    assert here != arena.match(game, lineup, num_games=30, seed=8, processes=1)
    # Nor does it matter that a bot with a memory sits twice at the table.
    both = make_lineup("arena_bots:Moody(patience=1),arena_bots:Moody(patience=1)", game)
    twice = arena.match(game, [both[0], both[0]], num_games=6, seed=7, processes=1)
    assert twice == arena.match(game, both, num_games=6, seed=7, processes=1)


def test_an_opening_is_played_by_nobody():
    game, made = TicTacToe(), []
    lineup = make_lineup("perfect,perfect", game)
    for index in range(20):
        moves: list[host_match.Made] = []
        host_match.play_game(game, lineup, seed=0, index=index, opening=3, watch=moves.append)
        made.append(tuple(move.move for move in moves[:3]))
    assert len(set(made)) > 15
    bots = make_lineup("arena_bots:Cheat,random", game)
    host_match.play_game(game, bots, seed=0, index=0, opening=9)  # it would cheat if it were asked
    asked: list[host_match.Made] = []
    with pytest.raises(UserError, match="chose 99"):
        host_match.play_game(game, bots, seed=0, index=0, opening=2, watch=asked.append)
    assert [made.actor for made in asked] == [0, 1]  # the very next move is its own


def test_a_mistake_in_another_process_is_one_sentence():
    game = TicTacToe()
    # Which of the games comes first is up to the processes: the cheat begins in one, and answers to 6 in the next.
    message = (
        r"^player 'arena_bots:Cheat' chose 99; expected one of the legal actions \[0, 1, 2, 3, 4, 5, (6, )?7, 8\]$"
    )
    with pytest.raises(UserError, match=message):
        arena.match(game, make_lineup("arena_bots:Cheat,random", game), num_games=4, seed=0, processes=2)


def test_the_game_of_a_process_that_dies_is_played_again(tmp_path, capfd):
    game = TicTacToe()
    marker = tmp_path / "marker"
    lineup = make_lineup(f"arena_bots:Mortal(marker={marker}),random", game)
    match = arena.match(game, lineup, num_games=6, seed=7, processes=2)
    err = capfd.readouterr().err
    assert re.fullmatch(r"warning: a worker process was killed by SIGKILL; doing game [01] of the match again\n", err)
    assert marker.exists()
    assert match == arena.match(game, lineup, num_games=6, seed=7, processes=1)


def test_a_game_that_no_process_survives_is_given_up(monkeypatch, capfd):
    monkeypatch.setattr(local, "MOST_DEATHS", 2)
    game = TicTacToe()
    with pytest.raises(
        UserError, match=r"^game [01] of the match was abandoned: 2 processes .* ended with exit code 3; "
    ):
        arena.match(game, make_lineup("arena_bots:Dying,random", game), num_games=2, seed=0, processes=2)
    assert capfd.readouterr().err.count("of the match again") >= 1


def test_an_error_in_another_process_is_one_sentence_below_its_traceback(capfd):
    game = TicTacToe()
    with pytest.raises(UserError, match=r"^a worker failed: RuntimeError: a bug of the user's; its trac"):
        arena.match(game, make_lineup("arena_bots:Failing,random", game), num_games=2, seed=0, processes=2)
    assert "in choose" in capfd.readouterr().err


def test_what_has_no_text_is_played_here():
    lineup = [Player("mine", host=Bot(Careful, {"total": 8})), make("random", GAME)]
    match = arena.match(GAME, lineup, num_games=20, seed=1, processes=2)
    named = make_lineup("arena_bots:Careful(total=8),random", GAME)
    assert match.players[0][1:] == arena.match(GAME, named, num_games=20, seed=1, processes=1).players[0][1:]
    unregistered = Coin(heads=0.0, max_steps=5)
    lineup = [Player("bot", host=Bot(Cheat, {})), Player("random", Policy(Uniform(unregistered)))]
    assert arena.match(unregistered, lineup, num_games=3, seed=0).cut == 3


@pytest.mark.parametrize("action", [True, 1.0, None, -1, np.int64(9)])
def test_only_legal_actions_are_taken(action):
    class Odd:
        def reset(self):
            pass

        def choose(self, game, state, rng):
            return action

    game = TicTacToe()
    with pytest.raises(UserError, match=r"player 'odd' chose .* expected one of the legal actions"):
        host_match.play_game(game, [Player("odd", host=Odd())] * 2, seed=0, index=0)
