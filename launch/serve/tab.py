"""One browser tab: its socket, its session, and the work that is under way for it.

A tab reads one message after the other. Beside that at most four tasks run: `drive` makes the moves of dice and
players, `think` and `judge` stream what a player thinks, `run` follows a learning curve. A message that changes the
game ends `drive` first, though never in the middle of a step, and starts it again afterwards.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Sequence
from typing import Any

from starlette.websockets import WebSocket

from boardrl import optional, registry
from boardrl.errors import UserError
from boardrl.game import CHANCE, TERMINAL, Game
from boardrl.matches import replay_file
from boardrl.play import players
from boardrl.play import position as positions
from boardrl.play.position import Position
from launch.serve import frames, judging, messages, runs, session, thinking
from launch.serve.connection import GONE, Connection
from launch.serve.judging import Judging
from launch.serve.messages import Refused
from launch.serve.permitted import HUMAN, RUNS
from launch.serve.service import MOST_TABS, Service, version
from launch.serve.session import Session
from launch.serve.thinking import Analysis

LOOK_SECONDS = 1.0  # between two looks at a run's log
PAUSE_SECONDS = 2.0  # between two games of players who play on and on
MOST_LINE = 200  # moves of a line that is shown
DELAY = 500  # milliseconds between two steps, until the page says otherwise
TAKEN_OVER, TOO_MANY = 4001, 1013  # codes of a closed socket


class Tab(Connection):
    def __init__(self, socket: WebSocket, service: Service) -> None:
        super().__init__(socket)
        self._service = service
        self.session: Session | None = None
        self._delay, self._paused, self._again = DELAY, False, False
        self._judging: Judging | None = None
        self._stepping = asyncio.Lock()  # held while `drive` makes a step and tells of it

    async def serve(self) -> None:
        """Answers messages until the tab is closed."""
        await self._socket.accept()
        if self._service.num_tabs >= MOST_TABS:
            await self._socket.close(TOO_MANY)
            return
        self._service.num_tabs += 1
        try:
            await self.read()
        finally:
            self._service.num_tabs -= 1
            self.leave()

    async def answer(self, message: dict[str, Any]) -> None:
        if self.session is None and message["type"] != "hello":
            raise Refused("the first message must be hello")
        if self.session is not None and message.get(messages.SESSION, self.session.id) != self.session.id:
            raise Refused("the message is for another session")
        await getattr(self, "_on_" + message["type"])(message)

    def leave(self) -> None:
        """Ends all work, and keeps the session for a tab that comes back."""
        self.stop_work()
        held = self._service.tabs
        if self.session is not None and held.get(self.session.id) is self:
            del held[self.session.id]
            self._service.keep(self.session.id, self.session.record())

    async def _halt(self) -> None:
        """Ends `drive`, but not in the middle of a step."""
        if (stop := self._stops.pop("drive", None)) is not None:
            stop()
        async with self._stepping:
            self.stop("drive")

    @property
    def _game(self) -> Session:
        assert self.session is not None
        return self.session

    # --- the session --------------------------------------------------------------------------------------------------

    async def _on_hello(self, message: dict[str, Any]) -> None:
        """Goes on with the session of the browser, from here or from what the browser has kept; or begins one."""
        if self.session is not None:
            raise Refused("hello was said already")
        service, known = self._service, message.get("session", "")
        record, wanted = message.get("record"), message.get("game")
        ours = known in service.tabs or known in service.kept
        other = service.tabs.get(known)
        if other is not None:  # a copy of the tab, or a reload that was faster than the end of the old socket
            record = other._game.record()
            other.leave()
            await other.taken_over()
        record = service.kept.pop(known, record)
        problem, made = "", None
        if record is not None and wanted is None:
            try:
                made = await service.rules(session.of_record, record, service.permitted)
            except UserError as error:
                problem = f"the game could not be gone on with: {error}"
        if made is None:
            try:
                made = await service.rules(self._begin, wanted, message.get("position", ""))
            except UserError as error:
                if wanted is None:
                    raise
                problem = str(error)
                made = await service.rules(self._begin, None, "")
        elif ours:
            made.id = known
        await self._take(made)
        if problem:
            await self.error(problem)

    async def taken_over(self) -> None:
        """Another tab goes on with the session."""
        self.session = None
        with contextlib.suppress(*GONE):
            await self.send("taken")
            await self._socket.close(TAKEN_OVER)

    def _begin(self, game_text: str | None, position: str) -> Session:
        """A new session: of a link, or of what the server was started with."""
        start = self._service.start
        if game_text is None and start.replay is not None:
            return session.of_replay(start.replay, registry.make(start.replay.text))
        game = self._service.permitted.game(start.game if game_text is None else game_text)
        same = registry.describe(game) == registry.describe(registry.make(start.game))
        seats = start.seats if same and start.seats else default_seats(game)
        seed = secrets.randbelow(2**32)
        return Session(game, seats, seed=seed, start=position or (start.position if game_text is None else ""))

    async def _take(self, made: Session) -> None:
        """Goes on with a session, and tells the page all about it."""
        self.stop_work()
        if self.session is not None:
            self._service.tabs.pop(self.session.id, None)
            made.id = self.session.id
        self.session, self._judging = made, None
        self._service.tabs[made.id] = self
        await self._tell_game()
        self._drive()

    async def _tell_game(self) -> None:
        service, made = self._service, self._game
        told = await service.rules(self._content, made)
        await self.send("game", **told)
        await self._tell_frame("step", len(made.steps))

    def _content(self, made: Session) -> dict[str, Any]:
        game = made.game
        return {
            "session": made.id,
            "version": version(),
            "game": made.text,
            "games": registry.names(),
            "record": made.record(),
            "names": made.names,
            "players": suggestions(game),
            "thinker": thinking.default(game),
            "judge": judging.default(game),
            "dice": game.spec.num_outcomes > 0,
            "range": [game.spec.min_return, game.spec.max_return],
            "readable": optional.from_text(game) is not None,
            "steps": [[step.actor, step.text] for step in made.steps],
            "pace": {"delay": self._delay, "paused": self._paused, "again": self._again},
            **frames.board(game, made.positions[0]),
        }

    async def _tell_frame(self, kind: str, number: int) -> None:
        made = self._game
        shown = await self._service.rules(frames.frame, made, number)
        if number == len(made.steps):
            asked = made.actor in made.humans and not made.names
            shown["actions"] = await self._service.rules(frames.actions, made) if asked else []
            shown["can_undo"] = any(step.actor in made.humans for step in made.steps) and not made.names
        await self.send(kind, **shown)

    # --- messages that change the game --------------------------------------------------------------------------------

    async def _on_new(self, message: dict[str, Any]) -> None:
        def make() -> Session:
            game = self._service.permitted.game(message["game"])
            seats = list(message.get("seats", [])) if "rest" in message else message.get("seats") or default_seats(game)
            seats += [message["rest"]] * (game.spec.num_players - len(seats)) if "rest" in message else []
            session.check_seats(game, seats)
            self._check(game, seats)
            seed = message.get("seed", secrets.randbelow(2**32))
            return Session(game, seats, seed=seed, start=message.get("position", ""))

        await self._take(await self._service.thought(make))

    async def _on_seats(self, message: dict[str, Any]) -> None:
        made = self._game
        session.check_seats(made.game, message["seats"])
        await self._service.thought(self._check, made.game, message["seats"])
        await self._halt()
        made.seat(message["seats"])
        await self._tell_game()
        self._drive()

    def _check(self, game: Game[Any], seats: Sequence[str]) -> None:
        for text in dict.fromkeys(seats):
            if text != HUMAN:
                self._service.agents.check(text, game)

    async def _on_move(self, message: dict[str, Any]) -> None:
        made = self._game
        if made.names:
            raise Refused("a replay is shown; give the seats to players to go on with it")
        await self._halt()
        try:
            await self._service.rules(made.by_human, message["step"], message["action"])
            await self._tell_frame("step", len(made.steps))
        finally:
            self._drive()

    async def _on_undo(self, message: dict[str, Any]) -> None:
        made = self._game
        if made.names:
            raise Refused("a replay is shown; give the seats to players to go on with it")
        await self._halt()
        try:
            number = await self._service.rules(made.undo)
            await self.send("cut", step=number)
            await self._tell_frame("step", number)
        finally:
            self._drive()

    async def _on_pace(self, message: dict[str, Any]) -> None:
        self._delay, self._paused, self._again = message["delay"], message["paused"], message["again"]
        await self._halt()
        self._drive()

    async def _on_open(self, message: dict[str, Any]) -> None:
        """Shows a replay that the browser has read from a file of the user's."""

        def make() -> Session:
            try:
                replay = replay_file.of_content(message["replay"])
            except ValueError as error:
                raise UserError(f"the file cannot be read as a replay: {error}") from None
            game = self._service.permitted.game(replay.text)
            if len(replay.players) != game.spec.num_players:
                raise UserError(f"the replay names {len(replay.players)} players; {replay.text} has other seats")
            return session.of_replay(replay, game)

        await self._take(await self._service.rules(make))

    def _drive(self) -> None:
        self.start("drive", self._play_on())

    async def _play_on(self) -> None:
        """Makes the moves of dice and players until a person is to move or the game is over."""
        service, made, clock = self._service, self._game, asyncio.get_running_loop().time
        due = clock()
        self._judge_on()
        while not self._paused and not made.names and made.actor not in (TERMINAL, *made.humans):
            if made.actor == CHANCE:
                move = await service.rules(made.roll)
            else:
                choose, stop = service.agents.choose(
                    made.seats[made.actor], made.game, made.now.state, made.now.legal, made.rng(), owner=made
                )
                self._stops["drive"] = stop
                await self.send("thinks", seat=made.actor)
                move = await service.thought(choose)
                self._stops.pop("drive", None)
            await asyncio.sleep(max(0.0, due - clock()))
            async with self._stepping:
                await service.rules(made.play, move)
                await self._tell_frame("step", len(made.steps))
            due = clock() + self._delay / 1e3
            self._judge_on()
        if made.actor == TERMINAL and self._again and not made.humans and not made.names:
            await asyncio.sleep(PAUSE_SECONDS)
            seed = secrets.randbelow(2**32)
            fresh = await service.rules(lambda: Session(made.game, made.seats, seed=seed, start=made.start))
            self._tasks.pop("drive", None)  # this very task, which must not end itself
            await self._take(fresh)

    # --- messages that only look --------------------------------------------------------------------------------------

    async def _on_show(self, message: dict[str, Any]) -> None:
        if message["step"] > len(self._game.steps):
            raise Refused(f"the game has no step {message['step']}")
        await self._tell_frame("frame", message["step"])

    async def _on_line(self, message: dict[str, Any]) -> None:
        """The pictures of a line that somebody thought of, from a position of the game on."""
        made, number = self._game, message["step"]
        if number > len(made.steps) or len(message["actions"]) > MOST_LINE:
            raise Refused("the game has no such step, or the line is too long")

        def pictures() -> list[dict[str, Any]]:
            found, now = [], made.positions[number]
            for action in message["actions"]:
                now = _followed(made.game, now, action)
                found.append(frames.picture(made.game, now))
            return found

        await self.send("line", step=number, frames=await self._service.rules(pictures))

    async def _on_think(self, message: dict[str, Any]) -> None:
        made, number = self._game, message["step"]
        if number > len(made.steps):
            raise Refused(f"the game has no step {number}")
        self.stop("think")
        state = made.positions[number].state
        analysis = Analysis(self._service.permitted, made.game, message["player"], state)
        self.start("think", self._think(analysis, number), analysis.stop)

    async def _think(self, analysis: Analysis, number: int) -> None:
        await self.send("thought", step=number, done=False, waiting=True)
        async for found in self._service.stream(analysis.run):
            await self.send("thought", step=number, done=False, **found)
        await self.send("thought", step=number, done=True)

    async def _on_judge(self, message: dict[str, Any]) -> None:
        self.stop("judge")
        self._judging = Judging(self._service.permitted, self._game.game, message["player"])
        self._judge_on()

    def _judge_on(self) -> None:
        """Judges the steps that were made since the last time."""
        task = self._tasks.get("judge")
        if self._judging is not None and (task is None or task.done()):
            self.start("judge", self._judge(self._judging), self._judging.stop)

    async def _judge(self, judge: Judging) -> None:
        made = self._game
        told = -1
        while told != len(made.steps):
            told = len(made.steps)
            async for found in self._service.stream(lambda: judge.run(made)):
                await self.send("judged", **found)

    async def _on_runs(self, message: dict[str, Any]) -> None:
        found = await self._service.rules(runs.listed, self._service.permitted.runs)
        await self.send("runs", runs=found)

    async def _on_run(self, message: dict[str, Any]) -> None:
        curve = await self._service.rules(runs.Curve, self._service.permitted.run(message["run"]))
        self.start("run", self._follow_run(curve))

    async def _follow_run(self, curve: runs.Curve) -> None:
        updates = None
        await self._service.rules(curve.look)
        while True:
            content = await self._service.rules(curve.content)
            await self.send("run", **content, newer=updates not in (None, content["updates"]))
            updates = content["updates"]
            while not await self._service.rules(curve.look):
                await asyncio.sleep(LOOK_SECONDS)

    async def _on_save(self, message: dict[str, Any]) -> None:
        replay = await self._service.rules(self._game.replay)
        if replay is None:
            raise Refused("a game from a position that was set up cannot be saved; copy its position or its link")
        await self.send("saved", replay=replay)

    async def _on_quiet(self, message: dict[str, Any]) -> None:
        self.stop(message["what"])
        if message["what"] == "judge":
            self._judging = None


def _followed(game: Game[Any], now: Position, action: int) -> Position:
    if int(now.actor) < 0 or action >= len(now.legal) or not now.legal[action]:
        raise Refused(f"{action} is not a legal move in this line")
    return positions.after(game, now, action)


def default_seats(game: Game[Any]) -> list[str]:
    """A person against what plays the game at once: something scripted or a searcher."""
    named = list(optional.named_players(game))
    opponent = next((one for one in named if one.endswith("_best")), "")
    opponent = opponent or f"{thinking.default(game)}(ms=200)"
    return [HUMAN, *[opponent] * (game.spec.num_players - 1)]


def suggestions(game: Game[Any]) -> list[str]:
    """Players of a game as the page offers them."""
    known = [name for name in players.known(game) if not name.startswith((RUNS, HUMAN))]
    return [HUMAN, *known]
