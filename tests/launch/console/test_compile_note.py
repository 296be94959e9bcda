"""The note that rules are being compiled."""

from __future__ import annotations

import time

import pytest
from numba.core import event

from boardrl.lowering import LOWERING
from launch.console import compile_note


@pytest.fixture(autouse=True)
def short_patience(monkeypatch):
    monkeypatch.setattr(compile_note, "QUIET_SECONDS", 0.02)


@pytest.mark.parametrize("kind", [LOWERING, "numba:compile"])
def test_compiling_that_takes_long_is_announced_once(kind, capsys):
    with compile_note.shown():
        for _ in range(2):
            with event.trigger_event(kind):
                time.sleep(0.1)
    assert capsys.readouterr().err == compile_note.NOTE + "\n"


def test_short_compilations_are_not_announced(capsys):
    with compile_note.shown(), event.trigger_event(LOWERING):
        pass
    time.sleep(0.05)
    with event.trigger_event(LOWERING):
        time.sleep(0.05)
    assert capsys.readouterr().err == ""
