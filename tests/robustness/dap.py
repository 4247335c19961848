"""Fuzzes the debug adapter: valid requests with arguments changed, left out, deeply nested and made huge.

A case is one message. Cases are sent in conversations of LENGTH, each with its own adapter that has launched the bundled
recording; the editor waits for each answer, as editors do. Case N is always sent in the same conversation, which has its
own copy of the recording, since marks are saved next to it.
"""

from __future__ import annotations

import io
import json
import queue
import random
import shutil
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rfview.dap.adapter import INTERNAL, Adapter
from rfview.dap.wire import Wire
from rfview.engine.errors import InputError

RECORDING = Path(__file__).resolve().parents[2] / "sessions" / "recorded" / "first.rfs"
PLACEHOLDER = "@first.rfs"      # stands in messages for the path of the conversation's copy
LENGTH = 40         # messages in a conversation
PATIENCE_S = 60.0   # time limit for each answer

EXPRESSIONS = (
    "cycle", "w0.pc", "w3.state", "w2.R0", "w1.R3[5]", "rf", "sm.resident", "any(w.state == stt_write)", "cycle + 2 * 3",
    "count(w.pc > 4)", "w0.R1 == 7", "rf.bank[2]", "stall.barrier", "event.issue", "min(w.pc)", "1 / 0", "w99.pc", "-w0.pc",
)
COMMANDS = (
    "step", "s 3", "back 2", "goto 40%", "goto end", "12", "@a", "mark a", "print w0.pc", "why 3", "info stalls",
    "info registers 3", "break if cycle == 9", "watch w2.state", "when", "next issue 2", "prev issue 2", "find w0.R1 == 7",
    "help", "delete 1", "trace w0.pc", "continue", "c", "until cycle > 40", "taint w0.R1",
)
REQUESTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("initialize", {"linesStartAt1": True, "supportsProgressReporting": True, "clientID": "x"}),
    ("launch", {"program": PLACEHOLDER, "stopOnEntry": True}),
    ("attach", {"program": PLACEHOLDER, "design": "stt", "scheduler": "gto", "preset": "fermi",
                "settings": {"sm.num_banks": 8}, "max_cycles": 100}),
    ("launch", {"program": "vectorad"}),
    ("configurationDone", {}),
    ("threads", {}),
    ("stackTrace", {"threadId": 2, "startFrame": 0, "levels": 20}),
    ("scopes", {"frameId": 2}),
    ("variables", {"variablesReference": 1, "start": 0, "count": 5}),
    ("source", {"sourceReference": 1, "source": {"name": "a.ptx", "sourceReference": 1}}),
    ("evaluate", {"expression": "w0.pc", "context": "watch", "frameId": 2}),
    ("evaluate", {"expression": "step", "context": "repl"}),
    ("next", {"threadId": 2, "granularity": "statement"}),
    ("stepBack", {"threadId": 1, "granularity": "instruction"}),
    ("stepIn", {"threadId": 3}),
    ("stepOut", {"threadId": 4}),
    ("continue", {"threadId": 1}),
    ("reverseContinue", {"threadId": 1}),
    ("pause", {"threadId": 1}),
    ("restart", {}),
    ("exceptionInfo", {"threadId": 2}),
    ("completions", {"text": "print w3.", "column": 10, "line": 1, "frameId": 2}),
    ("disassemble", {"memoryReference": "0x10004", "offset": 0, "instructionOffset": -5, "instructionCount": 10,
                     "resolveSymbols": True}),
    ("setInstructionBreakpoints", {"breakpoints": [{"instructionReference": "0x10004", "offset": 1, "condition": "cycle > 3"}]}),
    ("setVariable", {"variablesReference": 1, "name": "R0", "value": "0x10"}),
    ("evaluate", {"expression": "%rd5", "context": "hover", "frameId": 3}),
    ("setBreakpoints", {"source": {"name": "vectoradd.ptx", "sourceReference": 1},
                        "breakpoints": [{"line": 30, "condition": "w.pc > 3", "hitCondition": "2"}, {"line": 31}]}),
    ("dataBreakpointInfo", {"name": "w2.state", "variablesReference": 0}),
    ("setDataBreakpoints", {"breakpoints": [{"dataId": "w2.state", "condition": "cycle > 3", "hitCondition": "1"}]}),
    ("setExceptionBreakpoints", {"filters": ["stt_write", "unbalanced"]}),
    ("terminate", {}),
    ("restartFrame", {"frameId": 2}),
)


