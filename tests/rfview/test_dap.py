"""`rfview dap` driven as by an editor, over its two streams, forwards and backwards, on the bundled recording."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from rfview import cli

from rfview.engine.errors import InputError
from rfview.dap.adapter import Adapter
from rfview.dap.arguments import Arguments
from rfview.dap.conversation import Conversation
from rfview.dap.frames import _on_disk as on_disk
from rfview.dap.points import Points
from rfview.dap.progress import Compiling
from rfview.dap.requests.table import REQUESTS
from rfview.dap.wire import Wire
from rfview.sessions import Session, Stop, open_session
from rfview.sessions.reports import held
from rfview.sessions.why import why
from tests.capture.test_programs import has_nvdisasm
from tests.conftest import PATIENCE_S
from tests.two_versions import ARGUMENTS, write

ROOT = Path(__file__).resolve().parents[2]
RECORDING = ROOT / "sessions" / "recorded" / "first.rfs"
WITHOUT_LINES = ROOT / "rfview" / "learn" / "recorded" / "refresh.rfs"      # lines of the CUDA source


class Editor:
    """The editor's end of the conversation."""

    def __init__(self) -> None:
        self._child = subprocess.Popen([sys.executable, "-m", "rfview", "dap"], cwd=ROOT, stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
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
        """Kill the child."""
        self._child.kill()
        self._child.communicate()


@pytest.fixture
def editor(request: pytest.FixtureRequest) -> Iterator[Editor]:
    """Return an editor that has launched the bundled recording, or the one in the test's parameter."""
    found = Editor()
    try:
        assert found.get("initialize", linesStartAt1=True)["supportsStepBack"]
        found.get("launch", program=str(getattr(request, "param", RECORDING)))
        found.wait("initialized")
        found.get("configurationDone")
        assert found.wait("stopped")["reason"] == "entry"
        yield found
    finally:
        found.kill()


def cycle(editor: Editor) -> int:
    """Return the current cycle of the editor's session."""
    return int(editor.get("evaluate", expression="cycle", context="watch")["result"])


@pytest.mark.parametrize("editor", [WITHOUT_LINES], indirect=True)
def test_moves_are_those_of_a_session(editor: Editor) -> None:
    with open_session(WITHOUT_LINES) as truth:
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
        name = truth.info.ptx[0].path
        line = truth.info.program[5].line
        wanted = [{"line": line, "hitCondition": "2"}, {"line": 1}, {"line": line, "condition": "w."}]
        points = editor.get("setBreakpoints", source={"name": name, "sourceReference": 1}, breakpoints=wanted)
        good, moved, wrong = points["breakpoints"]
        assert good["verified"] and good["line"] == line and not wrong["verified"] and wrong["message"]
        first = min(entry.line for entry in truth.info.program)
        assert moved["verified"] and moved["line"] == first, "the next line with an instruction"
        editor.get("setBreakpoints", source={"name": name, "sourceReference": 1}, breakpoints=wanted[:1])
        truth.add_breakpoint("line", line, ignore=1)
        stop = editor.move("continue", threadId=1)
        assert stop["reason"] == "breakpoint" and len(stop["hitBreakpointIds"]) == 1
        assert cycle(editor) == truth.continue_().cycle
        assert not editor.get("setBreakpoints", source={"path": "/x/other.ptx"},
                              breakpoints=[{"line": 3}])["breakpoints"][0]["verified"]
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
        info = editor.get("dataBreakpointInfo", name="w2.R1")
        assert "read" in info["accessTypes"]
        [refused] = editor.get("setDataBreakpoints", breakpoints=[{"dataId": "w2.R1", "accessType": "peek"}])["breakpoints"]
        assert not refused["verified"] and "readWrite" in refused["message"]
        editor.get("evaluate", expression="restart", context="repl")
        editor.get("setDataBreakpoints", breakpoints=[{"dataId": info["dataId"], "accessType": "read"}])
        truth.goto("start")
        truth.breakpoints.clear()
        truth.add_breakpoint("read", item="w2.R1")
        stop = editor.move("continue", threadId=1)
        assert cycle(editor) == truth.continue_().cycle and stop["reason"] == "data breakpoint"
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
            assert time.monotonic() - began < PATIENCE_S
            time.sleep(0.001)
        return Stop(session.cycle, "interrupted", "interrupted")

    monkeypatch.setattr(Session, "continue_", long_move)
    requests = [("initialize", {}), ("launch", {"program": str(RECORDING), "stopOnEntry": False}), ("configurationDone", {}),
                ("pause", {}), ("pause", {}), ("stepIn", {"threadId": 1}), ("disconnect", {})]
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
        source, frame = editor.get("stackTrace", threadId=warp + 2)["stackFrames"]
        assert source["source"]["name"] == "vectoradd.cu"
        pc = int(snapshot.sm["warp"][warp]["pc"])
        assert frame["line"] == truth.info.program[pc].line
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
        ("restartFrame", {}, "does not support"),
        ("launch", {}, "program"),
        ("evaluate", {"expression": "R2", "frameId": 900}, "no thread 900"),
        ("exceptionInfo", {"threadId": 2}, "was not an exception"),
        ("disassemble", {"memoryReference": "xyz", "instructionCount": 3}, "expected an address such as 0x10000"),
        ("disassemble", {"memoryReference": "0x10000", "instructionCount": -1}, "instructionCount"),
        ("source", {"sourceReference": 7}, "no source has the reference 7"),
        ("setVariable", {"variablesReference": 9, "name": "R1", "value": "1"}, "cannot be set"),
    ],
)
def test_what_cannot_be_done_is_said(editor: Editor, command: str, arguments: dict[str, Any], says: str) -> None:
    response = editor.ask(command, **arguments)
    assert not response["success"] and says in response["message"]
    assert cycle(editor) == 0, "and the conversation goes on"


