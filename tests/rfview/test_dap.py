"""`rfview dap` as an editor drives it: over its two streams, forwards and backwards, on the shipped recording."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rfview.engine.errors import InputError
from rfview.dap.adapter import Adapter
from rfview.dap.arguments import Arguments
from rfview.dap.progress import Compiling
from rfview.dap.wire import Wire
from rfview.sessions import Session, Stop, open_session

ROOT = Path(__file__).resolve().parents[2]
RECORDING = ROOT / "sessions" / "recorded" / "first.rfs"


class Editor:
    """The other end of the conversation."""

    def __init__(self) -> None:
        self._child = subprocess.Popen([sys.executable, "-m", "rfview", "dap"], cwd=ROOT, stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
        assert self._child.stdin is not None and self._child.stdout is not None
        self._wire = Wire(self._child.stdout, self._child.stdin)
        self._messages = self._wire.messages()
        self._number = 0
        self.events: list[dict[str, Any]] = []

    def send(self, command: str, **arguments: Any) -> int:
        """Send a request and return its number."""
        self._number += 1
        self._wire._send({"seq": self._number, "type": "request", "command": command, "arguments": arguments})
        return self._number

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        """Send a request and return its response."""
        self.send(command, **arguments)
        for message in self._messages:
            if message["type"] == "response" and message["request_seq"] == self._number:
                assert message["command"] == command
                return message
            self.events.append(message)
        raise AssertionError(self.errors())

    def get(self, command: str, **arguments: Any) -> dict[str, Any]:
        """Send a request that succeeds and return the response's body."""
        response = self.ask(command, **arguments)
        assert response["success"], response
        return response["body"]

    def wait(self, event: str) -> dict[str, Any]:
        """Return the body of the next such event."""
        while True:
            for number, message in enumerate(self.events):
                if message.get("event") == event:
                    return self.events.pop(number)["body"]
            self.events.append(next(self._messages))

    def move(self, command: str, **arguments: Any) -> dict[str, Any]:
        """Make a move and return where it stopped."""
        self.get(command, **arguments)
        return self.wait("stopped")

    def end(self) -> int:
        """Disconnect and return the exit code."""
        self.get("disconnect")
        return self._child.wait(10)

    def errors(self) -> str:
        """Return what the adapter wrote on stderr."""
        assert self._child.stderr is not None
        return self._child.stderr.read().decode()

    def kill(self) -> None:
        """End the child whatever it does."""
        self._child.kill()
        self._child.communicate()


@pytest.fixture
def editor() -> Iterator[Editor]:
    """Return an editor that has launched the shipped recording."""
    found = Editor()
    try:
        assert found.get("initialize", linesStartAt1=True)["supportsStepBack"]
        found.get("launch", program=str(RECORDING))
        found.wait("initialized")
        found.get("configurationDone")
        assert found.wait("stopped")["reason"] == "entry"
        yield found
    finally:
        found.kill()


def cycle(editor: Editor) -> int:
    """Return the cycle at which the editor's session stands."""
    return int(editor.get("evaluate", expression="cycle", context="watch")["result"])


def test_moves_are_those_of_a_session(editor: Editor) -> None:
    with open_session(RECORDING) as truth:
        editor.move("next", threadId=1)
        assert cycle(editor) == truth.step().cycle
        editor.move("next", threadId=5)
        assert cycle(editor) == truth.next_event("issue", 3).cycle
        editor.move("stepIn", threadId=5)
        assert cycle(editor) == truth.step().cycle
        editor.move("stepOut", threadId=5)
        assert cycle(editor) == truth.next_change("w3.state").cycle
        editor.move("stepBack", threadId=5)
        assert cycle(editor) == truth.previous_event("issue", 3).cycle
        editor.move("stepBack", threadId=5, granularity="instruction")
        assert cycle(editor) == truth.back().cycle
        stop = editor.move("evaluate", expression="goto 50%", context="repl")
        assert stop["reason"] == "goto" and cycle(editor) == truth.goto("50%").cycle
    assert editor.end() == 0


