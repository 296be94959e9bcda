"""What the page shows of a position: its picture or text, the moves that can be made, how the last step got there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from boardrl import drawing, optional
from boardrl.drawing import state_text
from boardrl.game import CHANCE, TERMINAL, Game
from boardrl.play.position import Position
from launch.serve.session import Session

MOST_ACTIONS = 2000  # that are listed


def board(game: Game[Any], position: Position) -> dict[str, Any]:
    """What does not change during a game: the size and the background of the picture, if the game draws one."""
    draw = optional.draw(game)
    if draw is None:
        return {"drawn": False}
    picture = draw(position.state)
    return {
        "drawn": True,
        "width": picture.width,
        "height": picture.height,
        "foot": picture.foot_height,
        "board": drawing.layers(picture).board,
    }


def picture(game: Game[Any], position: Position) -> dict[str, Any]:
    """What changes: pieces and foot, or the text."""
    draw = optional.draw(game)
    if draw is None:
        return {"lines": shown(game, position.state)}
    layers = drawing.layers(draw(position.state)._replace(board=()))  # the page has it already
    return {"pieces": layers.pieces, "foot": layers.foot}


def shown(game: Game[Any], state: Any) -> str:
    """A position for people, as text."""
    if (show := optional.show(game)) is not None:
        return show(state).plain
    return state_text.position(game, state)


def frame(session: Session, number: int) -> dict[str, Any]:
    """The position after `number` steps, and how it came about."""
    position, game = session.positions[number], session.game
    made = session.steps[number - 1] if number else None
    last = number == len(session.steps)
    actor = session.actor if last else int(position.actor)
    return {
        "step": number,
        "actor": actor,
        "says": says(session, number),
        "made": None if made is None else {"actor": made.actor, "move": made.move, "text": made.text},
        "route": route(session, number),
        "marks": marks(session, number),
        "position": session.position_text(number),
        "returns": position.returns.tolist() if actor == TERMINAL else None,
        "cut": last and session.cut,
        **picture(game, position),
    }


def route(session: Session, number: int) -> Mapping[str, Any]:
    """The ways of the pieces that the last step moved."""
    routes = optional.routes(session.game)
    if routes is None or not number:
        return {}
    before, made = session.positions[number - 1], session.steps[number - 1]
    return {name: [list(point) for point in points] for name, points in routes(before.state, made.move).items()}


def marks(session: Session, number: int) -> list[str]:
    """The parts of the picture that the last decision was made by."""
    clicks = optional.clicks(session.game)
    if clicks is None or not number or session.steps[number - 1].actor == CHANCE:
        return []
    return list(clicks(session.positions[number - 1].state, session.steps[number - 1].move))


def says(session: Session, number: int) -> str:
    """One sentence about the last step, for the line under the board and for screen readers."""
    if not number:
        return "the start" if not session.start else "the position that was set up"
    made = session.steps[number - 1]
    return made.text if made.actor == CHANCE else f"seat {made.actor}: {made.text}"


def actions(session: Session) -> list[dict[str, Any]]:
    """The legal actions of the player to act, with the parts of the picture to click."""
    if session.actor < 0:
        return []
    clicks, state = optional.clicks(session.game), session.now.state
    return [
        {
            "action": action,
            "text": state_text.move(session.game, state, session.actor, action),
            "clicks": [] if clicks is None else list(clicks(state, action)),
        }
        for action in session.allowed()[:MOST_ACTIONS]
    ]
