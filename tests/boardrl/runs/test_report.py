import pytest

from boardrl.runs import report, run_directory
from games.pig import Pig

STRENGTH = {
    "kind": "strength", "updates": 10, "games": 1234, "opponent": "hold(total=20)", "played": 1000, "win_rate": 0.25,
    "low": 0.2242, "high": 0.2777, "points": -0.125, "wins": 250, "draws": 0, "losses": 750, "seed": 99,
}  # fmt: skip


@pytest.fixture
def opened(tmp_path):
    stored = {"game": "pig:players=3", "algo": "td_lambda", "seed": 4}
    stored |= {"settings": {"hidden": [64, 32], "opponents": ""}, "schedule": {"log_every": 10}}
    with run_directory.Run.create(tmp_path / "a run", stored) as opened:
        yield opened


def test_the_report_of_an_untrained_run(opened):
    text = report.text(opened, Pig(players=3), status="under way")
    assert "Not evaluated." in text
    assert "| 0 games, 0 updates" in text
    assert f"python -m launch.train --resume='{opened.path}'" in text


def test_numbers_settings_and_commands(opened):
    opened.log("metrics.jsonl", STRENGTH)
    opened.log("metrics.jsonl", {**STRENGTH, "kind": "final", "win_rate": 0.5, "played": 20000, "seed": 7})
    opened.log("speed.jsonl", {"seconds": 100.0, "games_per_second": 10.0})
    opened.log("speed.jsonl", {"seconds": 25.0, "games_per_second": 20.0})
    report.write(opened, Pig(players=3), status="finished")
    text = (opened.path / "report.md").read_text()
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")
    ]
    assert ["trained", "1,234 games, 10 updates"] in cells
    assert ["time", "2:05 of updates, 12 games/s"] in cells
    assert ["hidden", "64+32"] in cells
    assert ["opponents", "''"] in cells
    assert ["hold(total=20)", "20,000", "50.00%", "22.42% to 27.77%", "0", "750", "-0.1250", "7"] in cells
    assert "25.00%" not in text  # the final evaluation alone
    assert "The final evaluation, after 1,234 games of training" in text
    lineup = f"{opened.path},hold(total=20),hold(total=20)"
    assert f"python -m launch.evaluate --game=pig:players=3 --players='{lineup}' --games=20000 --seed=7" in text


def test_what_was_learned_stands_in_the_report_where_it_can_be_said(opened):
    text = report.text(opened, Pig(players=3), status="under way", learned={"discount": "0.34", "knock": "0.73"})
    section = text.partition("## Learned")[2].partition("##")[0]
    assert [line.replace(" ", "") for line in section.splitlines() if line][2:] == ["|discount|0.34|", "|knock|0.73|"]
    assert "## Learned" not in report.text(opened, Pig(players=3), status="under way")
