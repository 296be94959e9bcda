"""launch.dev.lowered: a game's code as it is emitted, and the time of a call."""

from __future__ import annotations

import re

import pytest

from boardrl.errors import UserError
from launch.dev import lowered


def test_it_prints_code_that_cites_the_rules_and_the_time_of_a_call(capsys: pytest.CaptureFixture[str]) -> None:
    lowered.main(lowered.Settings(game="tic_tac_toe", function="legal"))
    out = capsys.readouterr().out
    assert "def legal(row, mask, work):" in out
    assert re.search(r"crosses \| noughts  # or bool\[9\], tic_tac_toe\.py:\d+", out)
    found = re.search(r"^(-?[\d.,]+) ns a call, over 1,000 positions of random play$", out, re.MULTILINE)
    assert found is not None
    assert float(found[1]) < 10_000


@pytest.mark.parametrize(
    ("game", "function", "message"),
    [
        ("", "legal", "no game is given"),
        ("tic_tac_toe", "jump", "--function=jump is not a compiled function of games; expected one of actor, legal"),
        ("tic_tac_toe", "features", "tic_tac_toe has no 'features'"),
    ],
)
def test_what_there_is_no_code_for_is_refused(game: str, function: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        lowered.main(lowered.Settings(game=game, function=function))
