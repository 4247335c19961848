"""`rfview mcp`, spoken to over standard input and output as an agent does, with the protocol's own client."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from rfview import cli
from rfview.engine.errors import InputError
from rfview.sessions.commands.table import VERBS
from tests.conftest import REPOSITORY

RECORDING = REPOSITORY / "sessions" / "recorded"


def recording() -> str:
    return str(sorted(RECORDING.glob("*.rfs"))[0])


def talk(test: Callable[[Any], Awaitable[None]]) -> None:
    """Run a test with a client of a server over a bundled recording."""
    from mcp import ClientSession
    from mcp.client.stdio import StdioServerParameters, stdio_client

    async def go() -> None:
        paths = os.pathsep.join(filter(None, [str(REPOSITORY), os.environ.get("PYTHONPATH", "")]))
        server = StdioServerParameters(command=sys.executable, args=["-m", "rfview", "mcp", recording()],
                                       env={**os.environ, "PYTHONPATH": paths})
        async with stdio_client(server) as (read, write), ClientSession(read, write) as client:
            await client.initialize()
            await test(client)

    asyncio.run(go())


def test_each_command_is_a_tool_that_answers_in_text_and_json_and_errors_are_said() -> None:
    pytest.importorskip("mcp", reason="an extra: rfview[mcp]")

    async def test(client: Any) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {*VERBS} - {"help"}
        assert "EXPR" in tools["print"].description
        there = await client.call_tool("goto", {"arguments": "50%"})
        text, data = (part.text for part in there.content)
        assert f"cycle {json.loads(data)['cycle']:,}" in text
        where = json.loads((await client.call_tool("when", {})).content[1].text)
        assert where["cycle"] == json.loads(data)["cycle"]          # the session is kept between calls
        wrong = await client.call_tool("print", {"arguments": "w99.pc"})
        assert wrong.is_error and "w99" in wrong.content[0].text

    talk(test)


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "mcp.server", None)
    assert cli.main(["mcp", recording()]) == 2
    assert "pip install 'rfview[mcp]'" in capsys.readouterr().err


def test_tools_act_on_the_branch_that_a_command_goes_to() -> None:
    from rfview.commands.mcp import Tools
    from rfview.sessions import open_session

    with open_session("vectoradd") as session:
        tools = Tools(session)
        tools.run("goto", "20")
        text, data = tools.run("fork", "b1 set sm.num_collectors=2")
        assert "on branch b1" in text and json.loads(data)["branch"] == "b1"
        assert json.loads(tools.run("branch", "")[1])["here"] == "b1"
        with pytest.raises(InputError, match="no branch"):
            tools.run("branch", "none")
