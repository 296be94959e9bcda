"""Searchers as players: whole turns, clocks, and their text."""

from __future__ import annotations

import pathlib
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from boardrl import host, registry
from boardrl.errors import UserError
from boardrl.matches import arena
from boardrl.play import players
from boardrl.values import linear, weight_file
from boardrl.values.weight_file import Weights
from search import evaluators, player
from search.analysis import turns
from search.budget import Budget
from search.player import SearchPlayer
from search.searcher import Searcher


def make(text: str, game: str) -> SearchPlayer:
    found = players.make(text, registry.make(game)).host
    assert isinstance(found, SearchPlayer)
    return found


def test_options_reach_the_searcher() -> None:
    found = make("alphabeta(depth=3,kilobytes=256,killers=true)", "tic_tac_toe").searcher
    assert (found.budget.depth, found.budget.kilobytes, found.options.killers, found.options.table) == (
        3,
        256,
        True,
        False,
    )
    assert make("negascout", "tic_tac_toe").searcher.budget.ms == player.DEFAULT_MS


@pytest.mark.parametrize(
    ("text", "words"),
    [("alphabeta(dept=3)", "did you mean 'depth'"), ("alphabeta(weights=1+2)", "has no features to weight")],
)
def test_mistakes(text: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        make(text, "tic_tac_toe")


def test_features_by_name_and_weights_from_a_file(tmp_path: pathlib.Path) -> None:
    game = registry.make("jumper:size=4")
    names = linear.find(game, "extended").names
    values = tuple(float(number) for number in range(len(names)))
    weight_file.save(tmp_path / "w.json", Weights("jumper", "extended", names, values, ""))
    text = "+".join(map(str, values))
    one, other = (
        make(f"negascout(depth=2,{part})", "jumper:size=4").searcher
        for part in (f"learned={tmp_path / 'w.json'}", f"features=extended,weights={text}")
    )
    row = one.facet.row(game.from_text("4\nW - - -\n- B - -\n- - - -\n- - - -\nW"))
    state = jax.tree.map(jnp.asarray, one.facet.state(row))
    want = linear.Linear(game, "extended")(jnp.array(values, jnp.float32), state, jnp.int32(0))
    for searcher in (one, other):
        np.testing.assert_allclose(searcher.evaluate(row), want, rtol=1e-5)
    for text, words in {
        f"learned={tmp_path / 'w.json'},features=extended": "learned= and features= are given",
        "features=extended": "have no weights of their own",
        "features=extended,weights=1+2": f"2 weights do not fit jumper: expected {len(names)}",
        "features=extend,weights=1+2": "did you mean 'extended'",
    }.items():
        with pytest.raises(UserError, match=words):
            make(f"negascout(depth=2,{text})", "jumper:size=4")


def test_a_set_of_features_is_compiled_with_room_to_work_in() -> None:
    """Those of Jumper 9×9 need a larger workspace than its rules do."""
    game = registry.make("jumper:size=9")
    names = linear.find(game, "extended").names
    weights = np.random.default_rng(0).normal(size=len(names)).astype(np.float32)
    evaluator = evaluators.named(game, "extended", weights.tolist())
    search = Searcher(game, "alphabeta", budget=Budget(depth=1), evaluator=evaluator)
    part = host.lower_features(game, "extended")
    assert (evaluator.name, part.NUM_FEATURES) == ("features", len(names))
    assert len(search.memory.work) == max(part.WORK_WORDS, host.of(game).module.WORK_WORDS)
    state = game.from_text("9\n" + "W - B X - W - B -\n" * 9 + "B")
    want = linear.Linear(game, "extended")(weights, state, np.int32(0))
    np.testing.assert_allclose(search.evaluate(search.facet.row(state)), want, atol=1e-6)


def test_dice_that_let_nobody_move_do_not_hold_up_a_player() -> None:
    game = registry.make("ludo:rules=sdu_java,ring=8,column=2,pieces=2,players=2")
    pair = [players.make("expectimax(depth=1,kilobytes=256)", game), players.make("random", game)]
    match = arena.match(game, pair, num_games=4, seed=0, processes=1)
    assert match.players[0].win_rate + match.players[1].win_rate == 1.0


def test_a_perfect_searcher_never_loses_at_tic_tac_toe() -> None:
    game = registry.make("tic_tac_toe")
    pair = [players.make("negascout(kilobytes=512,depth=9)", game), players.make("random", game)]
    match = arena.match(game, pair, num_games=40, seed=3, processes=1)
    assert match.players[0].win_rate > 0.6
    assert match.players[1].win_rate == 0.0


def test_a_chain_is_played_to_its_end_without_another_search() -> None:
    game = registry.make("jumper:size=4")
    state = game.from_text("4\nW B - -\n- - B -\n- - - -\n- - - -\nW")
    found = make("alphabeta(depth=1,weights=1+0+0+0)", "jumper:size=4")
    results = []
    search_row = found.searcher.search_row
    found.searcher.search_row = lambda *a, **k: results.append(search_row(*a, **k)) or results[-1]  # type: ignore
    actions: list[int] = []
    while int(game.actor(state)) == 0:
        actions.append(found.choose(game, jax.device_get(state), np.random.default_rng(0)))
        state = game.step(state, np.int32(actions[-1]))
    assert game.turn_to_text(state, actions) == "0 0 0 2 2 2"
    assert len(actions) == 2
    assert len(results) == 1
    np.testing.assert_allclose(results[0].value, np.tanh([3 / 16, -3 / 16]), rtol=1e-6)


@pytest.mark.parametrize("text", ["mcts(nodes=50)", "negascout(depth=2)"])
def test_a_forced_move_is_not_searched(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tic-tac-toe to a draw: of nine decisions the last one leaves no choice."""
    found, game = make(text, "tic_tac_toe"), registry.make("tic_tac_toe")
    searched: list[int] = []
    search_row = found.searcher.search_row

    def counted(row: np.ndarray, **options: Any) -> Any:
        searched.append(len(found.searcher.facet.actions(row)))
        return search_row(row, **options)

    monkeypatch.setattr(found.searcher, "search_row", counted)
    state, rng = game.init(), np.random.default_rng(0)
    for action in (0, 1, 2, 4, 3, 5, 7, 6, 8):
        chosen = found.choose(game, state, rng)
        assert game.legal(state)[chosen]
        state = game.step(state, jnp.int32(action))
    assert chosen == 8
    assert searched == [9, 8, 7, 6, 5, 4, 3, 2]


def test_the_line_groups_the_actions_of_one_player() -> None:
    found = make("alphabeta(depth=2)", "tic_tac_toe").searcher
    result = found.search(found.game.init())
    assert [len(turn.actions) for turn in turns.turns(found.facet, result.line)] == [1, 1]
    assert turns.text(found.facet, result.line) == [str(t.actions[0]) for t in turns.turns(found.facet, result.line)]
