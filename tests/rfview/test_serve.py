"""`rfview serve`: the page, who may load it, and a session driven through its WebSocket by keys and mouse."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import aiohttp
import pytest

from rfview import cli
from tests.rfview.terminal import REPOSITORY, Screen
from tests.conftest import PATIENCE_S

RECORDED = str(REPOSITORY / "sessions" / "recorded" / "first.rfs")
SIZE = (100, 30)


class Served:
    """A running `rfview serve`. url: the secret address; host: its host and port."""

    def __init__(self, process: subprocess.Popen[str], url: str):
        self.process, self.url = process, url
        self.host = url.split("/")[2]

    def get(self, url: str | None = None, **headers: str) -> tuple[int, str, dict[str, str]]:
        """Return status, body and headers of a page."""
        request = urllib.request.Request(url or self.url, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
                return answer.status, answer.read().decode(errors="replace"), dict(answer.headers)
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode(), dict(error.headers)

    def children(self) -> list[int]:
        """Return the processes of sessions."""
        found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.process.pid)], capture_output=True, text=True)
        return [int(word) for word in found.stdout.split()]


@pytest.fixture
def served(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Served]:
    """Serve the bundled recording, or what `parametrize` says, with a separate home folder."""
    words = getattr(request, "param", ["replay", RECORDED, "--fresh", "--goto", "900"])
    environ = {**os.environ, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path), "PYTHONPATH": str(REPOSITORY),
               "XDG_CONFIG_HOME": str(tmp_path)}
    for name in ("NO_COLOR", "RFVIEW_THEME"):
        environ.pop(name, None)
    process = subprocess.Popen([sys.executable, "-m", "rfview", "serve", *words],
                               stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, env=environ)
    assert process.stdout is not None
    found = re.search(r"http://\S+", process.stdout.readline())
    assert found is not None
    yield Served(process, found[0])
    process.kill()
    process.wait()
    process.stdout.close()


def test_the_page_loads_from_its_server_only(served: Served) -> None:
    status, text, headers = served.get()
    assert status == 200 and f'data-session-websocket-url="ws{served.url.removeprefix("http")}ws"' in text
    assert not re.search(r'(?:src|href)="(?:https?:)?//', text)
    assert "default-src 'none'" in headers["Content-Security-Policy"] and headers["Referrer-Policy"] == "no-referrer"
    for name in re.findall(r'(?:src=|href=|url\()"((?:static/|focus)[^"]+)"', text):
        assert served.get(served.url + name)[0] == 200, name
    status, script, headers = served.get(served.url + "focus.js")
    assert ".xterm-helper-textarea" in script and "javascript" in headers["Content-Type"]      # keys work without a click


def test_only_who_knows_the_secret_and_asks_us_by_name_is_answered(served: Served) -> None:
    assert served.host.startswith("127.0.0.1:")
    for path in ("/", "/ws", "/static/js/textual.js", "/" + "A" * 32 + "/", served.url[len(f"http://{served.host}"):-1] + "x/"):
        assert served.get(f"http://{served.host}{path}")[0] == 404, path
    assert served.get(Host="elsewhere.example")[0] == 403
    assert served.get(Host="localhost:8080")[0] == 200         # a forwarded port
    assert served.get(Origin="http://elsewhere.example")[0] == 403
    for header in ({"Host": "[::1"}, {"Host": "[x]"}, {"Host": ""}, {"Host": "127.0.0.1:x"},
                   {"Origin": "http://[::1"}, {"Origin": "null"}):
        assert served.get(**header)[0] in ((200, 400, 403) if header == {"Host": "127.0.0.1:x"} else (400, 403)), header
    for path in ("static/%00", "static/%ff", "static/..%2f..%2fserver.py", "static/" + "a" * 5000, "?fontsize=" + "9" * 5000):
        assert served.get(served.url + path)[0] in ((200,) if path[0] == "?" else (400, 403, 404)), path


async def watched(socket: aiohttp.ClientWebSocketResponse, screen: Screen, holds: str | Callable[[str], bool]) -> None:
    """Read until the screen shows a text or satisfies a condition."""
    test = holds if callable(holds) else lambda text: holds in text
    async with asyncio.timeout(PATIENCE_S):
        while not test(screen.text):
            message = await socket.receive()
            assert message.type in (aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.TEXT), screen.text
            if message.type == aiohttp.WSMsgType.BINARY:
                screen.take(message.data)


async def connected(served: Served, client: aiohttp.ClientSession, origin: str | None) -> aiohttp.ClientWebSocketResponse:
    """Connect as the page does."""
    headers = {} if origin is None else {"Origin": origin}
    return await client.ws_connect(f"{served.url}ws?width={SIZE[0]}&height={SIZE[1]}", headers=headers)


async def typed(socket: aiohttp.ClientWebSocketResponse, text: str) -> None:
    await socket.send_str(json.dumps(["stdin", text]))


def test_keys_mouse_and_the_end_of_a_page(served: Served) -> None:
    async def drive() -> None:
        async with aiohttp.ClientSession() as client:
            for origin in ("http://elsewhere.example", None):
                with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                    await connected(served, client, origin)
                assert refused.value.status == 403
            assert served.children() == []
            socket, screen = await connected(served, client, f"http://{served.host}"), Screen(*SIZE)
            await watched(socket, screen, "cycle 900 ")
            for nonsense in ("", "[", "7", "[]", '["stdin", 5]', '["resize", {"width": "x"}]', '["resize"]', '["stdin", ""]',
                             "[" * 100_000, '["resize", ' * 9_000, '["stdin", "\\ud800"]', '{"stdin": 1}', "9" * 9_000,
                             '["stdin", "\\u001b[1114112;2u"]'):
                await socket.send_str(nonsense)
            await typed(socket, "5s")
            await watched(socket, screen, "cycle 905 ")
            row = next(y for y, line in enumerate(screen.text.splitlines()) if line.lstrip().startswith("8 "))
            await typed(socket, f"\x1b[<0;5;{row + 1}M\x1b[<0;5;{row + 1}m")      # a click on warp 8
            await watched(socket, screen, "WHY w8 ")
            assert len(served.children()) == 1
            other, there = await connected(served, client, f"http://{served.host}"), Screen(*SIZE)
            await watched(other, there, "cycle 900 ")       # another page is another session
            assert len(served.children()) == 2
            await other.close()
            await typed(socket, "q")
            async with asyncio.timeout(PATIENCE_S):
                while (await socket.receive()).type not in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED):
                    pass
                while served.children():
                    await asyncio.sleep(0.1)

    asyncio.run(drive())


def ends(text: str, rows: int, shown: str) -> bool:
    """Say whether the last of so many rows holds a text."""
    return len(text.splitlines()) == rows and shown in text.splitlines()[-1]


@pytest.mark.parametrize("served", [[]], indirect=True)
def test_what_the_start_screen_opens_is_shown_in_the_page_as_large_as_it_is_by_then(served: Served) -> None:
    async def drive() -> None:
        async with aiohttp.ClientSession() as client:
            socket, screen = await connected(served, client, f"http://{served.host}"), Screen(120, 40)
            await watched(socket, screen, "The drain stall")
            await socket.send_str(json.dumps(["resize", {"width": 120, "height": 40}]))
            for opens, shown, leaves in (("", "search all", ""), ("\r", "RF stall", "q"), ("\t\r", "your prediction", "qq")):
                await typed(socket, opens)
                await watched(socket, screen, lambda text: ends(text, 40, shown))
                await typed(socket, leaves)
                await watched(socket, screen, lambda text: ends(text, 40, "search all"))
            await typed(socket, "q")
            async with asyncio.timeout(PATIENCE_S):
                while (await socket.receive()).type not in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED):
                    pass

    asyncio.run(drive())


def test_sessions_end_with_the_server(served: Served) -> None:
    async def drive() -> list[int]:
        async with aiohttp.ClientSession() as client:
            socket = await connected(served, client, f"http://{served.host}")
            await watched(socket, Screen(*SIZE), "cycle 900 ")
            running = served.children()
            served.process.send_signal(signal.SIGKILL)
            served.process.wait()
            async with asyncio.timeout(PATIENCE_S):
                while any(Path(f"/proc/{number}").exists() for number in running):
                    await asyncio.sleep(0.1)
            return running

    assert len(asyncio.run(drive())) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_server_ends_with_its_sessions_while_pages_are_open_or_do_not_read(served: Served, number: int) -> None:
    async def drive() -> tuple[list[int], int]:
        async with aiohttp.ClientSession() as client:
            socket = await connected(served, client, f"http://{served.host}")
            await watched(socket, Screen(*SIZE), "cycle 900 ")
            deaf = await connected(served, client, f"http://{served.host}")
            await typed(deaf, "s" * 10)         # and read nothing of what it shows
            running = served.children()
            served.process.send_signal(number)
            code = await asyncio.to_thread(served.process.wait, PATIENCE_S)
            return running, code

    running, code = asyncio.run(drive())
    assert len(running) == 2 and code in (0, 130, 143)
    assert not any(Path(f"/proc/{session}").exists() for session in running)


@pytest.mark.parametrize(("words", "message"), [
    (["nope.rfs"], "nope.rfs: cannot open the recording (No such file or directory)"),
    (["nope"], "nope: no bundled kernel has this name"),
    (["export"], "serve: export has no screen"),
    (["debug", "gemm", "--desgin", "hrf"], "unknown option --desgin; did you mean --design?"),
    (["learn"], "serve learn: expected a tour"),
    (["learn", "nope"], "learn nope: no such tour"),
    (["debug"], "serve debug: expected what to debug"),
    (["compare", "gemm"], "a table of designs has no screen; expected two runs, such as gemm@hrf gemm@sram"),
    (["a b.rfs", "--port=80"], "--port must come before what is served: rfview serve --port ... 'a b.rfs'"),
    (["--port", "70000"], "--port 70000: expected 0 to 65535"),
    (["--public-url", "machine"], "--public-url machine: expected an address"),
    (["--host", "203.0.113.1"], "--host 203.0.113.1 --port 0: cannot listen there"),
])
def test_what_cannot_be_served_is_said_at_once(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["serve", *words]) == 2
    assert message in capsys.readouterr().err
