"""Garbled input is a result or one sentence; and the fuzzer notices when it is not."""

from __future__ import annotations

import pathlib
import time

import pytest

from boardrl.errors import UserError
from launch.dev import fuzz
from launch.dev.fuzzing import block, contract, garble
from launch.dev.fuzzing.contract import Broken
from launch.dev.fuzzing.targets import TARGETS


@pytest.mark.parametrize("target", TARGETS)
def test_garbled_input_is_a_result_or_one_sentence(target: str) -> None:
    """The same cases every time; `python -m launch.dev.fuzz` tries others."""
    found = block.run(target, seed=2026, cases=40)
    assert not found.broken, f"{found.broken}\npython -m launch.dev.fuzz --targets={target} …"
    assert found.cases >= 40


def test_the_same_seed_gives_the_same_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[list[str]] = []

    def target(draw: garble.Draw, where: contract.Place) -> None:
        drawn[-1].append(garble.text(draw, "hold(total=15)"))

    monkeypatch.setitem(TARGETS, "watched", target)
    for seed in (1, 1, 2):
        drawn.append([])
        block.run("watched", seed, 15)
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(set(drawn[0])) > 8


def test_results_and_sentences_keep_the_contract() -> None:
    with contract.place() as where:
        with contract.keeping(where, []):
            (where.inside / "new.txt").write_text("inside it may write")
        with contract.keeping(where, []):
            raise UserError("size=0 does not fit; expected 1 or more")


def write_outside(where: contract.Place) -> None:
    (where.outside / "folder" / "kept.json").write_text("[]")


def link_out(where: contract.Place) -> None:
    (where.inside / "link").symlink_to(where.outside / "precious.txt")
    (where.inside / "link").write_text("")


def import_payload(where: contract.Place) -> None:
    __import__(contract.PAYLOAD)


def raise_error(where: contract.Place) -> None:
    {}["absent"]


def say_two_lines(where: contract.Place) -> None:
    raise UserError("one line\nand another")


def wait(where: contract.Place) -> None:
    time.sleep(20)


def work(where: contract.Place) -> None:
    while True:
        pass


def take_memory(where: contract.Place) -> None:
    assert bytearray(contract.LIMIT * 2)


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (write_outside, r"touched outside: folder/kept.json \[what was garbled\]"),
        (link_out, "touched outside: precious.txt"),
        (import_payload, "touched outside: payload_ran"),
        (raise_error, "KeyError in test_fuzz.py:raise_error: 'absent'"),
        (say_two_lines, "no single sentence"),
        (wait, "no end within"),
        (work, "no end within"),
        (take_memory, "MemoryError in test_fuzz.py:take_memory"),
    ],
)
def test_what_breaks_the_contract_is_told(action, words, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(contract, "SECONDS", 0.5 if action is wait else 100.0)
    monkeypatch.setattr(contract, "CPU_SECONDS", 0.5 if action is work else 100.0)
    with contract.place() as where, pytest.raises(Broken, match=words), contract.keeping(where, ["what was garbled"]):
        action(where)


class Worker:
    """Stands in for the process: every second block is broken, in one of two ways."""

    def run(self, target: str, seed: int, *, shrink: bool) -> block.Found:
        return block.Found(25, f"way {seed % 4} [a story of {seed}]" if seed % 2 else "")

    def close(self) -> None:
        pass


def test_every_way_to_break_it_is_reported_once_with_its_seed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(fuzz, "Worker", Worker)
    with pytest.raises(SystemExit) as stop:
        fuzz.main(fuzz.Config(blocks=8, targets="game", seed=10))
    out, err = capsys.readouterr()
    assert stop.value.code == 1
    assert "2 × game: way 3\n  python -m launch.dev.fuzz --targets=game --seed=11 --blocks=1" in out
    assert "200 cases: 2 ways to break the contract" in out
    assert err.count("a story of") == 2
    fuzz.main(fuzz.Config(blocks=1, targets="game", seed=10))
    assert "25 cases: no ways to break the contract" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (fuzz.Config(targets="gmae"), "unknown target 'gmae'; known targets: run, weights"),
        (fuzz.Config(minutes=0.0), "--minutes=0.0 --blocks=0 leaves no time"),
    ],
)
def test_mistakes(config: fuzz.Config, words: str) -> None:
    with pytest.raises(UserError, match=words):
        fuzz.main(config)


def test_no_folder_is_left_behind(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contract.tempfile, "tempdir", str(tmp_path))
    block.run("replay", 0, 5)
    assert list(tmp_path.iterdir()) == []
