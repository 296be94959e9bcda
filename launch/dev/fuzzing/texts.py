"""Texts that users type: positions, players, games, settings."""

from __future__ import annotations

import functools
from typing import Any

import jax
import numpy as np
from hypothesis import strategies as st

from boardrl import options, registry
from boardrl.game import TERMINAL
from boardrl.play.players import Player
from boardrl.runs import training
from launch.console import named_players, positions
from launch.dev.fuzzing import garble
from launch.dev.fuzzing.contract import Broken, Place, keeping
from launch.dev.fuzzing.garble import Draw

GAMES = (
    *("tic_tac_toe", "pig:target=9", "pig:players=3,target=20", "kalah:houses=2,seeds=2", "ur:pieces=2"),
    *("ataxx:size=3", "connect_four:rows=4,columns=4", "jumper:size=3"),
    "ludo:rules=sdu_java,ring=8,column=2,pieces=2,players=3",
)
PLAYERS = (
    *("random", "perfect", "greedy", "greedy(value=lines)", "hold(total=15)", "human", "runs/none"),
    *("negascout(ms=50,kilobytes=1024)", "alphabeta(depth=3,killers=true,aspiration=0.1)", "minimax(nodes=100)"),
    *("expectimax(depth=2,star=2,table=false)", "maxn(depth=1)", "mcts(nodes=20,exploration=0.7,reuse=true)"),
    *("paranoid(depth=1)", "negascout(depth=1,evaluation=playouts(games=4))", "alphabeta(game_ms=100,depth=2)"),
    *("negascout(depth=1,learned=none.json)", "negascout(depth=1,net=runs/none)", "alphabeta(depth=1,weights=1+2)"),
)


@functools.cache
def _step(text: str) -> Any:
    """A game, and a compiled step of it that takes the first legal action or outcome."""
    game: Any = registry.make(text)

    @jax.jit
    def step(state: Any) -> Any:
        move = jax.numpy.where(game.actor(state) >= 0, game.legal(state).argmax(), 0)
        if game.spec.num_outcomes:
            move = jax.numpy.where(game.actor(state) == -1, game.chance(state).argmax(), move)
        after = game.step(state, move.astype(np.int32))
        return game.actor(state), game.returns(state), game.legal(state).any(), after

    return game, step


@functools.cache
def _texts(name: str) -> list[str]:
    """Texts of random positions of one game."""
    game, step = _step(name)
    state, texts = game.init(), []
    for _ in range(40):
        texts.append(game.to_text(jax.device_get(state)))
        actor, *_, state = step(state)
        if int(actor) == TERMINAL:
            break
    return texts


def position(draw: Draw, where: Place) -> None:
    """Reads a position: if it is accepted, it can be played from, and written to the same text."""
    name = draw(st.sampled_from(GAMES))
    game, step = _step(name)
    text = draw(st.sampled_from(_texts(name)))
    for _ in range(draw(st.integers(0, 3))):
        text = garble.text(draw, text)
    with keeping(where, [name, repr(text)]):
        state = positions.parse(game, text)
        first = jax.eval_shape(game.init)
        kinds = [(leaf.shape, leaf.dtype) for leaf in jax.tree.leaves(state)]
        if kinds != [(leaf.shape, leaf.dtype) for leaf in jax.tree.leaves(first)]:
            raise Broken("a state with other shapes than the first")
        actor, returns, legal, _ = jax.device_get(step(state))
        if not -2 <= actor < game.spec.num_players or bool(legal) != (actor >= 0) or not np.isfinite(returns).all():
            raise Broken(f"actor {actor}, some action legal: {legal}, returns {returns}")
        again = game.to_text(jax.device_get(game.from_text(game.to_text(jax.device_get(state)))))
        if again != game.to_text(jax.device_get(state)):
            raise Broken(f"written as {game.to_text(jax.device_get(state))!r}, then as {again!r}")


def player_text(draw: Draw, where: Place) -> None:
    """Makes a player from its text."""
    name = draw(st.sampled_from(("tic_tac_toe", "tic_tac_toe", "pig:target=9")))
    text = draw(st.sampled_from(PLAYERS))
    for _ in range(draw(st.integers(0, 2))):
        # The user's own code may be named on the command line: not part of this target.
        text = garble.text(draw, text, odd=[odd for odd in garble.TEXTS if ":" not in odd])
    if ":" in text:
        return
    with keeping(where, [name, repr(text)]):
        for player in named_players.make(text, registry.make(name)):
            if (player.policy is None) == (player.host is None):
                raise Broken("a player that cannot play")


def game_text(draw: Draw, where: Place) -> None:
    """Makes a game from its text, and compares it with the game made from its description."""
    text = draw(
        st.sampled_from((*GAMES, "jumper:size=6,density=0.3", "ludo", "kalah", "ataxx", "connect_four:rows=12"))
    )
    for _ in range(draw(st.integers(0, 3))):
        text = garble.text(draw, text)
    with keeping(where, [repr(text)]):
        game = registry.make(text)
        if registry.make(registry.describe(game)) != game:
            raise Broken(f"another game from {registry.describe(game)!r}")


LEARNERS = {"td_lambda": "tic_tac_toe", "dqn": "tic_tac_toe", "q_table": "pig:target=9", "tdleaf": "jumper:size=3"}


def settings(draw: Draw, where: Place) -> None:
    """Checks the settings of a training: those that pass must fit into memory."""
    name = draw(st.sampled_from(sorted(LEARNERS)))
    algorithm, game = registry.algorithm(name), registry.make(LEARNERS[name])
    flags = {option.name: option for option in options.of_dataclass(algorithm.Config)}
    given = {flag: _flag(draw, flags[flag]) for flag in draw(st.lists(st.sampled_from(sorted(flags)), max_size=2))}
    with keeping(where, [name, repr(given)]):
        try:
            learning = algorithm.Config(
                **{flag: options.convert(text, flags[flag].type) for flag, text in given.items()}
            )
        except ValueError:  # reported by the command line
            return
        algorithm.check(learning, game)
        task = training.Task(algorithm, learning, game, (), _nobody, training.Schedule(), 0)
        training.check_size(task, lambda line: None)


def _flag(draw: Draw, option: options.Option) -> str:
    """A text for a flag: its corrupted default, or an extreme number or word."""
    default = options.format_options({"": option.default})[1:]
    odd = [*map(str, (*garble.NUMBERS, *garble.FLOATS)), "1+0", "1000000+1000000", "none", "true"]
    text = draw(st.sampled_from(odd)) if draw(st.integers(0, 3)) else garble.text(draw, default)
    return text if ":" not in text else default  # code may be named on the command line


def _nobody(player: Player, **_: Any) -> list[training.Strength]:
    return []