def message(seed: int, number: int) -> bytes:
    """Return the body of case `number`: mostly JSON, mostly an object."""
    chance = random.Random(f"dap {seed} {number}")
    command, arguments = chance.choice(REQUESTS)
    arguments = json.loads(json.dumps(arguments))
    if "expression" in arguments:
        source = COMMANDS if arguments["context"] == "repl" else EXPRESSIONS
        arguments["expression"] = _misspelt(chance, chance.choice(source))
    whole: dict[str, Any] = {"seq": number, "type": "request", "command": command, "arguments": arguments}
    for _ in range(chance.choice((0, 1, 1, 1, 2, 4))):
        _change(chance, whole if chance.random() < 0.1 else {"arguments": whole.get("arguments")})
        if isinstance(whole.get("arguments"), dict):
            _change(chance, whole["arguments"])
    body = json.dumps(whole).encode()
    if chance.random() < 0.01:      # not JSON, or nested more deeply than any reader accepts
        depth = chance.choice((100, 900, 2000, 100_000))
        body = chance.choice((body[: chance.randrange(len(body))], b"[" * depth + b"]" * depth,
                              b'{"arguments":' * depth + b"1" + b"}" * depth, b"9" * depth, b"\xff\xfe"))
    return body


def _change(chance: random.Random, data: Any) -> None:
    """Change something inside an object or a list: replace, delete or add a value."""
    while isinstance(data, (dict, list)) and data:
        keys = list(data) if isinstance(data, dict) else list(range(len(data)))
        key = chance.choice(keys)
        if isinstance(data[key], (dict, list)) and data[key] and chance.random() < 0.7:
            data = data[key]
            continue
        if (kind := chance.random()) < 0.15:
            del data[key]
        elif kind < 0.25 and isinstance(data, list):
            data.append(data[key])
        elif kind < 0.5 and isinstance(data[key], str):
            data[key] = _misspelt(chance, data[key])
        elif kind < 0.7 and isinstance(data[key], int):
            data[key] = data[key] + chance.choice((-1, 1, 7, 63, 1 << 16, -(1 << 31), 1 << 62))
        else:
            data[key] = _value(chance)
        return


def _value(chance: random.Random) -> Any:
    """Return any value that JSON can express."""
    deep: Any = 1
    for _ in range(chance.choice((3, 50, 300, 800))):
        deep = [deep] if chance.random() < 0.5 else {"a": deep}
    return chance.choice((
        None, True, False, 0, -1, 1, 2.5, 1e308, float("inf"), float("nan"), 1 << 31, 1 << 64, 10**400, -(10**18), "", "0",
        "x" * 100_000, "\0", "\ud800", "w0.pc", "../..", [], {}, [[]], [None], [1] * 5000, {"a": {}}, deep,
        "(" * 5000, "w[" * 300, "-" * 3000, "not " * 3000, "1+" * 3000 + "1", "9" * 5000, "0x" + "f" * 5000, "2**2**2**99",
    ))


def _misspelt(chance: random.Random, text: str) -> str:
    """Return a text with a few characters changed, doubled, dropped or inserted; often unchanged."""
    letters = list(text)
    for _ in range(chance.choice((0, 0, 0, 1, 1, 2, 5))):
        at = chance.randrange(len(letters) + 1)
        kind = chance.random()
        if kind < 0.4 and at < len(letters):
            letters[at] = chance.choice("09-+*/%.,()[]<>=!&|~^ @wRsmpc:;'\"\\\n\té·\ud800")
        elif kind < 0.6 and at < len(letters):
            del letters[at]
        elif kind < 0.8:
            letters.insert(at, chance.choice("0123456789.([ -"))
        else:
            letters[at:at] = letters[: chance.randrange(1, 9)]
    return "".join(letters)


