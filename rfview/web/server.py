"""The page and its WebSocket, each with a process of rfview that ends with the page.

Everything is under a secret path. Requests that a browser sends from another site are refused, and the page may load
nothing from elsewhere.
"""

from __future__ import annotations

import asyncio
import html
import json
import logging
import os
import secrets
import shlex
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import resources
from pathlib import Path
from string import Template
from urllib.parse import urlsplit

import textual_serve
from aiohttp import WSMsgType, web
from aiohttp.typedefs import Handler
from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

STATIC = Path(textual_serve.__file__).parent / "static"     # the terminal's script, style and fonts
LOOPBACK = ("127.0.0.1", "::1", "localhost")
ANY = ("0.0.0.0", "::", "")
HEARTBEAT_S = 15    # a page that does not answer for this long is closed
END_S = 10          # how long a session may take to end when its page closes
SHUTDOWN_S = 0.7    # and when the server ends
CLOSE_S = 0.2       # for a page's answer to the end of its connection
SIZES = range(8, 65)        # font sizes in pixels
CELLS = range(20, 1001)     # columns and rows of a terminal
HEADERS = {
    "Content-Security-Policy":
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self' data:; "
        "connect-src 'self' {websocket}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
# the capabilities of a browser's terminal, which may differ from ours
TERMINAL = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "PYTHONUTF8": "1"}


class Page(AppService):
    """One session; the page learns when it ends."""

    async def run(self) -> None:
        """Forward what the session draws until it ends."""
        await super().run()
        await self.remote_close()

    async def end(self, seconds: float) -> None:
        """End the session; kill it if that takes too long, as when it waits for a page that does not read."""
        with suppress(TimeoutError, OSError):
            await asyncio.wait_for(self.stop(), seconds)
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()


class Server:
    """Serves one command line of rfview. names: values of the Host header that are accepted; empty: all."""

    def __init__(self, words: Sequence[str], host: str = "127.0.0.1", public: str = ""):
        # exec: the shell started by textual-serve becomes the session, whose parent is then the server
        self.command = f"exec {shlex.join([sys.executable, '-m', 'rfview', *words])}"
        self.title = " ".join(["rfview", *words])
        self.token = secrets.token_urlsafe(24)
        self.public = public.rstrip("/")
        names = {*LOOPBACK, host, urlsplit(public).hostname or host}
        self.names = set() if host in ANY and not public else names
        self.pages: set[Page] = set()

    def application(self) -> web.Application:
        """Return the web application; anything but its secret path is not found."""
        app = web.Application(middlewares=[self.guard])
        app.on_shutdown.append(self.end)
        app.add_routes([
            web.get(f"/{self.token}/", self.page), web.get(f"/{self.token}/ws", self.session),
            web.get(f"/{self.token}/focus.js", self.script), web.static(f"/{self.token}/static", STATIC),
        ])
        return app

    async def script(self, request: web.Request) -> web.Response:
        """Return the script that gives the terminal the keys."""
        text = (resources.files("rfview.web") / "focus.js").read_text(encoding="utf-8")
        return web.Response(text=text, content_type="text/javascript", headers={"Cache-Control": "no-store"})

    async def end(self, application: web.Application) -> None:
        """End all sessions, as the server ends."""
        await asyncio.gather(*(page.end(SHUTDOWN_S) for page in list(self.pages)), return_exceptions=True)

    @web.middleware
    async def guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Answer only requests that can be read, with an accepted Host, from one of our own pages."""
        try:
            return await self._guarded(request, handler)
        except (ValueError, OSError):       # an address that is none, a path that no file can have
            raise web.HTTPBadRequest(text="rfview cannot read this request\n") from None

    async def _guarded(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if self.names and urlsplit(f"//{request.host}").hostname not in self.names:
            raise web.HTTPForbidden(text="rfview does not serve this host name; see rfview serve --public-url\n")
        origin = request.headers.get("Origin")
        if origin is not None and origin not in (f"http://{request.host}", f"https://{request.host}", self.public_origin()):
            raise web.HTTPForbidden(text="rfview does not answer pages of other sites\n")
        response = await handler(request)
        if not response.prepared:
            for name, value in HEADERS.items():
                response.headers[name] = value.replace("{websocket}", self.websocket(request))
        return response

    def public_origin(self) -> str:
        """Return scheme and host of the public address, "" without one."""
        url = urlsplit(self.public)
        return f"{url.scheme}://{url.netloc}" if self.public else ""

    def websocket(self, request: web.Request) -> str:
        """Return the address of the WebSocket as seen by the page's browser."""
        base = self.public or f"{request.scheme}://{request.host}"
        return f"ws{base.removeprefix('http')}/{self.token}/ws"

    async def page(self, request: web.Request) -> web.StreamResponse:
        """Return the page."""
        text = (resources.files("rfview.web") / "page.html").read_text(encoding="utf-8")
        filled = Template(text).substitute(
            title=html.escape(self.title), websocket=html.escape(self.websocket(request)),
            size=_within(request.query.get("fontsize"), SIZES, 16))
        return web.Response(text=filled, content_type="text/html")

    async def session(self, request: web.Request) -> web.StreamResponse:
        """Run a session while its page is open."""
        if request.headers.get("Origin") is None:       # every browser sends it, and so can programs
            raise web.HTTPForbidden(text="rfview expects an Origin header\n")
        socket_ = web.WebSocketResponse(heartbeat=HEARTBEAT_S, timeout=CLOSE_S)
        await socket_.prepare(request)

        async def close() -> None:
            await socket_.close()

        page = Page(self.command, write_bytes=socket_.send_bytes, write_str=socket_.send_str, close=close,
                    download_manager=DownloadManager())
        self.pages.add(page)
        await page.start(_within(request.query.get("width"), CELLS, 80), _within(request.query.get("height"), CELLS, 24))
        try:
            async for message in socket_:
                if message.type == WSMsgType.TEXT:
                    await handle(page, socket_, message.data)
        finally:
            await asyncio.shield(page.end(END_S))
            self.pages.discard(page)
        return socket_


async def handle(page: AppService, socket_: web.WebSocketResponse, text: str) -> None:
    """Execute a message from the page; unknown messages are ignored."""
    try:
        kind, *rest = json.loads(text)
        data = rest[0] if rest else None
    except (ValueError, TypeError, RecursionError):
        return
    match kind, data:
        case "stdin", str():
            await page.send_bytes(data.encode("utf-8", "ignore"))
        case "resize", {"width": width, "height": height}:
            await page.set_terminal_size(_within(width, CELLS, 80), _within(height, CELLS, 24))
        case "ping", str():
            await socket_.send_json(["pong", data])
        case "blur", _:
            await page.blur()
        case "focus", _:
            await page.focus()


def _within(given: object, allowed: range, otherwise: int) -> int:
    """Return a number sent by a page, clamped to its range."""
    try:
        return min(max(int(str(given)), allowed.start), allowed.stop - 1)
    except (ValueError, RecursionError):
        return otherwise


def serve(server: Server, host: str, port: int) -> None:
    """Serve until interrupted; prints the address. Raises OSError if the port cannot be opened."""
    os.environ.update(TERMINAL)
    logging.getLogger("aiohttp").setLevel(logging.CRITICAL)
    logging.getLogger("textual-serve").setLevel(logging.CRITICAL)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as listening:
        base = server.public or f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"
        print(f"{server.title}: open {base}/{server.token}/\nCtrl-C ends it.", flush=True)
        web.run_app(server.application(), sock=listening, print=None, access_log=None, shutdown_timeout=CLOSE_S)
