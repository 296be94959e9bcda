"""Settings from flags and from config.json."""

import dataclasses

import pytest
from absl import flags

from boardrl import config
from boardrl.errors import UserError


@dataclasses.dataclass(frozen=True)
class Settings:
    depth: int = config.setting(3, "how deep")
    hidden: tuple[int, ...] = config.setting((8, 8), "units")
    rate: float | None = config.setting(None, "how fast")
    loud: bool = config.setting(False, "whether to shout")
    name: str = config.setting("x", "a text")


def parse(*arguments, **defaults):
    values = flags.FlagValues()
    config.define(Settings, values, defaults)
    values(["program", *arguments])
    return config.from_flags(Settings, values)


def test_flags_become_fields():
    assert parse() == Settings()
    given = parse("--depth=5", "--hidden=4+2", "--rate=0.5", "--loud", "--name=7")
    assert given == Settings(5, (4, 2), 0.5, True, "7")


def test_a_game_may_change_defaults_but_not_invent_settings():
    assert parse("--loud", depth=9) == Settings(depth=9, loud=True)
    with pytest.raises(UserError, match="no setting 'width'"):
        parse(width=9)


def test_stored_settings_come_back():
    stored = Settings(5, (4, 2), 0.5, True, "7")
    assert config.from_dict(Settings, {**dataclasses.asdict(stored), "hidden": [4, 2]}) == stored


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"depth": "5"}, "depth='5' is not an integer"),
        ({"loud": 1}, "loud=1 is not true or false"),
        ({"depth": True}, "depth=True is not an integer"),
        ({"rate": "fast"}, "rate='fast' is not a number or none"),
        ({"colour": 1}, "colour"),
    ],
)
def test_foreign_settings_are_refused(change, words):
    with pytest.raises(UserError, match=words):
        config.from_dict(Settings, {**dataclasses.asdict(Settings()), **change})


def test_a_setting_that_was_added_since_has_its_default():
    assert config.from_dict(Settings, {"depth": 5}) == Settings(depth=5)
    with pytest.raises(UserError, match=r"colour; expected .*; boardrl 9.1 wrote them: use that version"):
        config.from_dict(Settings, {"colour": 1}, written_by="boardrl 9.1")


@pytest.mark.parametrize("value", [{}, {"a": 1}, [[1]], [None], [1, "2"], "x" * 10_000])
def test_values_of_any_kind_are_refused_without_a_traceback(value):
    for name in ("depth", "hidden", "rate", "loud"):
        with pytest.raises(UserError, match=f"stored setting {name}=") as error:
            config.from_dict(Settings, {name: value})
        assert len(str(error.value)) < 200