class _Asking(io.RawIOBase):
    """The stream that the adapter reads: it delivers a message when the previous one has been answered."""

    def __init__(self) -> None:
        self._data, self._at = b"", 0
        self.given: queue.Queue[bytes] = queue.Queue()

    def readable(self) -> bool:
        """Return that the stream is readable."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer from the current message; returns 0 at the end of the conversation."""
        if self._at == len(self._data):
            self._data, self._at = self.given.get(), 0
        part = self._data[self._at : self._at + len(buffer)]
        buffer[: len(part)] = part
        self._at += len(part)
        return len(part)


class _Answers(io.RawIOBase):
    """The stream that the adapter writes: each write is one complete message."""

    def __init__(self) -> None:
        self.received: queue.Queue[dict[str, Any]] = queue.Queue()

    def writable(self) -> bool:
        """Return that the stream is writable."""
        return True

    def write(self, data: Any) -> int:
        """Receive one message; raises ValueError if it is not valid in the protocol."""
        data = bytes(data)
        head, _, body = data.partition(b"\r\n\r\n")
        if head != b"Content-Length: %d" % len(body):
            raise ValueError(f"framing: {head!r}")
        self.received.put(json.loads(body, parse_constant=_refuse))
        return len(data)


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


class Conversation:
    """An adapter in its own thread, which has launched the bundled recording."""

    def __init__(self) -> None:
        self._asking, self._answers = _Asking(), _Answers()
        self._folder = tempfile.TemporaryDirectory(prefix="rfview-dap-")
        self._copy = shutil.copy(RECORDING, self._folder.name)
        self._error: BaseException | None = None
        self._adapter = Adapter(Wire(io.BufferedReader(self._asking), self._answers))
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        for command, arguments in REQUESTS[:2]:
            said = self.ask(json.dumps({"seq": -1, "type": "request", "command": command, "arguments": arguments}).encode())
            assert said == ("done", ""), said

    def _serve(self) -> None:
        try:
            self._adapter.serve()
        except BaseException as error:
            self._error = error

    def ask(self, body: bytes) -> tuple[str, str]:
        """Send a message and return (outcome, detail) of its answer."""
        body = body.replace(PLACEHOLDER.encode(), str(self._copy).encode())
        self._asking.given.put(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        waited = 0.0
        while waited < PATIENCE_S:
            try:
                answer = self._answers.received.get(timeout=0.05)
            except queue.Empty:
                waited += 0.05
                if not self._thread.is_alive() and self._answers.received.empty():
                    good = isinstance(self._error, InputError)
                    return ("ended" if good else "fell"), f"{type(self._error).__name__}: {self._error}"
                continue
            if INTERNAL in json.dumps(answer):
                return "internal error", json.dumps(answer)[:600]
            if answer["type"] == "response":
                return ("done" if answer["success"] else "refused"), answer.get("message", "")
        return "hung", ""

    def event(self, name: str) -> dict[str, Any]:
        """Return the body of the next event with this name."""
        while True:
            answer = self._answers.received.get(timeout=PATIENCE_S)
            if answer.get("event") == name:
                return dict(answer["body"])

    def end(self) -> bool:
        """Close the editor's side, and return whether the adapter ended."""
        self._asking.given.put(b"")
        self._thread.join(PATIENCE_S)
        self._folder.cleanup()
        return not self._thread.is_alive()


def cases(seed: int, first: int, count: int) -> Iterator[tuple[int, str, str]]:
    """Try messages; yield (number, outcome, detail): done, refused, ended; or internal error, fell, hung, stayed."""
    number = first - first % LENGTH         # a case is tried after those that precede it in its conversation
    while number < first + count:
        talk, body = Conversation(), b""
        for at in range(number, min(number + LENGTH, first + count)):
            body = message(seed, at)
            outcome, detail = talk.ask(body)
            if at >= first:
                yield at, outcome, f"{detail} <- {body[:200]!r}"
            if outcome == "ended":
                talk.end()
                talk = Conversation()
            elif outcome in ("fell", "hung"):
                return
        if not talk.end():
            yield number + LENGTH - 1, "stayed", f"the adapter outlives its editor after {body[:200]!r}"
            return
        number += LENGTH