def test_breakpoints_of_all_kinds_stop_in_both_directions(editor: Editor) -> None:
    with open_session(RECORDING) as truth:
        name = truth.info["ptx"][0]["path"]
        line = truth.info["program"][5]["line"]
        wanted = [{"line": line, "hitCondition": "2"}, {"line": 1}, {"line": line, "condition": "w."}]
        points = editor.get("setBreakpoints", source={"name": name, "sourceReference": 1}, breakpoints=wanted)
        good, moved, wrong = points["breakpoints"]
        assert good["verified"] and good["line"] == line and not wrong["verified"] and wrong["message"]
        first = min(entry["line"] for entry in truth.info["program"])
        assert moved["verified"] and moved["line"] == first, "the next line with an instruction"
        editor.get("setBreakpoints", source={"name": name, "sourceReference": 1}, breakpoints=wanted[:1])
        truth.add_breakpoint("line", line, ignore=1)
        stop = editor.move("continue", threadId=1)
        assert stop["reason"] == "breakpoint" and len(stop["hitBreakpointIds"]) == 1
        assert cycle(editor) == truth.continue_().cycle
        assert not editor.get("setBreakpoints", source={"path": "/x/other.ptx"},
                              breakpoints=[{"line": 3}])["breakpoints"][0]["verified"]  # fmt: skip
        editor.get("setBreakpoints", source={"name": name}, breakpoints=[])
        truth.remove_breakpoint(1)

        editor.get("evaluate", expression="goto 20%", context="repl")
        truth.goto("20%")
        info = editor.get("dataBreakpointInfo", name="w2.state")
        assert editor.get("dataBreakpointInfo", name="nonsense")["dataId"] is None
        editor.get("setDataBreakpoints", breakpoints=[{"dataId": info["dataId"]}])
        truth.watch("w2.state")
        editor.move("continue", threadId=1)
        assert cycle(editor) == truth.continue_().cycle
        editor.move("reverseContinue", threadId=1)
        assert cycle(editor) == truth.reverse_continue().cycle
        editor.get("setDataBreakpoints", breakpoints=[])

        editor.get("evaluate", expression="goto end", context="repl")
        waits = editor.get("setExceptionBreakpoints", filters=["stt_write", "unbalanced"])["breakpoints"]
        assert [point["verified"] for point in waits] == [True, True]
    assert editor.end() == 0


def test_a_pause_ends_a_move_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def long_move(session: Session) -> Stop:
        assert session.progress is not None
        began = time.monotonic()
        while not session.progress(session.cycle):
            assert time.monotonic() - began < 30
            time.sleep(0.001)
        return Stop(session.cycle, "interrupted", "interrupted")

    monkeypatch.setattr(Session, "continue_", long_move)
    requests = [("initialize", {}), ("launch", {"program": str(RECORDING), "stopOnEntry": False}), ("configurationDone", {}),
                ("pause", {}), ("pause", {}), ("stepIn", {"threadId": 1}), ("disconnect", {})]  # fmt: skip
    sent, received = io.BytesIO(), io.BytesIO()
    for command, arguments in requests:
        Wire(sent, sent)._send({"type": "request", "command": command, "arguments": arguments})
    sent.seek(0)
    Adapter(Wire(sent, received)).serve()
    received.seek(0)
    messages = list(Wire(received, received).messages())
    stops = [message["body"]["reason"] for message in messages if message.get("event") == "stopped"]
    assert stops == ["pause", "pause", "step"], "the move's end, a pause at rest, and then nothing is left of it"
    assert sum(message["type"] == "response" and message["success"] for message in messages) == len(requests)


