"""What games may offer besides the protocol: the Protocols, the accessors, and members that are nearly called so."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import pathlib

import pytest
from coins_game import Coins

from boardrl import game as game_module
from boardrl import optional, registry
from boardrl.testing.declared import near_misses
from games.pig import Pig
from games.tic_tac_toe import TicTacToe

ROOT = pathlib.Path(__file__).parents[2]


def test_every_member_has_a_protocol_a_group_and_an_accessor():
    assert len(optional.MEMBERS) == 32
    for protocols in optional.GROUPS.values():
        for protocol in protocols:
            name = optional.member_of(protocol)
            assert protocol.__name__ == "Has" + "".join(part.capitalize() for part in name.split("_"))
            assert optional.documentation(protocol), name
            assert list(inspect.signature(getattr(optional, name)).parameters) == ["game"]
    assert all(kind is optional.GROUPS[kind] or kind in optional.GROUPS for kind in optional.MEMBERS.values())


def test_what_a_game_has_is_given_and_what_it_lacks_is_empty():
    pig, ttt = Pig(), TicTacToe()
    assert list(optional.strategies(pig)) == ["hold"]
    assert optional.strategies(ttt) == {}
    assert optional.num_symmetries(ttt) == 8
    assert optional.num_symmetries(pig) == 1
    assert optional.symmetric(pig) is None
    assert optional.to_text(ttt)(ttt.init()) == "... ... ... 0"
    assert (optional.lanes_last(pig), optional.feature_weights(pig)) == (True, ())


def test_a_member_that_is_none_is_not_offered():
    class Silent(TicTacToe):
        to_text = None
        num_symmetries = None

    assert optional.to_text(Silent()) is None
    assert optional.num_symmetries(Silent()) == 1


def test_fast_paths_stand_for_step():
    pig = Pig()
    assert game_module.acting(pig) == pig.step
    ludo = registry.make("ludo")
    assert game_module.acting(ludo) == ludo.act
    assert game_module.settling(ludo) == ludo.settle


def test_nobody_asks_a_game_for_a_member_by_its_name():
    """`getattr(game, "strategies", {})` is untyped, and a slip in the name goes unnoticed."""
    found = []
    for folder in ("boardrl", "games", "search", "algorithms", "launch"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                match node:
                    case ast.Call(func=ast.Name(id="getattr" | "hasattr"), args=[_, ast.Constant(value=name), *_]):
                        found += [f"{path.relative_to(ROOT)}:{node.lineno} {name}"] if name in optional.MEMBERS else []
    assert found == []


class Slips(Coins):
    """Members that were meant to be `strategies`, `draw` and `move_text`."""

    def strategy(self, state): ...

    def move_to_text(self, state, move): ...

    def dra(self, state): ...

    def corner(self, state): ...


def test_members_nearly_called_like_optional_ones_are_noted():
    notes = near_misses(Slips())
    assert [note.split(" is nearly called ")[0] for note in notes] == [
        "Slips.dra",
        "Slips.move_to_text",
        "Slips.strategy",
    ]
    assert "nearly called strategies, an optional member for scripted players that the game does not have" in notes[2]


@dataclasses.dataclass(frozen=True)
class WithOption(TicTacToe):
    event: int = 3  # an option that is nearly called `events`


def test_an_option_is_no_near_miss():
    assert near_misses(WithOption()) == ()


@pytest.mark.parametrize("name", [name for name in registry.names() if not name.startswith("pgx_")])
def test_our_games_have_no_near_misses(name):
    assert near_misses(registry.make(name)) == ()


def test_a_deterministic_game_has_no_outcomes():
    chance = TicTacToe().chance(TicTacToe().init())
    assert (chance.shape, str(chance.dtype)) == ((0,), "float32")
    assert "chance" not in vars(TicTacToe)
