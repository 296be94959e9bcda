"""The learned players of alhajry2012: how they are trained, and what is made of the measurements."""

import json

import pytest

from boardrl.matches import arena
from boardrl.play import players
from boardrl.runs.saved_results import Kept
from games.ludo import Ludo
from launch.papers import alhajry2012, trained

pytestmark = pytest.mark.usefixtures("optimized")

GAMES = 40


@pytest.fixture(scope="module")
def figure_3(tmp_path_factory):
    """The cells of Figure 3 by a tiny training, and its run directory."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trained, "FOLDER", tmp_path_factory.mktemp("reproduce"))
        cells = alhajry2012.figure("fig3", GAMES, 0)
        yield cells, trained.FOLDER / f"alhajry2012-fig3-{GAMES}-s0"


def test_two_experts_keep_their_seats_beside_the_paper_s_net(figure_3):
    settings = json.loads((figure_3[1] / "config.json").read_text())["settings"]
    wanted = {
        "opponents": "mixed,mixed", "rotate_opponents": False, "hidden": [20], "learning_rate": 0.2, "decay": 0.7,
        "encoding": "alhajry_objective", "fixed_seats": True, "utility": "margin", "epsilon": 0.0,
    }  # fmt: skip
    assert {name: settings[name] for name in wanted} == wanted


def test_figures_of_td_have_their_best_and_worst_seat(figure_3):
    cells, path = figure_3
    assert [(cell.row, cell.what, cell.paper) for cell in cells] == [
        ("vs 3 random", "learned", 62.0),
        ("vs 3 mixed", "learned", 26.0),
        ("vs 3 random", "best seat", None),
        ("vs 3 random", "worst seat", None),
        ("vs 3 mixed", "best seat", None),
        ("vs 3 mixed", "worst seat", None),
    ]
    random, _ = trained.rows(path, "final")
    assert cells[0].ours == pytest.approx(100 * sum(random["seats"]) / 4)  # as many games from each
    assert cells[2].ours == pytest.approx(100 * max(random["seats"]))
    assert cells[3].ours == pytest.approx(100 * min(random["seats"]))


def test_table_3_shares_all_games_between_two_pairs(figure_3, monkeypatch):
    monkeypatch.setattr(alhajry2012, "_trained", lambda name, games, seed: figure_3[1])
    td, ql = alhajry2012.table_3(GAMES, 0)
    assert (td.what, td.paper, ql.what, ql.paper) == ("TD", 27.37, "QL", 22.37)
    assert td.ours + ql.ours == pytest.approx(50)
    assert td.low < td.ours < td.high


def test_the_level_of_q_learning_is_the_mean_of_the_last_quarter(monkeypatch):
    rates = {0: 0.1, 50: 0.2, 75: 0.4, 80: 0.5, 100: 0.6}
    rows = [{"games": games, "opponent": "mixed", "win_rate": rate} for games, rate in rates.items()]
    monkeypatch.setattr(trained, "rows", lambda path, *kinds: rows)
    (cell,) = alhajry2012._level(None, 100, {"mixed": (27.0, 1.0)})
    assert (cell.what, cell.paper) == ("mean of 3 from 75 games on", 27.0)
    assert cell.ours == pytest.approx(50)
    # ± t(0.975; 2 degrees of freedom) · 10 / √3
    assert cell.high - cell.ours == pytest.approx(4.3027 * 10 / 3**0.5, abs=1e-2)


def test_games_of_a_search_are_played_in_parts_and_once(tmp_path, monkeypatch):
    monkeypatch.setattr(alhajry2012, "AT_A_TIME", 64)
    game = Ludo(rules="alhajry2012")
    lineup = players.make_lineup("fast,random,random,random", game)
    single = [
        arena.match(game, lineup, num_games=games, seed=7 + n).players[0].wins for n, games in enumerate((64, 36))
    ]
    assert alhajry2012._won("fast", "random", 100, 7, Kept(tmp_path / "kept.jsonl")) == sum(single)

    monkeypatch.setattr(arena, "match", None)  # called no more
    kept = Kept(tmp_path / "kept.jsonl")
    assert sorted(kept.rows.values()) == sorted(single)
    assert alhajry2012._won("fast", "random", 100, 7, kept) == sum(single)
