"""The rule flags of Ludo, and the presets as values of them."""

from __future__ import annotations

from typing import Literal, NamedTuple

Preset = Literal["alhajry2012", "sdu_java", "ludopy131", "ludopy150"]
Starter = Literal["random", "first"]
Lap = Literal["short", "full"]
Gate = Literal["inside", "on_ring"]
Bonus = Literal["always", "moved", "after_round_one"]
Globes = Literal["coexist", "repel", "guard"]
Pairs = Literal["illegal", "repel"]
Passing = Literal["free", "blocked"]
Release = Literal["blocked", "captures", "landing"]
Stars = Literal["none", "destination", "both"]
Overshoot = Literal["illegal", "bounce", "goal_minus_die"]


class Flags(NamedTuple):
    """One set of rules."""

    starter: Starter  # who begins: drawn by lot, or seat 0
    lap: Lap  # short: the ring is left one square before the own start; full: the own start is stood on again
    gate: Gate  # on_ring: a piece on the first square after the lap also stands on the ring (see land.py)
    tries: int  # rolls of a turn that begins with no piece between base and goal, until one moves
    tries_in_round_one: bool  # ... in every player's first turn only
    bonus: Bonus  # when a six gives another roll
    must_move: bool  # otherwise there is a pass action, on the last try of a turn: before it the die keeps lying until
    # a piece moves, as the SDU simulator rolls anew only after a move or where nothing can be moved
    globes: Globes  # coexist: nobody is hit there; repel: an enemy there sends the comer home;
    # guard: so do the neutral ones, and a start square while its owner is there
    pairs: Pairs  # two or more pieces of one enemy: may not be landed on, or send the comer home
    passing: Passing  # whether such pairs may be passed
    release: Release  # onto enemies: blocked by a pair and harmless; captures all; as any other landing
    stars: Stars  # destination: enemies are met after the jump only; both: on both stars
    first_star: int  # squares from a start to the next star; the other star of a quarter is the last but one square
    overshoot: Overshoot  # goal_minus_die: the piece is put that many squares before the goal
    play_on: bool  # until one is left, for points by finishing order; otherwise the first to finish wins
    three_sixes: bool  # the third six in a row is not played and ends the turn


_LUDOPY = Flags(
    starter="first",
    lap="short",
    gate="on_ring",
    tries=4,
    tries_in_round_one=True,
    bonus="after_round_one",
    must_move=True,
    globes="guard",
    pairs="repel",
    passing="free",
    release="landing",
    stars="both",
    first_star=4,
    overshoot="goal_minus_die",
    play_on=False,
    three_sixes=False,
)

PRESETS: dict[Preset, Flags] = {
    "alhajry2012": Flags(
        starter="random",
        lap="short",
        gate="inside",
        tries=1,
        tries_in_round_one=False,
        bonus="always",
        must_move=True,
        globes="coexist",
        pairs="illegal",
        passing="free",
        release="blocked",
        stars="none",
        first_star=5,
        overshoot="illegal",
        play_on=False,
        three_sixes=False,
    ),
    "sdu_java": Flags(
        starter="first",
        lap="short",
        gate="inside",
        tries=3,
        tries_in_round_one=False,
        bonus="moved",
        must_move=False,
        globes="repel",
        pairs="repel",
        passing="free",
        release="captures",
        stars="destination",
        first_star=5,
        overshoot="bounce",
        play_on=True,
        three_sixes=False,
    ),
    "ludopy131": _LUDOPY._replace(lap="full"),
    "ludopy150": _LUDOPY,
}
