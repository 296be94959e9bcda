"""Players by name: what each text makes, and the sentence for each that makes none."""

from __future__ import annotations

import functools
import importlib
import pathlib
import re
from dataclasses import replace
from typing import Any, NamedTuple

import arena_bots
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from boardrl import entry_points
from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.matches import arena
from boardrl.play import players
from boardrl.play.players import Player, make, make_lineup
from boardrl.play.policy import Policy, Strategy, Uniform
from boardrl.runs.run_directory import Learned
from boardrl.tournaments import tournament
from games.pig import Pig
from games.tic_tac_toe import TicTacToe

PIG = Pig(target=20)
TTT = TicTacToe()


def wanted(player: Player, state) -> list[int]:
    """The legal actions that a policy does not rule out."""
    return np.flatnonzero(np.isfinite(logits(player, state)) & np.asarray(TTT.legal(state))).tolist()


def logits(player: Player, state) -> list[float]:
    return player.policy.apply(player.policy.params, state).tolist()


def test_policies_by_name():
    random, hold, early = make_lineup("random, hold, hold(total=5)", PIG)
    assert random.policy == Policy(Uniform(PIG))
    assert hold.policy == Policy(Strategy(PIG, "hold"))
    assert early.policy == Policy(Strategy(PIG, "hold", (("total", 5),)))
    assert [player.name for player in (random, hold, early)] == ["random", "hold", "hold(total=5)"]
    at_stake = PIG.from_text("0 0 6 0 decides")
    assert logits(hold, at_stake) == [0.0, -np.inf]
    assert logits(early, at_stake) == [-np.inf, 0.0]


def test_a_folder_that_is_called_like_a_searcher_is_written_as_a_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pathlib.Path("negascout").mkdir()
    assert make("negascout(depth=1)", TTT).host is not None
    assert make("negascout", TTT).host is not None
    with pytest.raises(UserError, match="is not a run directory"):
        make("./negascout", TTT)


class Named(Pig):
    """A game that gives players names of their own."""

    named_players = {"early": "hold(total=5)", "twice": "early"}


def test_a_named_player_stands_for_another_and_its_options_can_be_changed():
    game = Named(target=20)
    early, late, twice = make_lineup("early,early(total=9),twice(total=9)", game)
    assert early.policy == Policy(Strategy(game, "hold", (("total", 5),)))
    assert late.policy == twice.policy == Policy(Strategy(game, "hold", (("total", 9),)))
    assert [player.name for player in (early, late)] == ["early", "early(total=9)"]
    assert players.remake(late, game).policy == late.policy
    with pytest.raises(UserError, match=r"unknown option 'tot' of player 'hold' \(did you mean 'total'"):
        make("early(tot=9)", game)
    with pytest.raises(UserError, match="did you mean 'early'"):
        make("earl", game)


def test_greedy_takes_the_best_afterstate():
    # The middle takes four lines from the other, a corner three, an edge two.
    for text in ("greedy", "greedy(value=lines)"):
        assert wanted(make(text, TTT), TTT.init()) == [4]
    assert wanted(make("greedy", TTT), TTT.from_text("... .X. ... 1")) == [0, 2, 6, 8]
    # A finished game counts by its returns, not by open lines.
    assert wanted(make("greedy", TTT), TTT.from_text("XX. OO. ... 0")) == [2]


def test_perfect_takes_a_win_and_stops_one():
    perfect = make("perfect", TTT)
    assert wanted(perfect, TTT.from_text("XX. OO. ... 0")) == [2]
    assert wanted(perfect, TTT.from_text("XX. .O. ... 1")) == [2]
    assert wanted(perfect, TTT.from_text("... .X. ... 1")) == [0, 2, 6, 8]


def test_bots_and_their_options():
    state = PIG.from_text("0 0 6 0 decides")._replace(scores=np.zeros(2, np.int32))
    rng = np.random.default_rng(0)
    assert make("arena_bots:Careful", PIG).host.choose(PIG, state, rng) == 0
    assert make("arena_bots:Careful(total=5)", PIG).host.choose(PIG, state, rng) == 1
    bot = make("arena_bots:Moody(patience=0)", TTT).host  # options of a dataclass
    assert bot.choose(TTT, TTT.init(), rng) == 8


def test_functions_and_their_options():
    state = jax.device_get(PIG.from_text("0 0 6 0 decides"))
    rng = np.random.default_rng(0)
    for text, action in {"careful": 0, "careful(total=5)": 1, "careful(total=5,daring=true)": 0}.items():
        assert make(f"arena_bots:{text}", PIG).host.choose(PIG, state, rng) == action
    player = make(arena_bots.careful, PIG)
    assert (player.name, player.text) == ("careful", "arena_bots:careful")  # so that other processes find it
    assert player.host.choose(PIG, state, rng) == 0
    nameless = make(lambda game, state, rng: jnp.argmax(game.legal(state)), PIG)
    assert nameless.text == ""
    assert nameless.host.choose(PIG, state, rng) == 0
    assert make(arena_bots.Careful, PIG).text == "arena_bots:Careful"
    assert make(player, PIG) is player
    made = arena_bots.Careful(total=5)
    with pytest.raises(UserError, match="'Careful' is an object without reset"):
        make(made, PIG)
    with pytest.raises(UserError, match=r"'wrong' cannot be called as f\(game, state, rng\): .* need defaults"):
        make(arena_bots.wrong, PIG)
    with pytest.raises(UserError, match="'arena_bots:dataclasses' is neither a class nor a function"):
        make("arena_bots:dataclasses", PIG)


