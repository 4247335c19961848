"""SIGTERM and SIGHUP end a command as Ctrl-C does: nothing unfinished is left, and the exit code tells the signal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rfview import ending
from tests.conftest import PATIENCE_S, REPOSITORY
from tests.rfview.terminal import Terminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")
RECORDED = REPOSITORY / "rfview" / "learn" / "recorded" / "first.rfs"
# an export that never comes to its end, and one that drops the first exception
EXPORTS = """
import sys, time
from rfview import cli
from rfview.sessions.export import vcd

def changes(*arguments):
    print("writes", flush=True)
    time.sleep(3600)

vcd._changes = changes
sys.exit(cli.main(sys.argv[1:]))
"""
DROPS = EXPORTS.replace("    time.sleep(3600)", """    try:
        time.sleep(3600)
    except BaseException:
        pass
    time.sleep(3600)""")

# one that runs compiled code without end
COMPILED = """
import numba, numpy as np, threading, time

@numba.njit(nogil=True)
def spin(begun, count):
    begun[0] = 1
    while count > 0:
        count = count % 1000 + 1
    return count

begun = np.zeros(1)
spin(begun.copy(), 0)

def tell():
    while not begun[0]:
        time.sleep(0.01)
    print("writes", flush=True)

threading.Thread(target=tell, daemon=True).start()
""" + EXPORTS.replace('    print("writes", flush=True)\n    time.sleep(3600)', "    spin(begun, 1)")
# one whose clean-up does not end
CLEANS = EXPORTS.replace("""    print("writes", flush=True)
    time.sleep(3600)""", """    try:
        print("writes", flush=True)
        time.sleep(3600)
    finally:
        print("cleans up", flush=True)
        time.sleep(3600)""")
# one that is interrupted where Python drops exceptions: in a function called by C code
CALLED_BACK = EXPORTS.replace("    time.sleep(3600)", """    import ctypes, os, signal
    ctypes.CFUNCTYPE(None)(lambda: os.kill(os.getpid(), signal.SIGINT))()
    time.sleep(3600)""")
# the command, interrupted while its modules are imported
IMPORTED = """
import os, runpy, signal, sys

class Finder:
    def find_spec(self, name, *rest):
        if name == "argparse":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
runpy.run_module("rfview", run_name="__main__")
"""


@pytest.fixture(autouse=True)
def not_under_nohup() -> Iterator[None]:
    """Children inherit that a signal is ignored; `nohup pytest` ignores SIGHUP."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize(("program", "number", "code"), [(EXPORTS, signal.SIGTERM, 143), (EXPORTS, signal.SIGHUP, 129),
                                                         (DROPS, signal.SIGTERM, 143)])
def test_an_export_that_a_signal_ends_leaves_no_file(tmp_path: Path, program: str, number: int, code: int) -> None:
    words = ["export", str(RECORDED), "--to", "vcd", "-o", str(tmp_path / "run.vcd")]
    child = subprocess.Popen([sys.executable, "-c", program, *words], cwd=REPOSITORY, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert child.stdout is not None and child.stdout.readline() == "writes\n"
        assert len(list(tmp_path.iterdir())) == 1
        child.send_signal(number)
        _, said = child.communicate(timeout=PATIENCE_S)
    finally:
        child.kill()
    assert (child.returncode, said) == (code, "rfview: error: ended by a signal\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("program", "signals", "codes"), [
    (COMPILED, (signal.SIGINT, signal.SIGTERM), (130, 143)), (COMPILED, (signal.SIGTERM, signal.SIGINT), (130, 143)),
    (CLEANS, (signal.SIGINT, signal.SIGINT), (130,)), (CLEANS, (signal.SIGHUP, signal.SIGINT), (130,)),
])
def test_a_second_signal_ends_whatever_runs(tmp_path: Path, program: str, signals: tuple[int, int],
                                            codes: tuple[int, ...]) -> None:
    """Nothing but SIGKILL ended compiled code that loops, as a hook of one's own may. Signals may overtake each other."""
    words = ["export", str(RECORDED), "--to", "vcd", "-o", str(tmp_path / "run.vcd")]
    child = subprocess.Popen([sys.executable, "-c", program, *words], cwd=REPOSITORY, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert child.stdout is not None and child.stdout.readline() == "writes\n"
        child.send_signal(signals[0])
        if program == CLEANS:
            assert child.stdout.readline() == "cleans up\n"
        child.send_signal(signals[1])
        _, said = child.communicate(timeout=PATIENCE_S)
    finally:
        child.kill()
    assert child.returncode in codes and said == "rfview: error: ended at once: what was running did not stop\n"


@pytest.mark.parametrize("program", [CALLED_BACK, IMPORTED])
def test_an_interrupt_is_not_lost_where_exceptions_are(tmp_path: Path, program: str) -> None:
    words = ["export", str(RECORDED), "--to", "vcd", "-o", str(tmp_path / "run.vcd")]
    done = subprocess.run([sys.executable, "-c", program, *words], cwd=REPOSITORY, text=True, capture_output=True,
                          timeout=PATIENCE_S, check=False)
    assert (done.returncode, done.stderr) == (130, "rfview: error: interrupted\n")
    assert list(tmp_path.iterdir()) == []


def test_an_editor_ends_the_debug_adapter_without_an_error_to_show() -> None:
    child = subprocess.Popen([sys.executable, "-m", "rfview", "dap"], cwd=REPOSITORY, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    request = b'{"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":"rfview"}}'
    try:
        assert child.stdin is not None and child.stdout is not None
        child.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(request), request))
        child.stdin.flush()
        assert child.stdout.readline().startswith(b"Content-Length")
        child.send_signal(signal.SIGTERM)
        _, said = child.communicate(timeout=PATIENCE_S)
    finally:
        child.kill()
    assert (child.returncode, said) == (143, b"")


def test_an_ignored_hang_up_stays_ignored() -> None:
    """As `nohup` wants it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with ending.by_signals():
            os.kill(os.getpid(), signal.SIGHUP)
            time.sleep(0)
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            assert signal.getsignal(signal.SIGTERM) not in (signal.SIG_IGN, signal.SIG_DFL)
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)])
@pytest.mark.parametrize("opens", [False, True])
def test_a_signal_ends_the_start_screen_and_what_was_opened_from_it(tmp_path: Path, opens: bool, number: int,
                                                                    code: int) -> None:
    """It came back to the start screen, or ended with 0."""
    with Terminal([], environ={"HOME": str(tmp_path), "XDG_STATE_HOME": "", "XDG_CONFIG_HOME": ""}) as terminal:
        terminal.wait("LESSONS")
        if opens:
            terminal.send("\r")
            terminal.wait("REGISTER FILE")
        os.kill(terminal.process.pid, number)
        assert terminal.end() == code