def registers(editor: Editor, thread: int) -> dict[str, dict[str, Any]]:
    """Return the variables of a warp's Registers scope, by name, and the scope's number as "reference"."""
    scope = editor.get("scopes", frameId=thread)["scopes"][0]
    lines = editor.get("variables", variablesReference=scope["variablesReference"])["variables"]
    return {"reference": scope["variablesReference"], **{line["name"]: line for line in lines}}


def test_names_mean_those_of_the_frame(editor: Editor) -> None:
    """%r1, R2 and %tid.x are those of the selected frame's warp."""
    with open_session(RECORDING) as truth:
        truth.goto("35%")
        editor.move("evaluate", expression="goto 35%", context="repl")
        for warp in (4, 5):
            def hover(text: str, warp: int = warp) -> str:
                return str(editor.get("evaluate", expression=text, frameId=warp + 2, context="hover")["result"])

            here, lanes = truth.snapshot().sm["warp"][warp], truth.value(f"w{warp}.R2")
            assert int(hover("R2[3]").split()[0], 16) == lanes[3] == int(hover("r2[3]").split()[0], 16)
            assert hover("pc") == str(here["pc"]) and hover("cycle") == str(truth.cycle)
            first = int(here["warp_in_cta"]) * 32
            assert [int(word) for word in hover("%tid.x").split()] == list(range(first, first + 32))
            assert hover("%ctaid.x").startswith(f"{int(truth.snapshot().sm['cta'][int(here['cta'])]['ctaid'][0])} in all")
            opened = editor.get("evaluate", expression="R2", frameId=warp + 2, context="watch")["variablesReference"]
            shown = editor.get("variables", variablesReference=opened)["variables"]
            assert [int(line["value"].split()[0], 16) for line in shown] == lanes.tolist()
        absent = editor.ask("evaluate", expression="%rd6", frameId=4 + 2, context="hover")
        assert absent["message"] == "%rd6 is in no register here; it is in R2 at pc 9 to 13"
        # a PTX register where it is live, single and as a pair
        truth.run_to(13, 4)
        editor.move("evaluate", expression=f"goto {truth.cycle}", context="repl")
        alive = {"%f1": "w4.R4", "%rd5": "w4.R0"}
        for name, place in alive.items():
            result = editor.get("evaluate", expression=name, frameId=6, context="hover")
            shown = editor.get("variables", variablesReference=result["variablesReference"])["variables"]
            assert [int(line["value"].split()[0], 16) for line in shown] == truth.value(place).tolist()
    assert editor.end() == 0


def test_hovering_a_line_says_what_it_waited_and_caused(editor: Editor) -> None:
    with open_session(RECORDING) as truth:
        editor.move("evaluate", expression="goto 35%", context="repl")
        truth.goto("35%")
        costs, resident = held.costs_of(truth, 0, truth.cycle)
        place, cost = max(costs, key=lambda pair: pair[1].causes)
        source = {"path": cost.line.path}
        told = held.holder(place, cost, resident).text
        for text in ("blockIdx", "pc"):
            said = editor.get("evaluate", expression=text, frameId=6, context="hover", source=source, line=cost.line.line)
            assert said["result"].endswith(f"{told} of the warp-cycles so far")
        assert "\n" in said["result"], "a value comes first"
        other = editor.get("evaluate", expression="pc", frameId=6, context="hover", source={"path": "other.cu"}, line=1)
        assert other["result"].isdecimal()
    assert editor.end() == 0