def test_matches_take_functions_and_texts():
    """In other processes where they can be found, else here; with the same result."""
    game = Pig(target=10)
    lineup = [arena_bots.careful, "hold(total=5)"]
    named = arena.match(game, make_lineup("arena_bots:careful,hold(total=5)", game), num_games=20, seed=1, processes=1)
    assert [score.name for score in named.players] == ["arena_bots:careful", "hold(total=5)"]
    for pair in (lineup, [lambda *given: arena_bots.careful(*given), "hold(total=5)"]):
        match = arena.match(game, pair, num_games=20, seed=1, processes=2)
        assert [score[1:] for score in match.players] == [score[1:] for score in named.players]
    ranked = tournament.play(game, lineup, games=20, seed=1, processes=1).players
    assert [player.name for player in ranked] == ["careful", "hold(total=5)"]


# --- kinds that packages register -------------------------------------------------------------------------------------


def always_first(text: str, game: Game) -> Player | None:
    return Player(text, Policy(Uniform(game), jnp.zeros(1))) if text.startswith("first") else None


MORE = {"first": always_first}


class Point(NamedTuple):
    """An entry point."""

    value: str

    def load(self) -> Any:
        module, _, name = self.value.partition(":")
        return getattr(importlib.import_module(module), name)


@pytest.fixture
def register(monkeypatch):
    """Lets tables of makers be the installed ones."""

    def become(*values: str) -> None:
        players.kinds.cache_clear()
        monkeypatch.setattr(entry_points, "of", lambda group: [Point(value) for value in values])

    yield become
    players.kinds.cache_clear()


def test_packages_add_kinds_of_players(register):
    register("test_players:MORE", "test_players:MORE")  # the same package found twice is one
    player = make("first(x=1)", PIG)
    assert (player.name, player.text) == ("first(x=1)", "first(x=1)")
    assert players.remake(player, PIG).policy.params.shape == (1,)
    assert make("random", PIG).policy.params == ()  # the game's own come first
    with pytest.raises(UserError, match="did you mean 'first'"):
        make("fist", PIG)


def test_a_maker_may_give_a_more_exact_text(register, monkeypatch):
    register("test_players:MORE")
    monkeypatch.setitem(MORE, "first", lambda text, game: replace(always_first(text, game), text="first(x=2)"))
    assert make("first", PIG).text == "first(x=2)"


def test_a_broken_package_hinders_no_others(register):
    register("test_players:MORE", "no_such_module:MORE")
    assert make("first", PIG).name == "first"
    with pytest.raises(UserError, match="players of 'no_such_module:MORE' cannot be loaded: No module named"):
        make("second", PIG)


def test_a_kind_that_two_packages_register_is_refused(register):
    register("test_players:MORE", "arena_bots:MORE")
    with pytest.raises(UserError, match="'first' is registered by 'arena_bots:MORE' and 'test_players:MORE'; uninst"):
        make("first", PIG)


def test_runs_are_recognised_by_their_path(tmp_path, monkeypatch):
    def load(path: pathlib.Path) -> Learned:
        assert path == tmp_path
        return Learned(PIG, Policy(Uniform(PIG), "learned"), path / "checkpoints" / "7")

    table = {"a run directory": functools.partial(players.learned, load=load)}
    monkeypatch.setattr(players, "kinds", lambda: players.Kinds(table))
    player = make(str(tmp_path), PIG)
    assert player.policy.params == "learned"
    assert (player.name, player.text) == (str(tmp_path), str(tmp_path / "checkpoints" / "7"))
    with pytest.raises(UserError, match=r"learned pig:target=20, not pig; choose that game or another player"):
        make(str(tmp_path), Pig())
    with pytest.raises(UserError, match=r"unknown player 'no/such'; pig knows random, perfect, hold, a run directory"):
        make("no/such", PIG)


@pytest.mark.parametrize(
    ("text", "game", "message"),
    [
        (
            "hodl",
            PIG,
            "unknown player 'hodl' (did you mean 'hold'?); pig knows random, perfect, hold, runs/NAME, "
            "human (in launch.play), alph",
        ),
        ("zzz", TTT, "unknown player 'zzz'; tic_tac_toe knows random, perfect, greedy, runs/NAME, "),
        ("", TTT, "unknown player ''; tic_tac_toe knows"),
        ("greedy", PIG, "unknown player 'greedy'; pig knows"),
        ("greedy(value=x)", TTT, "unknown value 'x' of player 'greedy'; tic_tac_toe offers lines"),
        ("random(x=1)", PIG, "unknown option 'x' of player 'random'; player 'random' takes no options"),
        ("hold(totl=5)", PIG, "unknown option 'totl' of player 'hold' (did you mean 'total'?)"),
        ("hold(total=five)", PIG, "bad value total='five' of player 'hold': expected an integer"),
        ("hold(total=5", PIG, "closed by ')'"),
        ("no_such_module:Bot", PIG, "player 'no_such_module:Bot' cannot be loaded: No module named 'no_such_module'"),
        ("arena_bots:Nobody", PIG, "player 'arena_bots:Nobody' cannot be loaded: module 'arena_bots' has no attribute"),
        ("arena_bots:Mute", PIG, "player 'arena_bots:Mute' has no method choose(game, state, rng) -> action"),
        ("arena_bots:Cheat(x=1)", PIG, "unknown option 'x' of player 'arena_bots:Cheat'; player 'arena_bots:Cheat' ta"),
    ],
)
def test_mistakes_are_one_sentence(text, game, message):
    with pytest.raises(UserError, match=re.escape(message)):
        make(text, game)


def test_a_player_is_one_of_two_kinds():
    with pytest.raises(ValueError, match="one of the two"):
        Player("nobody")
