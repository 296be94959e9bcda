"""`check_game`: checks every property of the table, on random games and on moves that Hypothesis draws."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from boardrl import options
from boardrl.errors import UserError
from boardrl.game import TERMINAL, Game
from boardrl.runs import progress
from boardrl.system import machine
from boardrl.testing.declared import DECLARED, near_misses
from boardrl.testing.features import MakePlayer, named_players_can_be_made, observation_out_of_bounds
from boardrl.testing.hosted import ON_HOST
from boardrl.testing.node import Verdict
from boardrl.testing.play import Chunk, Collector, broken, hypothesis_play, random_play, require_hypothesis
from boardrl.testing.report import (
    Broken,
    ConformanceError,
    Failure,
    Finding,
    Report,
    array_text,
    game_text,
    list_text,
    name_of,
    promise_of,
    state_text,
)
from boardrl.testing.sampled import ON_SAMPLES, gather
from boardrl.testing.states import AT_EVERY_STATE, observation_bounded

SAMPLES = 64  # states that get the slower checks, and from which Hypothesis continues
LITTLE = 0.25  # fraction of the declared range of returns below which the report has a note
MOST_PLAYERS = 8  # largest number of players that `variants` tries


def games_end_within_max_steps(game: Game[Any], chunk: Chunk) -> Verdict:
    """Random games are over after at most `max_steps` steps."""
    over = chunk.nodes.actor == TERMINAL
    late = chunk.first + np.arange(len(over)) >= game.spec.max_steps
    return Verdict(over | late[:, None], over)


# Properties of whole random games, checked on the host, [T, B] nodes at a time.
OVER_GAMES: tuple[Callable[[Game[Any], Chunk], Verdict], ...] = (games_end_within_max_steps,)

# Properties of every state.
IN_PLAY: tuple[Callable[..., Verdict], ...] = (*AT_EVERY_STATE, *OVER_GAMES)

# The table: a property is a function; its name is the function's, its promise the docstring's first line.
PROPERTIES: tuple[Callable[..., Any], ...] = (*DECLARED, *IN_PLAY, *ON_SAMPLES, *ON_HOST, named_players_can_be_made)


def check_game(
    game: Game[Any], *, games: int = 64, seed: int = 0, examples: int = 50, make_player: MakePlayer | None = None
) -> Report:
    """Checks a game against every promise of the protocol; raises ConformanceError naming the first broken one.

    Args:
      games: number of random games, from the first state to the end.
      seed: seed of the random games and of Hypothesis; the same seed checks the same states.
      examples: number of move sequences that Hypothesis draws.
      make_player: makes the players of `named_players`; without it they are not checked.
    """
    for report in _stages(game, games=games, seed=seed, examples=examples, make_player=make_player):
        if report.broken:
            raise ConformanceError(report)
    return report


def examine(
    game: Game[Any], *, games: int = 64, seed: int = 0, examples: int = 50, make_player: MakePlayer | None = None
) -> Report:
    """Like `check_game`, but continues after a failure as far as possible and never raises ConformanceError."""
    *_, report = _stages(game, games=games, seed=seed, examples=examples, make_player=make_player)
    found = {finding.name for finding in report.findings}
    unchecked = (Finding(name_of(p), promise_of(p), None, checked=False) for p in PROPERTIES if name_of(p) not in found)
    return report._replace(findings=(*report.findings, *unchecked))


def variants(game: Game[Any]) -> list[Game[Any]]:
    """The game for every player count that it accepts, or only itself if it has no option `players`."""
    if "players" not in {option.name for option in options.of_dataclass(type(game))}:
        return [game]
    accepted = []
    for players in range(2, MOST_PLAYERS + 1):
        try:
            accepted.append(dataclasses.replace(game, players=players))  # type: ignore[type-var]
        except ValueError:
            continue
    return accepted if game in accepted else [game, *accepted]


def _stages(
    game: Game[Any], *, games: int, seed: int, examples: int, make_player: MakePlayer | None
) -> Iterator[Report]:
    """The report after each stage: declarations, play, sampled states, host code."""
    if games < 1 or examples < 1:
        raise UserError(f"games={games} and examples={examples} cannot be checked; expected at least 1 of each")
    if seed < 0:
        raise UserError(f"seed={seed} is negative; expected 0 or more")
    require_hypothesis()
    report = Report(game_text(game), (), near_misses(game))
    with progress.track(f"checking {report.game}", len(PROPERTIES), "properties") as bar:
        for check in DECLARED:
            finding = _ask(check, game)
            report = report._replace(findings=(*report.findings, finding))
            if finding.failure is not None:
                break
        yield report
        if report.broken:
            return
        if (warning := machine.compile_warning(game)) is not None:
            report = report._replace(notes=(*report.notes, warning))
            bar.say(f"note: {warning}")
        tally, collector = Tally(game), Collector(seed=seed)

        def see(chunk: Chunk) -> bool:
            clean = tally.add(chunk)
            bar.update(len(DECLARED), f"{tally.seen:,} states seen in play")
            return clean

        for chunk in random_play(game, games=games, seed=seed):
            see(chunk._replace(verdicts=chunk.verdicts | {name_of(p): p(game, chunk) for p in OVER_GAMES}))
            collector.see(chunk)
        samples = collector.samples(SAMPLES)
        if tally.clean:
            starts = [samples[lane % len(samples)] for lane in range(games)]
            hypothesis_play(game, starts, see, examples=examples, seed=seed)
        report = report._replace(findings=report.findings + tally.findings(), notes=report.notes + tally.notes())
        yield report
        bar.update(len(report.findings))
        evidence = gather(game, samples, games=games, seed=seed)
        for on_samples in ON_SAMPLES:
            finding = _ask(on_samples, game, evidence)
            report = report._replace(findings=(*report.findings, finding))
            bar.update(len(report.findings))
        yield report
        for on_host in ON_HOST:
            finding = _ask(on_host, game, random_play(game, games=games, seed=seed))
            report = report._replace(findings=(*report.findings, finding))
            bar.update(len(report.findings))
        finding = _ask(named_players_can_be_made, game, make_player)
        yield report._replace(findings=(*report.findings, finding))


def _ask(check: Callable[..., int | None], *arguments: Any) -> Finding:
    try:
        return Finding(name_of(check), promise_of(check), check(*arguments))
    except Broken as error:
        return Finding(name_of(check), promise_of(check), None, error.failure)


class Tally:
    """Counts the states at which each property held, and keeps the shortest path to a failure."""

    def __init__(self, game: Game[Any]) -> None:
        self._game = game
        self._states = {name_of(check): 0 for check in IN_PLAY}
        self._failures: dict[str, Failure] = {}
        self._returns: list[float] = []  # minimum and maximum of the returns of each chunk
        self.seen = 0

    @property
    def clean(self) -> bool:
        return not self._failures

    def add(self, chunk: Chunk) -> bool:
        """Adds a chunk's verdicts; returns whether none failed."""
        self.seen += int(chunk.counted.sum())
        self._see_returns(chunk)
        clean = True
        for name, verdict in chunk.verdicts.items():
            self._states[name] += int((verdict.applies & chunk.counted).sum())
            wrong = broken(verdict)
            if wrong.any():
                clean = False
                self._keep(name, chunk, wrong)
        return clean

    def _see_returns(self, chunk: Chunk) -> None:
        counts = chunk.counted if self._game.spec.running_returns else chunk.counted & (chunk.nodes.actor == TERMINAL)
        if counts.any():
            returns = chunk.nodes.returns[counts]
            self._returns += [float(returns.min()), float(returns.max())]

    def notes(self) -> tuple[str, ...]:
        """A note if the returns use little of the range that the spec declares."""
        spec = self._game.spec
        low, high = min(self._returns, default=math.nan), max(self._returns, default=math.nan)
        share = (high - low) / max(spec.max_return - spec.min_return, 1e-30)
        if not share < LITTLE:
            return ()
        return (
            f"the returns seen lie between {low:g} and {high:g}, {share:.0%} of the declared range from "
            f"{spec.min_return:g} to {spec.max_return:g}; if the rules allow no others, declare a min_return and "
            "max_return that fit them tightly: values are learned and searched as fractions of that range",
        )

    def _keep(self, name: str, chunk: Chunk, wrong: np.ndarray) -> None:
        known = self._failures.get(name)
        if known is not None and chunk.first > 0:
            return  # later in the same games
        places = [(int(wrong[:, lane].argmax()), int(lane)) for lane in np.flatnonzero(wrong.any(0))]
        moves, step, lane = min(((chunk.path(*place), *place) for place in places), key=lambda found: len(found[0]))
        if known is None or known.moves is None or len(moves) < len(known.moves):
            self._failures[name] = Failure(
                self._describe(name, chunk, step, lane), tuple(moves), self._where(chunk, step, lane)
            )

    def _where(self, chunk: Chunk, step: int, lane: int) -> str:
        return state_text(self._game, chunk.node(step, lane).state)

    def _describe(self, name: str, chunk: Chunk, step: int, lane: int) -> str:
        node = chunk.node(step, lane)
        if name == name_of(observation_bounded):
            return observation_out_of_bounds(node.observations)
        chance = f", chance {array_text(np.round(node.chance, 6))}" if len(node.chance) else ""
        legal = list_text(np.flatnonzero(node.legal).tolist())
        returns = np.round(node.returns, 6).tolist()
        return f"move {int(node.move)}, actor {int(node.actor)}, legal actions {legal}{chance}, returns {returns}"

    def findings(self) -> tuple[Finding, ...]:
        return tuple(
            Finding(name_of(p), promise_of(p), self._states[name_of(p)], self._failures.get(name_of(p)))
            for p in IN_PLAY
        )
