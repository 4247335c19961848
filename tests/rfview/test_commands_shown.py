"""Every `rfview ...` that a text shows can be typed: its command, its options, and what it asks the help about."""

from __future__ import annotations

import ast
import contextlib
import importlib
import io
import re
from collections.abc import Iterator
from functools import cache

import pytest

from rfview import cli
from tests.test_house import PACKAGES, REPOSITORY, name_of, nodes_of, sources

QUOTED = re.compile(r"`(?:[A-Z_]+=\S+ )?rfview (\w[^`]*)`")
ON_A_LINE = re.compile(r"^(?:.*: | *)(?:\.venv/bin/)?rfview ((?:" + "|".join(cli.COMMANDS) + r")\b.*?)(?:  .*|\\n.*)?$", re.M)
OPTION = re.compile(r"(?<=\s)--?[a-z][a-z-]*")
WORD = re.compile(r"help ([\w.]+)$")
STANDS_FOR_OTHERS = {"TOPIC", "NAME", "COMMAND"}


def shown() -> Iterator[tuple[str, str]]:
    """Yield (where, command) for every command that a document shows, or a text of the packages."""
    texts = [(name, (REPOSITORY / name).read_text(encoding="utf-8")) for name in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md")]
    texts += [(f"{name_of(path)}:{node.lineno}", node.value) for path in sources(*PACKAGES) for node in nodes_of(path)
              if isinstance(node, ast.Constant) and isinstance(node.value, str) and "rfview " in node.value]
    for where, text in texts:
        for pattern in (QUOTED, ON_A_LINE):
            yield from ((where, " ".join(found[1].split())) for found in pattern.finditer(text))


@cache
def options_of(name: str) -> frozenset[str]:
    """Return the options of a command."""
    module = importlib.import_module(f"rfview.commands.{name}")
    parser = cli.Parser(prog=f"rfview {name}")
    cli.declare(name, module, parser)
    return frozenset(option for action in parser._actions for option in action.option_strings)


def unknown(command: str) -> list[str]:
    """Return what a command line says that rfview does not know."""
    name, *words = command.split()
    if name not in cli.COMMANDS:
        return [name]
    if name == "serve" and words and words[0] in cli.COMMANDS:      # `rfview serve run gemm`: the served command
        return unknown(" ".join(words))
    own = re.split(r"\./app|app\.py| -- | && | \| |; ", " ".join(words))[0]      # what follows is a program's, or another command
    wrong = [option for option in OPTION.findall(f" {own}") if option not in options_of(name)]
    topic = WORD.fullmatch(command)
    if topic and topic[1] not in STANDS_FOR_OTHERS:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            wrong += [topic[1]] if cli.main(["help", topic[1]]) else []
    return wrong


def test_commands_that_texts_show_are_known() -> None:
    found = {command: where for where, command in shown()}
    assert len(found) > 150
    wrong = {f"{where}: rfview {command}": said for command, where in found.items()
             if not command.startswith("COMMAND") and (said := unknown(command))}
    assert not wrong


@pytest.mark.parametrize(("command", "said"), [
    ("run gemm --desing stt", ["--desing"]), ("rnu gemm", ["rnu"]), ("help nothing_of_the_kind", ["nothing_of_the_kind"]),
    ("launches --design stt ./app --size 100", []), ("record --fill gemm.rfs", []),
])
def test_commands_that_cannot_be_typed_are_found(command: str, said: list[str]) -> None:
    assert unknown(command) == said