def test_a_stop_names_the_warp_that_was_hit_and_why_it_waits(editor: Editor) -> None:
    with open_session(RECORDING) as truth:
        name, line = truth.info.ptx[0].path, truth.info.program[13].line
        editor.get("setBreakpoints", source={"name": name, "sourceReference": 1}, breakpoints=[{"line": line}])
        truth.add_breakpoint("line", line)
        for _ in range(3):
            stop, there = editor.move("continue", threadId=1), truth.continue_()
            assert there.warp is not None and stop["threadId"] == there.warp + 2 and stop["reason"] == "breakpoint"
            assert int(truth.snapshot().sm["warp"][there.warp]["pc"]) == 13
            frame = editor.get("stackTrace", threadId=stop["threadId"])["stackFrames"][-1]
            assert frame["line"] == line and frame["source"]["name"] == name
        editor.get("setBreakpoints", source={"name": name}, breakpoints=[])
        editor.get("setExceptionBreakpoints", filters=["wb_drain"])
        stop = editor.move("continue", threadId=1)
        warp = stop["threadId"] - 2
        truth.goto(cycle(editor))
        states = truth.snapshot().sm["warp"]["state"]
        assert stop["reason"] == "exception" and truth.value(f"w{warp}.state == wb_drain")
        truth.back()
        assert not any(truth.snapshot().sm["warp"]["state"] == states[warp]), "nobody waited so in the cycle before"
        truth.step()
        told = editor.get("exceptionInfo", threadId=stop["threadId"])
        assert told["exceptionId"] == "wb_drain" and told["details"]["message"] == why(truth, warp).text()
        editor.get("setExceptionBreakpoints", filters=[])
        instruction = editor.get("stackTrace", threadId=stop["threadId"])["stackFrames"][0]["instructionPointerReference"]
        shown = editor.get("disassemble", memoryReference=instruction, instructionOffset=-30, instructionCount=60)
        program = truth.info.program
        assert len(shown["instructions"]) == 60
        assert [one["instruction"] for one in shown["instructions"] if one.get("presentationHint") != "invalid"] == [
            entry.text for entry in program]
        here = shown["instructions"][30]
        assert here["address"] == instruction and here["instruction"] == program[int(truth.value(f"w{warp}.pc"))].text
        addresses = [int(one["address"], 16) for one in shown["instructions"]]
        assert addresses == list(range(addresses[0], addresses[0] + 60))
        editor.get("setInstructionBreakpoints", breakpoints=[{"instructionReference": instruction, "offset": -1}])
        stop = editor.move("reverseContinue", threadId=1)
        assert stop["reason"] == "instruction breakpoint" and stop["hitBreakpointIds"]
    assert editor.end() == 0


def test_a_stop_names_all_breakpoints_that_held_and_a_watch_the_warp_that_stored(editor: Editor) -> None:
    with open_session(RECORDING) as truth:
        source = {"name": truth.info.ptx[0].path, "sourceReference": 1}
        line = truth.info.program[13].line
        wanted = [{"line": line}, {"line": line, "condition": "cycle < 0"}, {"line": line, "hitCondition": "2"}]
        made = editor.get("setBreakpoints", source=source, breakpoints=wanted)["breakpoints"]
        ids = [point["id"] for point in made]
        assert editor.move("continue", threadId=1)["hitBreakpointIds"] == ids[:1]
        second = editor.move("continue", threadId=1)
        assert second["hitBreakpointIds"] == [ids[0], ids[2]] and second["description"].count("breakpoint ") == 2
        editor.get("setBreakpoints", source=source, breakpoints=[])
        name = truth.info.buffers[-1].name
        for constant in (name, "5", f"{name} + 4", "barrier"):
            told = editor.get("dataBreakpointInfo", name=constant)
            assert told["dataId"] is None and "constant" in told["description"]
        refused = editor.get("setDataBreakpoints", breakpoints=[{"dataId": name}])["breakpoints"][0]
        assert not refused["verified"] and f"{name}[0]" in refused["message"]
        watched = editor.get("dataBreakpointInfo", name=f"{name}[0]")["dataId"]
        point = editor.get("setDataBreakpoints", breakpoints=[{"dataId": watched}])["breakpoints"][0]
        stop = editor.move("continue", threadId=1)
        assert stop["reason"] == "data breakpoint" and stop["hitBreakpointIds"] == [point["id"]]
        # element 0 belongs to thread 0 of the grid: warp 0
        assert stop["threadId"] == 2 and "w0 lane 0" in stop["description"] and "st.global" in stop["description"]
    assert editor.end() == 0


