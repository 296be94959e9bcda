"""The rule flags of Ludo, and the presets."""

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

    starter: Starter  # the player who begins: random, or seat 0
    lap: Lap  # short: a piece leaves the ring one square before its start; full: after reaching its start again
    gate: Gate  # on_ring: a piece on the first square after the lap also stands on the ring (see land.py)
    tries: int  # most rolls until a piece moves, in a turn that begins with no piece between base and goal
    tries_in_round_one: bool  # ... in every player's first turn only
    bonus: Bonus  # when a six gives another roll
    must_move: bool  # False: there is a pass action on the last try of a turn; on earlier tries the same roll stays
    # until a piece moves, because the SDU simulator rolls again only after a move or if no piece can move
    globes: Globes  # coexist: no piece is hit there; repel: an enemy there sends an arriving piece home;
    # guard: the same for neutral globes, and for a start square while its owner is there
    pairs: Pairs  # two or more pieces of one enemy: landing on them is forbidden, or sends the arriving piece home
    passing: Passing  # whether such pairs may be passed
    release: Release  # onto enemies: blocked by a pair and harmless; captures all; as any other landing
    stars: Stars  # destination: enemies matter after the jump only; both: on both stars
    first_star: int  # squares from a start to the next star; a quarter's other star is its second to last square
    overshoot: Overshoot  # goal_minus_die: the piece is placed that many squares before the goal
    play_on: bool  # until one player is left, for points by finishing order; False: the first to finish wins
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
