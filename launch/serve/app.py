"""The web application: the page's files, and one socket for each tab."""

from __future__ import annotations

import contextlib
import importlib.resources
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from launch.serve.security import COOKIE, HEADERS, Gate
from launch.serve.service import Service
from launch.serve.tab import Tab

TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
INDEX = "index.html"


def files() -> dict[str, bytes]:
    """The page's files by name, read once: nothing else of the disk is ever served."""
    folder = importlib.resources.files("launch.serve") / "page"
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.name.rpartition(".")[2] in TYPES}


def make(service: Service, gate: Gate) -> Starlette:
    """The application of a service."""
    served = files()

    async def page(request: Request) -> Response:
        if refusal := gate.refusal(request.headers, request.query_params, socket=False):
            return PlainTextResponse(refusal + "\n", 403, headers=HEADERS)
        name = request.path_params.get("name", INDEX)
        if name not in served:
            return PlainTextResponse("there is no such page\n", 404, headers=HEADERS)
        kind = TYPES[name.rpartition(".")[2]]
        answer = Response(served[name], headers=HEADERS, media_type=kind)
        if gate.token and name == INDEX:
            answer.set_cookie(COOKIE, gate.token, httponly=True, samesite="strict")
        return answer

    async def socket(websocket: WebSocket) -> None:
        if gate.refusal(websocket.headers, websocket.query_params, socket=True):
            await websocket.close(1008)  # before it is accepted: the browser sees a 403
            return
        await Tab(websocket, service).serve()

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        service.close()

    routes = [Route("/", page), Route("/{name}", page), WebSocketRoute("/socket", socket)]
    return Starlette(routes=routes, lifespan=lifespan)