def test_every_request_with_pages_returns_the_page_that_was_asked_for(editor: Editor) -> None:
    def frames(thread: int, **page: int) -> list[str]:
        return [frame["name"] for frame in editor.get("stackTrace", threadId=thread, **page)["stackFrames"]]

    def check(thread: int) -> None:
        whole = frames(thread)
        assert frames(thread, startFrame=0, levels=1) == whole[:1] and frames(thread, levels=0) == whole
        assert frames(thread, startFrame=1) == whole[1:] and frames(thread, startFrame=5, levels=10) == []
        assert not editor.ask("stackTrace", threadId=thread, startFrame=-1)["success"]

    check(1)        # no warp has started: where they will
    for _ in range(30):
        editor.move("next", threadId=1, granularity="instruction")
    check(1)
    check(2)
    scope = editor.get("scopes", frameId=2)["scopes"][0]["variablesReference"]
    registers = editor.get("variables", variablesReference=scope)["variables"]
    lanes = registers[0]["variablesReference"]
    names = [line["name"] for line in editor.get("variables", variablesReference=lanes, start=3, count=2)["variables"]]
    assert names == ["[3]", "[4]"]
    assert editor.get("variables", variablesReference=lanes, filter="named")["variables"] == []
    assert len(editor.get("variables", variablesReference=lanes, filter="indexed")["variables"]) == 32
    assert editor.end() == 0


def test_a_changed_register_is_a_branch_that_keeps_the_breakpoints() -> None:
    editor = Editor()
    try:
        editor.get("initialize", linesStartAt1=True)
        editor.get("launch", program="vectoradd", design="sram")
        editor.wait("initialized")
        editor.get("configurationDone")
        editor.wait("stopped")
        editor.get("evaluate", expression="goto 400", context="repl")
        editor.wait("stopped")
        points = editor.get("setDataBreakpoints", breakpoints=[{"dataId": "w0.pc"}])["breakpoints"]
        found = registers(editor, 2)
        answer = editor.get("setVariable", variablesReference=found["reference"], name="R0", value="0x2a")
        assert answer["value"].startswith("0x0000002a")
        assert editor.wait("invalidated")["areas"] == ["variables", "stacks"]
        after = editor.get("variables", variablesReference=found["reference"])["variables"]
        assert {line["name"]: line["value"] for line in after}["R0"].startswith("0x0000002a  42")
        lanes = editor.get("variables", variablesReference=found["R0"]["variablesReference"])["variables"]
        assert all(line["value"].startswith("0x0000002a") for line in lanes)
        one = editor.get("setVariable", variablesReference=found["R0"]["variablesReference"], name="[5]", value="7")
        assert one["value"].startswith("0x00000007")
        stop = editor.move("continue", threadId=2)
        assert stop["reason"] == "data breakpoint" or stop["hitBreakpointIds"] == [points[0]["id"]]
        editor.move("evaluate", expression="branch main", context="repl")
        assert not registers(editor, 2)["R0"]["value"].startswith("0x0000002a")
        assert editor.end() == 0
    finally:
        editor.kill()


def test_a_source_that_has_become_a_pipe_or_never_ends_is_not_read(tmp_path: Path) -> None:
    """A recording may name any path as a source."""
    (tmp_path / "k.cu").write_bytes(b"one\r\ntwo\r\n")
    os.mkfifo(tmp_path / "pipe.cu")
    assert on_disk(tmp_path / "k.cu", "one\ntwo\n") == (tmp_path / "k.cu").resolve()
    assert on_disk(tmp_path / "pipe.cu", "text") is None and on_disk(Path("/dev/zero"), "text") is None


