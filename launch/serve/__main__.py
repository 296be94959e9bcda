"""Opens a page on this machine to play any game against any player, to watch players, and to see what they think.

    python -m launch.serve --game=ludo --port=8000
    python -m launch.serve --game=jumper --players='human,negascout(ms=200)'
    python -m launch.serve --replay=game.json
    python -m launch.serve --game=pig --host=0.0.0.0       # for other machines too; prints a token

Needs pip install -e '.[serve]'. The page offers every installed game, every searcher, and the runs below --runs. Ctrl-C
ends the server; games that are open in a browser go on when it is started again. docs/serve.md describes the page.
"""

from __future__ import annotations

import contextlib
import dataclasses
import pathlib
import secrets
import socket
import webbrowser
from typing import Any

from boardrl import options, registry
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.matches import replay_file
from launch import cli
from launch.console import positions
from launch.serve import messages
from launch.serve.permitted import HUMAN
from launch.serve.security import Gate, is_local

ANY = ("0.0.0.0", "::")


@dataclasses.dataclass(frozen=True)
class Settings:
    game: str = setting("tic_tac_toe", "the game to begin with, with its options, like ludo:rules=sdu_java")
    players: str = setting("", "one player for each seat, human for a person; empty: a person against a good player")
    position: str = setting("", "a position to begin from, as the game writes it")
    replay: str = setting("", "a file of launch.play --record: it is shown")
    runs: str = setting("runs", "the folder whose runs the page may show and play; nothing else can be read")
    host: str = setting("127.0.0.1", "the address to listen on; any other than this machine's own needs a token")
    port: int = setting(8000, "the port; 0: any that is free")
    token: str = setting("", "what a browser must know; empty: a new one if other machines can connect, else none")
    browser: bool = setting(False, "open the page in the browser of this machine")


def main(settings: Settings) -> None:
    try:
        import starlette  # noqa: F401
        import uvicorn
        import websockets  # noqa: F401
    except ImportError as error:
        raise UserError(f"the page needs {error.name}; run pip install -e '.[serve]' to install it") from None
    from launch.serve import app
    from launch.serve.service import Service

    token = settings.token or ("" if is_local(settings.host) else secrets.token_urlsafe(16))
    service = Service(start_of(settings), runs=pathlib.Path(settings.runs), typed=typed(settings))
    with contextlib.closing(listen(settings.host, settings.port)) as listener:
        port = listener.getsockname()[1]
        address = _address(settings.host, port, token)
        _say(settings, address, token)
        if settings.browser:
            webbrowser.open(address)
        config = uvicorn.Config(
            app.make(service, Gate(settings.host, token)),
            loop="asyncio",
            log_level="critical",
            ws="websockets-sansio",
            ws_max_size=messages.MOST_BYTES,
            ws_ping_interval=20,
            ws_ping_timeout=20,
            timeout_graceful_shutdown=1,
        )
        server: Any = uvicorn.Server(config)
        server.capture_signals = contextlib.nullcontext  # signals are left to launch.cli
        server.run(sockets=[listener])


def start_of(settings: Settings) -> Any:
    """What a tab shows at first; mistakes are told before the server starts."""
    from launch.serve.service import Start

    if settings.replay:
        for name in ("players", "position"):
            if getattr(settings, name):
                raise UserError(f"--replay and --{name} are given; a replay is only shown, so leave one of them out")
        path = pathlib.Path(settings.replay)
        replay = replay_file.read(path)
        game = replay_file.game_of(path, replay)
        for _ in replay_file.follow(path, replay, game):
            pass
        return Start(replay.text, (), replay=replay)
    game = registry.make(settings.game)
    seats = tuple(options.split(settings.players))
    if seats and len(seats) != game.spec.num_players:
        raise UserError(
            f"--players={settings.players} are {len(seats)}; {settings.game} is played by {game.spec.num_players}"
        )
    if settings.position:
        positions.parse(game, settings.position)
    from boardrl.play import players

    for text in dict.fromkeys(seats):
        if text != HUMAN:
            players.make(text, game)
    return Start(settings.game, seats, settings.position)


def typed(settings: Settings) -> tuple[str, ...]:
    """The players of the command line, which may name code and files."""
    return tuple(options.split(settings.players))


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens, before anything is said about it."""
    if not 0 <= port < 2**16:
        raise UserError(f"--port={port} is no port; expected 0 to {2**16 - 1}")
    made = None
    try:
        family, kind, *_, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        made = socket.socket(family, kind)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(place)
        made.listen(128)
    except OSError as error:
        if made is not None:
            made.close()
        raise UserError(f"--host={host} --port={port} cannot be used: {error.strerror}; choose another port") from None
    return made


def _address(host: str, port: int, token: str) -> str:
    name = socket.gethostname() if host in ANY else f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}/" + (f"?token={token}" if token else "")


def _say(settings: Settings, address: str, token: str) -> None:
    print(f"the page is at {address}", flush=True)
    if not is_local(settings.host):
        print(f"listening on {settings.host}: other machines can connect, with the token {token}", flush=True)
    print("Ctrl-C ends it", flush=True)


if __name__ == "__main__":
    cli.run(main, Settings)
