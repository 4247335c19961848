"""`rfview mcp`: the debugger's commands as tools of the Model Context Protocol, for agents, over standard input."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

from rfview import __version__
from rfview.commands import options
from rfview.engine.errors import InputError, RfviewError
from rfview.launching import words

if TYPE_CHECKING:
    from rfview.sessions import Session

EPILOG = """an agent's configuration names the command, for example:
  {"mcpServers": {"rfview": {"command": "rfview", "args": ["mcp", "run.rfs"]}}}
Each debugger command (`rfview help commands`) is a tool of the same name; its argument is what follows the command's name at
the prompt, as in tool `goto` with "50%" or `why` with "3". The answer is the command's text, then its data as JSON."""
LEFT_OUT = ("help",)        # the tools' own descriptions say the same


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    options.add_openable(parser)
    options.add_machine(parser)
    words.add_arguments(parser)


class Tools:
    """A session, and the one of its branches that commands act on."""

    def __init__(self, session: Session):
        self.session = session

    def run(self, name: str, text: str) -> list[str]:
        """Run a command; return its text and its data as JSON. Raises RfviewError as the command does."""
        from rfview.sessions.commands.table import execute

        with redirect_stdout(sys.stderr):       # standard output carries the protocol
            answer = execute(self.session, f"{name} {text}".strip())
        self.session = answer.session or self.session
        return [answer.text, json.dumps(answer.data, ensure_ascii=False)]


def server_of(tools: Tools) -> Any:
    """Return a server with a tool per debugger command. Raises InputError if the package mcp is not installed."""
    try:
        from mcp.server import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
    except ModuleNotFoundError:
        raise InputError("mcp: needs the package mcp; pip install 'rfview[mcp]' installs it") from None
    from rfview.sessions.commands.table import VERBS

    info = tools.session.info
    server = MCPServer("rfview", version=__version__, instructions=(
        f"A time-travelling debugger of a GPU's register file. The session runs {info.kernel} on {info.design}, scheduler "
        f"{info.scheduler}. Commands move a cursor through its cycles, backwards too, and answer questions there: `info "
        "stalls`, `why 0`, `lines start end`, `stats start end`."))

    def tool(name: str) -> Any:
        async def call(arguments: str = "") -> list[str]:       # not in threads of the server: a session has one
            try:
                return tools.run(name, arguments)
            except RfviewError as error:
                raise ToolError(str(error)) from None

        return call

    for name, verb in VERBS.items():
        if name not in LEFT_OUT:
            arguments = f" arguments: {verb.signature}" if verb.signature else " It takes no arguments."
            server.add_tool(tool(name), name=name, structured_output=False,
                            description=f"{verb.help[:1].upper()}{verb.help[1:]}.{arguments}")
    return server


@words.takes_kernels
def run(args: argparse.Namespace) -> int:
    """Serve a session until the agent closes standard input."""
    with options.open_target(args) as session:
        server_of(Tools(session)).run("stdio")
    return 0