def test_an_empty_warp_slot_has_no_frames_registers_or_names(editor: Editor) -> None:
    slot = 2 + 47       # before the first cycle no slot holds a warp
    assert editor.get("stackTrace", threadId=slot)["stackFrames"] == []
    scopes = {scope["name"]: scope["variablesReference"] for scope in editor.get("scopes", frameId=slot)["scopes"]}
    assert editor.get("variables", variablesReference=scopes["Registers"])["variables"] == []
    for name in ("%ctaid.x", "%tid.y", "%ntid.z", "%laneid", "%r1", "R2", "P0", "R2[3]"):
        answer = editor.ask("evaluate", expression=name, frameId=slot)
        assert answer["message"] == "w47: this warp slot holds no warp at cycle 0", answer
    assert editor.get("evaluate", expression="pc", frameId=slot)["result"] == "0"
    assert "no thread 50" in editor.ask("stackTrace", threadId=2 + 48)["message"], "the machine has 48 warp slots"


def test_source_lines_are_frames_steps_and_breakpoints() -> None:
    with open_session("vectoradd", design="sram") as truth:
        path, lines = truth.lines.paths[0], truth.lines
        editor = Editor()
        try:
            editor.get("initialize", linesStartAt1=False)
            editor.get("launch", program="vectoradd", design="sram", stopOnEntry=False)
            editor.wait("initialized")
            line = lines.lines[-1]
            point, = editor.get("setBreakpoints", source={"path": f"/elsewhere/{Path(path).name}"},
                                breakpoints=[{"line": line.line - 1}])["breakpoints"]
            assert point["verified"] and point["line"] == line.line - 1
            editor.get("configurationDone")
            stop = editor.wait("stopped")
            truth.add_breakpoint("source", item=f"{path}:{line.line}")
            there = truth.continue_()
            assert there.warp is not None and stop["threadId"] == there.warp + 2 and cycle(editor) == there.cycle
            frames = editor.get("stackTrace", threadId=stop["threadId"])["stackFrames"]
            assert len(frames) == 2 and frames[0]["line"] == line.line - 1 and frames[0]["source"]["name"] == Path(path).name
            assert frames[1]["name"] == truth.info.program[int(truth.value(f"w{there.warp}.pc"))].text
            assert len(editor.get("stackTrace", threadId=stop["threadId"], startFrame=1, levels=1)["stackFrames"]) == 1
            source = frames[0]["source"]
            text = (Path(source["path"]).read_text() if "path" in source
                    else editor.get("source", sourceReference=source["sourceReference"])["content"])
            assert text.split("\n")[line.line - 1] == lines.source(line)
            for command, go in (("stepBack", lambda: truth.next_line(there.warp, False)),
                                ("next", lambda: truth.next_line(there.warp)),
                                ("stepIn", lambda: truth.next_event("issue", there.warp))):
                stop = editor.move(command, threadId=there.warp + 2)
                assert stop["reason"] == "step" and cycle(editor) == go().cycle
            editor.get("setBreakpoints", source={"path": path}, breakpoints=[])
            editor.get("restart")
            assert editor.wait("stopped")["reason"] in ("step", "exception", "entry")
            assert editor.end() == 0
        finally:
            editor.kill()


def test_the_console_completes(editor: Editor) -> None:
    def completed(text: str) -> list[str]:
        return [one["text"] for one in editor.get("completions", text=text, column=len(text) + 1)["targets"]]

    assert "reverse-continue" in completed("reverse-c") and "w3.state_since_cycle" in completed("w3.state_s")
    assert "print w3.num_issued" in completed("print w3.num_i") and completed("zzz") == []
    assert editor.end() == 0