def test_trees_hold_what_the_session_holds(editor: Editor) -> None:
    with open_session(RECORDING) as truth:
        truth.goto("50%")
        editor.move("evaluate", expression="50%", context="repl")
        snapshot = truth.snapshot()
        threads = editor.get("threads")["threads"]
        resident = [warp for warp in range(len(snapshot.sm["warp"])) if int(snapshot.sm["resident"]) >> warp & 1]
        assert [thread["id"] for thread in threads] == [1, *(warp + 2 for warp in resident)]
        warp = resident[0]
        frame, = editor.get("stackTrace", threadId=warp + 2)["stackFrames"]
        pc = int(snapshot.sm["warp"][warp]["pc"])
        assert frame["line"] == truth.info["program"][pc]["line"]
        assert "ld.param" in editor.get("source", sourceReference=1)["content"]
        found = editor.get("scopes", frameId=frame["id"])["scopes"]
        scopes = {scope["name"]: scope["variablesReference"] for scope in found}
        registers = editor.get("variables", variablesReference=scopes["Registers"])["variables"]
        lanes = editor.get("variables", variablesReference=registers[0]["variablesReference"])["variables"]
        values = snapshot.register(warp, 0)
        assert [int(lane["value"].split()[0], 16) for lane in lanes] == values.tolist()
        info = editor.get("dataBreakpointInfo", name="[3]", variablesReference=registers[0]["variablesReference"])
        assert info["dataId"] == f"w{warp}.R0[3]"
        for name in ("Warp", "Register file", "Machine", "Why"):
            assert editor.get("variables", variablesReference=scopes[name])["variables"], name
        old = scopes["Registers"]
        editor.move("stepIn", threadId=1)
        assert not editor.ask("variables", variablesReference=old)["success"]
    assert editor.end() == 0


@pytest.mark.parametrize(
    ("command", "arguments", "says"),
    [
        ("evaluate", {"expression": "w3.pcc", "context": "watch"}, "pcc"),
        ("evaluate", {"expression": "step x", "context": "repl"}, "whole number"),
        ("stackTrace", {"threadId": 900}, "no thread 900"),
        ("stackTrace", {}, "threadId is missing"),
        ("restartFrame", {}, "does not know"),
        ("launch", {}, "program"),
    ],
)
def test_what_cannot_be_done_is_said(editor: Editor, command: str, arguments: dict[str, Any], says: str) -> None:
    response = editor.ask(command, **arguments)
    assert not response["success"] and says in response["message"]
    assert cycle(editor) == 0, "and the conversation goes on"


def test_a_launch_that_fails_ends_the_run() -> None:
    editor = Editor()
    try:
        editor.get("initialize")
        assert not editor.ask("threads")["success"]
        response = editor.ask("launch", program="vectorad")
        assert not response["success"] and "did you mean" in response["message"]
        editor.wait("terminated")
        assert editor.end() == 0
    finally:
        editor.kill()


@pytest.mark.parametrize("data", [b"hello\n", b"Content-Length: 3\r\n\r\n{x}", b"Content-Length: 2\r\n\r\n[]",
                                  b"Content-Length: 999999999\r\n\r\n"])
def test_what_is_no_message_is_one_error(data: bytes) -> None:
    with pytest.raises(InputError, match="dap: "):
        list(Wire(io.BytesIO(data), io.BytesIO()).messages())


def test_a_stream_that_ends_ends_the_conversation() -> None:
    whole = json.dumps({"type": "request"}).encode()
    assert list(Wire(io.BytesIO(b"Content-Length: %d\r\n\r\n" % len(whole) + whole), io.BytesIO()).messages()) == [
        {"type": "request"}]  # fmt: skip
    assert list(Wire(io.BytesIO(b"Content-Length: 50\r\n\r\n" + whole), io.BytesIO()).messages()) == []


@pytest.mark.parametrize(("has_bar", "expected"), [
    (True, ["progressStart", "progressUpdate", "progressEnd", "progressStart", "progressEnd"]),
    (False, ["output", "output", "output"]),
])
def test_an_editor_is_told_of_a_compile(has_bar: bool, expected: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rfview.dap.progress.BAR_SECONDS", 0)
    monkeypatch.setattr("rfview.dap.progress.LINE_SECONDS", 0)
    stream = io.BytesIO()
    told = Compiling(Wire(stream, stream))
    told.has_bar = has_bar
    for share, text in ((0.0, "the machine"), (0.5, "the machine"), (1.0, "the machine"), (0.2, "the recorder"), (1.0, "")):
        told(share, text)
    stream.seek(0)
    assert [message["event"] for message in Wire(stream, stream).messages()] == expected


def test_a_session_of_an_editor_reports_compiles() -> None:
    adapter = Adapter(Wire(io.BytesIO(), io.BytesIO()))
    adapter.on_initialize(Arguments("initialize", {"supportsProgressReporting": True}))
    adapter.on_launch(Arguments("launch", {"program": str(RECORDING)}))
    session = adapter._now
    assert isinstance(session.compiling, Compiling) and session.compiling.has_bar
    session.close()
