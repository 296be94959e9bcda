"""Properties of sampled states that need Python to check: eager, jitted and batched results agree; text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from boardrl import optional
from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.testing.features import features_are_finite
from boardrl.testing.node import Node, difference, look, type_difference
from boardrl.testing.play import CHUNK_STEPS, Sample, broken, drawn_play
from boardrl.testing.report import Broken, list_text, one_line, state_text

EAGER_SAMPLES = 12  # eager JAX is slow: each operation is dispatched, and at first compiled, by itself
TEXT_SAMPLES = 32
NONSENSE = ("not a position", "\0", "☃ ☃ ☃")  # invalid in every game
ODD = ("", " ", "\n", "?", "-", "0", "-1 -1 -1", "[]", "{}", "9" * 40)  # may be valid in some game
STRANGE = ("", "-1", "9" * 40, "1.5", "x", "☃", "²", "0 0", "None")  # words inserted into mutated texts


class Evidence(NamedTuple):
    """The data that the properties of this file check."""

    samples: Sequence[Sample]  # nodes from batched, jitted play
    singles: Sequence[Node]  # the same nodes from an unbatched, jitted function
    num_traces: int  # how often that function was traced
    games: int  # the batch for which `play` is compiled
    seed: int


def gather(game: Game[Any], samples: Sequence[Sample], *, games: int, seed: int) -> Evidence:
    """Runs one jitted function along the moves of the longest sample, then on every sample."""
    num_traces = 0

    @jax.jit
    def single(state: Any, move: Array) -> Node:
        nonlocal num_traces
        num_traces += 1
        return look(game, state, move)

    state = game.init()
    for move in max((sample.moves for sample in samples), key=len)[:CHUNK_STEPS]:
        state = single(state, jnp.int32(move)).after
    singles = [single(_arrays(sample.node.state), sample.node.move) for sample in samples]
    return Evidence(samples, singles, num_traces, games, seed)


def no_retrace(game: Game[Any], evidence: Evidence) -> int:
    """A jitted function of a state is traced only once along a whole game."""
    if evidence.num_traces != 1:
        raise Broken(f"one jitted function was traced {evidence.num_traces} times along one game")
    return len(evidence.samples)


def jit_equals_eager(game: Game[Any], evidence: Evidence) -> int:
    """Every member gives the same result with and without jit."""
    pairs = list(zip(evidence.samples, evidence.singles, strict=True))[:EAGER_SAMPLES]
    for sample, single in pairs:
        try:
            eager = look(game, _arrays(sample.node.state), jnp.asarray(sample.node.move))
        except Exception as error:
            raise _broken_at(game, sample, f"eagerly it raised {one_line(error)}") from error
        if what := difference(eager, single, ("eagerly", "jitted"), rounding=True):
            raise _broken_at(game, sample, what)
    return len(pairs)


def vmap_equals_loop(game: Game[Any], evidence: Evidence) -> int:
    """Every member gives the same result for a batch as for its states one by one."""
    for sample, single in zip(evidence.samples, evidence.singles, strict=True):
        if what := difference(sample.node, single, ("in a batch", "alone"), rounding=True):
            raise _broken_at(game, sample, what)
    return len(evidence.samples)


def text_round_trip(game: Game[Any], evidence: Evidence) -> int:
    """`from_text(to_text(state))` is the same state."""
    to_text, from_text = optional.to_text(game), optional.from_text(game)
    if to_text is None or from_text is None:
        return 0
    samples = evidence.samples[:TEXT_SAMPLES]
    for sample in samples:
        state = _arrays(sample.node.state)
        try:
            again = from_text(to_text(state))
        except Exception as error:
            raise _broken_at(game, sample, f"it raised {one_line(error)}") from error
        names = ("at first", "from its text")
        if what := type_difference(state, again, names) or difference(state, again, names):
            raise _broken_at(game, sample, what)
    return len(samples)


def bad_text_is_refused(game: Game[Any], evidence: Evidence) -> int:
    """`from_text` raises UserError for invalid text, and every state that it accepts keeps all promises."""
    to_text, from_text = optional.to_text(game), optional.from_text(game)
    if to_text is None or from_text is None:
        return 0
    rng = np.random.default_rng(evidence.seed)
    texts = [to_text(_arrays(sample.node.state)) for sample in evidence.samples[:TEXT_SAMPLES]]
    accepted = {}
    mutants = [mutate(text, str(rng.choice(texts)), rng) for text in texts * 8]
    for text in dict.fromkeys([*NONSENSE, *ODD, *mutants]):
        try:
            state = from_text(text)
        except UserError:
            continue
        except Exception as error:
            raise Broken(f"from_text({text!r}) raised {one_line(error)}, expected a UserError") from error
        if text in NONSENSE:
            raise Broken(f"from_text({text!r}) gave a state, expected a UserError")
        if what := type_difference(game.init(), state, ("from init", f"from from_text({text!r})")):
            raise Broken(what)
        accepted[text] = state
    _keeps_promises(game, accepted, evidence, rng)
    return len(NONSENSE) + len(ODD) + len(mutants)


def mutate(text: str, other: str, rng: np.random.Generator) -> str:
    """A text with a word or a character removed, added, changed or copied from another text."""
    words, strange = text.split(" "), STRANGE[rng.integers(len(STRANGE))]
    at, cut = int(rng.integers(len(words))), int(rng.integers(len(text) + 1))
    character = str(rng.choice(list(text + other + "0")))
    return (
        " ".join([*words[:at], *other.split(" ")[at:]]),
        " ".join([*words[:at], *other.split(" ")[at : at + 1], *words[at + 1 :]]),
        " ".join([*words[:at], strange, *words[at + 1 :]]),
        " ".join([*words[:at], *words[at + 1 :]]),
        " ".join([*words, words[at]]),
        text[:cut] + text[cut + 1 :],
        text[:cut] + character + text[cut:],
        text[:cut] + character + text[cut + 1 :],
    )[rng.integers(8)]


def _keeps_promises(game: Game[Any], accepted: dict[str, Any], evidence: Evidence, rng: np.random.Generator) -> None:
    texts = list(accepted)
    for first in range(0, len(texts), evidence.games):
        batch = [texts[(first + lane) % len(texts)] for lane in range(evidence.games)]
        chunk = drawn_play(game, [accepted[text] for text in batch], rng.random(CHUNK_STEPS, np.float32).tolist())
        for name, verdict in chunk.verdicts.items():
            for step, lane in np.argwhere(broken(verdict))[:1]:
                moves = list_text(chunk.path(step, lane))
                raise Broken(f"from_text accepts {batch[lane]!r}, which after moves {moves} breaks {name}")


def _arrays(tree: Any) -> Any:
    return jax.tree.map(jnp.asarray, tree)


def _broken_at(game: Game[Any], sample: Sample, what: str) -> Broken:
    return Broken(what, sample.moves, state_text(game, sample.node.state))


ON_SAMPLES: tuple[Callable[[Game[Any], Evidence], int], ...] = (
    no_retrace,
    jit_equals_eager,
    vmap_equals_loop,
    text_round_trip,
    bad_text_is_refused,
    features_are_finite,
)
