"""Positions and moves of Ludo as text.

A position is each player's places joined by dots, the seat to act, and what it does: `draws` (the starter), `rolls`, or
`plays` with the die. Further state follows if the rules use it: the rolls left as `tries=`, turns of the first round as
`round=`, sixes in a row as `sixes=`, finishing places as `ranks=`:

    0.0.14.57 1.2.0.0 0.0.0.0 0.0.0.0 0 plays 6
    0.0 57.57 3.0 2 rolls tries=1 ranks=0.1.0
"""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
from jax import Array

from boardrl.errors import UserError
from games.ludo.board import BASE
from games.ludo.land import Landing
from games.ludo.rules import DRAW, FACES, ROLL, LudoRules, State


def to_text(game: LudoRules, state: State) -> str:
    die = int(state.die)
    doing = "draws" if die == DRAW else "rolls" if die == ROLL else f"plays {die}"
    words = [*(".".join(map(str, row)) for row in state.pieces.tolist()), str(int(state.turn)), doing]
    if game.flags.tries > 1:
        words.append(f"tries={int(state.tries)}")
    if game.counts_rounds:
        words.append(f"round={int(state.opening)}")
    if game.flags.three_sixes:
        words.append(f"sixes={int(state.sixes)}")
    if game.flags.play_on:
        words.append("ranks=" + ".".join(map(str, state.ranks.tolist())))
    return " ".join(words)


def from_text(game: LudoRules, text: str) -> State:
    try:
        return _parse(game, text.split())
    except (ValueError, IndexError) as error:
        shape = "'" + to_text(game, game.init()) + "'"
        raise UserError(f"bad position {text!r}: {error or 'too short'}; expected one like {shape}") from None


def _parse(game: LudoRules, words: list[str]) -> State:
    """The state; raises ValueError that says what is wrong."""
    rows = [_numbers(word, game.pieces, game.board.goal) for word in words[: game.players]]
    if len(words) < game.players + 2:
        raise ValueError(f"{len(words)} words are too few")
    (turn,) = _numbers(words[game.players], 1, game.players - 1)
    doing, rest = words[game.players + 1], words[game.players + 2 :]
    die = {"draws": DRAW, "rolls": ROLL, "plays": 1}.get(doing)
    if die is None:
        raise ValueError(f"{doing!r} is none of draws, rolls, plays")
    if doing == "plays":
        (die,) = _numbers(rest.pop(0), 1, FACES)
    tries = _setting(rest, "tries", 1, game.flags.tries) if game.flags.tries > 1 else 1
    opening = _setting(rest, "round", 0, game.players) if game.counts_rounds else 0
    sixes = _setting(rest, "sixes", 0, 2) if game.flags.three_sixes else 0
    ranks = _ranks(game, rows, rest)
    state = State(
        pieces=jnp.array(rows, jnp.int8),
        turn=jnp.int8(turn),
        die=jnp.int8(die),
        movable=jnp.zeros(game.pieces, bool),
        tries=jnp.int8(tries),
        opening=jnp.int8(opening),
        sixes=jnp.int8(sixes),
        finished=jnp.int8(max(ranks)),
        ranks=jnp.array(ranks, jnp.int8),
    )
    if rest:
        raise ValueError(f"{rest[0]!r} is too much")
    return _checked(game, state)


def _checked(game: LudoRules, state: State) -> State:
    """The state with its movable pieces; raises ValueError if it cannot occur."""
    over = int(state.finished) >= game.winners
    if int(state.finished) > game.winners:
        raise ValueError("too many players have finished")
    if not over and int(state.ranks[state.turn]):
        raise ValueError(f"seat {int(state.turn)} has finished and cannot act")
    if int(state.die) == DRAW:
        first = game.init()._replace(turn=state.turn)
        if not all(bool((a == b).all()) for a, b in zip(state, first, strict=True)):
            raise ValueError("the starter is drawn only once, before the first roll")
        return state
    if int(state.die) == ROLL:
        return state
    movable = game.movable(state.pieces, state.turn, state.die)
    if over or not bool(movable.any()):
        raise ValueError(f"no piece can be moved by {int(state.die)}")
    return state._replace(movable=movable)


def _ranks(game: LudoRules, rows: list[list[int]], rest: list[str]) -> list[int]:
    """[P] finishing places, which must agree with the players that have all pieces at the goal."""
    done = [all(place == game.board.goal for place in row) for row in rows]
    if not game.flags.play_on:
        return [int(finished) for finished in done] if sum(done) < 2 else [2] * game.players
    ranks = _numbers(_word(rest, "ranks"), game.players, game.players)
    if [rank > 0 for rank in ranks] != done or sorted(filter(None, ranks)) != list(range(1, sum(done) + 1)):
        raise ValueError(f"ranks {ranks} do not fit those who have all pieces at {game.board.goal}")
    return ranks


def _setting(rest: list[str], name: str, low: int, high: int) -> int:
    (value,) = _numbers(_word(rest, name), 1, high)
    if value < low:
        raise ValueError(f"{name}={value} is less than {low}")
    return value


def _word(rest: list[str], name: str) -> str:
    """The text after `name=` in the next word."""
    if not rest or not rest[0].startswith(f"{name}="):
        raise ValueError(f"{name}= is missing")
    return rest.pop(0).removeprefix(f"{name}=")


def _numbers(word: str, count: int, high: int) -> list[int]:
    """Numbers joined by dots, each from 0 to `high`."""
    parts = word.split(".")
    if len(parts) != count or not all(part.isascii() and part.isdecimal() and int(part) <= high for part in parts):
        raise ValueError(f"{word!r} is not {count} of 0 to {high}")
    return [int(part) for part in parts]


def move_text(game: LudoRules, state: State, move: Array) -> str:
    """Describes a move: 'rolls 6', 'piece 2 from 14 to 20, sends 1 home'."""
    if int(state.die) == DRAW:
        return f"seat {(int(state.turn) + int(move)) % game.players} begins"
    after, end = jax.device_get(_outlook(game, state, move))
    if int(state.die) == ROLL:
        return f"rolls {int(move) + 1}" + ("" if bool(after.movable.any()) else ", nothing to move")
    if int(move) == game.pieces:
        return "passes"
    start, stop, hits = int(state.pieces[state.turn, move]), int(end.place[int(move)]), int(end.hits[int(move)].sum())
    names = {BASE: "the base", game.board.goal: "the goal"}
    words = f"piece {int(move)} from {names.get(start, start)} to {names.get(stop, stop)}"
    return words + (f", sends {hits} home" if hits else "")


@functools.partial(jax.jit, static_argnames="game")
def _outlook(game: LudoRules, state: State, move: Array) -> tuple[State, Landing]:
    """The state after the move, and the landing of each of the actor's pieces."""
    return game.step(state, move), game.landings(state)
