"""The debug adapter answers or ends, whatever an editor sends: a few cases of the fuzz target, and earlier failures."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rfview.sessions import Session, Stop
from tests.robustness import dap
from tests.robustness.__main__ import GOOD, tally
from tests.conftest import PATIENCE_S

ROOT = Path(__file__).resolve().parents[2]
BUDGET = 300


@pytest.fixture
def talk() -> Iterator[dap.Conversation]:
    """Return a conversation that has launched the bundled recording."""
    found = dap.Conversation()
    yield found
    found.end()


def request(command: Any, arguments: Any) -> bytes:
    """Return a request's body."""
    return json.dumps({"seq": 1, "type": "request", "command": command, "arguments": arguments}).encode()


@pytest.mark.nojit
def test_whatever_an_editor_sends_is_answered_or_refused() -> None:
    outcomes, following = tally("dap", 1, 0, BUDGET, None)
    assert following == BUDGET and set(outcomes) <= GOOD, outcomes
    assert min(outcomes["done"], outcomes["refused"]) > BUDGET / 5, "a target that only fails tests little"


def test_a_case_is_the_same_whenever_it_is_made() -> None:
    assert list(dap.cases(3, 41, 3)) == list(dap.cases(3, 0, 44))[41:]


@pytest.mark.nojit
@pytest.mark.parametrize(("command", "arguments", "says"), [
    ("stackTrace", [1], "expected an object, found a list"),
    ("stackTrace", "x", "expected an object, found a string"),
    ("stackTrace", {"threadId": "2"}, "threadId: expected a whole number, found a string"),
    ("stackTrace", {"threadId": True}, "found true or false"),
    ("stackTrace", {"threadId": 1e300}, "expected a whole number"),
    ("stackTrace", {"threadId": float("inf")}, "expected a whole number, found the number inf"),
    ("stackTrace", {"threadId": 10**400}, "found a number out of range"),
    ("continue", {"threadId": [[]]}, "threadId: expected a whole number, found a list"),
    ("continue", {"threadId": 900}, "no thread 900"),
    ("stepIn", {"threadId": "a"}, "threadId: expected a whole number"),
    ("setBreakpoints", {"breakpoints": 5, "source": {}}, "breakpoints: expected a list, found the number 5"),
    ("setBreakpoints", {"breakpoints": ["x"], "source": {}}, "breakpoints[0]: expected an object"),
    ("setBreakpoints", {"breakpoints": [], "source": 7}, "source: expected an object"),
    ("setExceptionBreakpoints", {"filters": [{}]}, "filters[0]: expected a string"),
    ("evaluate", {"expression": {"a": 1}}, "expression: expected a string, found an object"),
    ("evaluate", {"expression": "\ud800"}, "surrogate"),
    ("evaluate", {"expression": "9" * 5000, "context": "repl"}, "expected a cycle"),
    ("evaluate", {"expression": "s " + "9" * 5000, "context": "repl"}, "expected a whole number"),
    ("launch", {"program": "a\0b"}, "NUL character"),
    ("launch", {"program": "vectoradd", "settings": [1]}, "settings: expected an object"),
    ("launch", {"program": "vectoradd", "settings": {"sm.num_banks": {}}}, "sm.num_banks: expected a string or a number"),
    ("launch", {"program": "vectoradd", "max_cycles": 0}, "max_cycles"),
    ("launch", {"program": "x" * 5000}, "x"),
    (["threads"], {}, "does not support the request"),
    ("_answer", {}, "does not support the request"),
])
def test_what_does_not_fit_is_refused_by_name(talk: dap.Conversation, command: Any, arguments: Any, says: str) -> None:
    outcome, detail = talk.ask(request(command, arguments))
    assert outcome == "refused" and says in detail
    assert talk.ask(request("threads", {}))[0] == "done", "and the conversation goes on"


@pytest.mark.nojit
@pytest.mark.parametrize("depth", [2000, 100_000])
def test_deep_nesting_is_refused_or_ends_the_conversation_with_a_sentence(talk: dap.Conversation, depth: int) -> None:
    outcome, detail = talk.ask(b'{"arguments":' * depth + b"1" + b"}" * depth)
    if outcome == "refused":    # the nesting that Python accepts in JSON depends on its version
        assert "does not support the request" in detail
    else:
        assert outcome == "ended" and "nested too deeply" in detail


def test_an_error_after_a_response_is_told_as_a_stop(talk: dap.Conversation, monkeypatch: pytest.MonkeyPatch) -> None:
    def fall(session: Session) -> Stop:
        raise OSError(5, "the disk is gone", "a.rfs")

    monkeypatch.setattr(Session, "step", fall)
    assert talk.ask(request("stepIn", {"threadId": 1}))[0] == "done"
    stop = talk.event("stopped")
    assert stop["reason"] == "exception" and stop["text"] == "a.rfs: the disk is gone"
    assert talk.ask(request("threads", {}))[0] == "done"


def test_an_editor_that_vanishes_ends_a_long_move(talk: dap.Conversation, monkeypatch: pytest.MonkeyPatch) -> None:
    def long_move(session: Session) -> Stop:
        assert session.progress is not None
        began = time.monotonic()
        while not session.progress(session.cycle):
            assert time.monotonic() - began < PATIENCE_S
            time.sleep(0.001)
        return Stop(session.cycle, "interrupted", "interrupted")

    monkeypatch.setattr(Session, "continue_", long_move)
    assert talk.ask(request("continue", {"threadId": 1}))[0] == "done"
    assert talk.end()


def test_an_editor_that_reads_no_answer_ends_the_adapter() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    child = subprocess.Popen([sys.executable, "-m", "rfview", "dap"], cwd=ROOT, stdin=subprocess.PIPE, stdout=writing,
                             stderr=subprocess.PIPE)
    os.close(writing)
    assert child.stdin is not None and child.stderr is not None
    try:
        body = request("initialize", {})
        child.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        child.stdin.flush()         # stdin stays open: the adapter ends by itself
        assert child.wait(PATIENCE_S) == 141 and child.stderr.read() == b""
    finally:
        child.kill()
        child.wait()


@pytest.mark.parametrize("data", [b"", b"Content-Length: 90\r\n\r\n{", b"Content-Le"])
def test_an_editor_that_vanishes_midway_ends_the_adapter(data: bytes) -> None:
    ended = subprocess.run([sys.executable, "-m", "rfview", "dap"], cwd=ROOT, input=data, capture_output=True, timeout=PATIENCE_S,
                           check=False)
    assert ended.stdout == b"" and b"Traceback" not in ended.stderr
    assert (ended.returncode, ended.stderr.count(b"\n")) == ((2, 1) if data.startswith(b"Content-Le") and b":" not in data
                                                            else (0, 0))