def test_the_extension_is_one_that_vs_code_takes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "rfview.vsix"
    assert cli.main(["dap", "--vsix", str(file)]) == 0
    with zipfile.ZipFile(file) as packed:
        names = set(packed.namelist())
        about = json.loads(packed.read("extension/package.json"))
        manifest = ElementTree.fromstring(packed.read("extension.vsixmanifest"))
        ElementTree.fromstring(packed.read("[Content_Types].xml"))
    space = "{http://schemas.microsoft.com/developer/vsx-schema/2011}"
    identity, = manifest.iter(f"{space}Identity")
    assert identity.get("Version") == about["version"] == "0.1.0" and about["main"].removeprefix("./") == "extension.js"
    assert all(asset.get("Path") in names for asset in manifest.iter(f"{space}Asset"))
    command = about["contributes"]["configuration"]["properties"]["rfview.command"]["default"]
    ran = subprocess.run([*command, "--version"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout.startswith("rfview ")
    debugger, = about["contributes"]["debuggers"]
    known = set(debugger["configurationAttributes"]["launch"]["properties"])
    assert known == {"program", "args", "launch", "design", "scheduler", "preset", "settings", "max_cycles", "stopOnEntry"}
    assert cli.main(["dap", "--vsix", str(tmp_path)]) == 2 and "is a folder" in capsys.readouterr().err


def test_a_kernel_with_its_arguments_is_launched_and_runs_again_after_an_edit(tmp_path: Path) -> None:
    editor = Editor()
    try:
        editor.get("initialize")
        editor.get("launch", program=f"{write(tmp_path)}::k", args=list(ARGUMENTS), design="stt", settings={"stt.write_cycles": 2})
        editor.wait("initialized")
        editor.get("configurationDone")
        editor.wait("stopped")
        assert editor.get("stackTrace", threadId=1)["stackFrames"][0]["source"]["name"] == "k.cu"
        before = editor.get("evaluate", expression="goto end", context="repl")["result"]
        write(tmp_path, slow=20)
        assert "edit" in editor.get("evaluate", expression="reload", context="repl")["result"]
        assert editor.get("evaluate", expression="goto end", context="repl")["result"] != before
        assert editor.end() == 0
    finally:
        editor.kill()


@pytest.mark.parametrize(("arguments", "says"), [
    ({"program": "FILE::k"}, "there is no such file"),
    ({"program": "FILE::k", "args": ["--grd", "2"]}, "unknown option --grd; did you mean --grid"),
    ({"program": "FILE::k", "args": ["--help"]}, "--help is not an argument"),
    ({"program": "FILE::k", "args": "--grid 2"}, "expected a list"),
    ({"program": "SCRIPT", "args": ["3"]}, "the program made 0 launches"),
    ({"program": "SCRIPT", "launch": "k:1", "preset": "fermy"}, "fermy"),
    pytest.param({"program": "SCRIPT", "settings": {"kernel.isa": "sm_80"}}, "add --preset ampere",
                 marks=pytest.mark.skipif(not has_nvdisasm(), reason="needs nvdisasm to read machine code")),
    ({"program": "vectoradd", "args": ["3"]}, "there is no such program"),
])
def test_a_launch_of_the_users_own_is_refused_in_one_sentence(arguments: dict[str, Any], says: str, tmp_path: Path) -> None:
    (tmp_path / "none.py").write_text("print('no launch here')")
    names = {"FILE::k": f"{tmp_path / 'no.ptx'}::k", "SCRIPT": str(tmp_path / "none.py")}
    editor = Editor()
    try:
        editor.get("initialize")
        answer = editor.ask("launch", **{**arguments, "program": names.get(arguments["program"], arguments["program"])})
        assert not answer["success"] and says in answer["message"] and "\n" not in answer["message"], answer
    finally:
        editor.kill()


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
                                  b"Content-Length: 999999999\r\n\r\n", b"Content-Length: -5\r\n\r\n{}",
                                  b"Content-Type: x\r\n\r\nContent-Length: 2\r\n\r\n{}"])
def test_what_is_no_message_is_one_error(data: bytes) -> None:
    with pytest.raises(InputError, match="dap: "):
        list(Wire(io.BytesIO(data), io.BytesIO()).messages())


def test_a_stream_that_ends_ends_the_conversation() -> None:
    whole = json.dumps({"type": "request"}).encode()
    assert list(Wire(io.BytesIO(b"Content-Length: %d\r\n\r\n" % len(whole) + whole), io.BytesIO()).messages()) == [
        {"type": "request"}]
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
    conversation = Conversation(Wire(io.BytesIO(), io.BytesIO()))
    REQUESTS["initialize"](conversation, Arguments("initialize", {"supportsProgressReporting": True}))
    REQUESTS["launch"](conversation, Arguments("launch", {"program": str(RECORDING)}))
    session = conversation.session
    assert isinstance(session.compiling, Compiling) and session.compiling.has_bar
    session.close()


def test_what_a_branch_on_another_design_cannot_watch_is_left_out_there_and_comes_back() -> None:
    with open_session(RECORDING) as here, open_session(ROOT / "rfview" / "learn" / "recorded" / "first.rfs") as sram:
        points = Points(here)
        points.replace("data", ["w0.pc", "rf.buffer[0].owner"], lambda session, item: session.watch(item))
        points.move_to(sram)
        assert [point.item for point in sram.breakpoints.values()] == ["w0.pc"] and not here.breakpoints
        points.move_to(here)
        assert [point.item for point in here.breakpoints.values()] == ["w0.pc", "rf.buffer[0].owner"]
