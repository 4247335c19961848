"""Fuzzes the screens: keys with and without actions, lines at the prompt, the mouse, resizes.

A case is one of them. All cases of a call go to one program in a real terminal, in bursts of LENGTH; after each burst the
program must reach a requested cycle within PATIENCE_S of its own processor time. Keys that leave or stop the program are
left out, so a program that ends has lost a session; one that hangs or ends is restarted. If a case depends on earlier
ones, start with `--from 0`. The memory at the start and at the end is printed.
"""

from __future__ import annotations

import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from rfview.actions import ACTIONS, ANY, tokens_of
from tests.rfview.terminal import REPOSITORY, Terminal, processor_s

RECORDED = REPOSITORY / "rfview" / "learn" / "recorded"
LENGTH = 50
PATIENCE_S = 10.0           # of the program's processor time, so that a busy computer does not look like a hang
LONGEST_S = 90.0            # wall time
LIMIT_KIB = 700 * 1024      # memory limit of the program: designs in use, branches, and the chunks of the current one
SIZE = (120, 40)
LEAVE = ("q", "ctrl+q", "ctrl+z")
NAMED = {"escape": "\x1b", "enter": "\r", "tab": "\t", "shift+tab": "\x1b[Z", "space": " ", "backspace": "\x7f",
         "delete": "\x1b[3~", "insert": "\x1b[2~", "home": "\x1b[H", "end": "\x1b[F", "pageup": "\x1b[5~",
         "pagedown": "\x1b[6~", "left": "\x1b[D", "right": "\x1b[C", "up": "\x1b[A", "down": "\x1b[B", "f1": "\x1bOP",
         "f5": "\x1b[15~", "f9": "\x1b[20~", "f10": "\x1b[21~", "f11": "\x1b[23~", "shift+f5": "\x1b[15;2~",
         "shift+f10": "\x1b[21;2~", "shift+f11": "\x1b[23;2~"}
LINES = (":break stall > 20", ":goto 50%", ":goto end", ":0", ":watch w0.pc", ":break if cycle == 90", ":stats 10 90", ":why 3",
         ":trace w0.pc", ":find w0.R1 == 7", ":mark a", ":delete 1", ":range 10 200", ":warp 3", ":format hex", ":panel 6",
         ":list", ":info registers 1", ":explain bank", ":help", "/add", "/\x1b", ":print 1/0", ":goto 99999999999999999999",
         ":overlay nothing.rfs", ":fork", ":screenshot a.txt", ":" + "9" * 300, ":\u202e", ":break if", ":registers", ":z",
         ":swap stt", ":kernel nothing", ":capture", ":follow", ":until cycle > 40", ":zoom", ":history-back")


def typed(token: str, chance: random.Random) -> str:
    """Return what a terminal sends for a key in the table of actions."""
    if token == ANY:
        return chance.choice("abz")
    if token in NAMED:
        return NAMED[token]
    kind, _, rest = token.partition("+")
    if kind == "ctrl" and rest:
        return chr(ord(rest) & 0x1F)
    return "\x1b" + rest if kind == "alt" and rest else token


def case(seed: int, number: int) -> str | tuple[int, int]:
    """Return case `number`: the text to send, or a new window size."""
    chance = random.Random(f"keys {seed} {number}")
    draw = chance.random()
    if draw < 0.55:
        action = chance.choice([action for action in ACTIONS if action.keys and action.name != "quit"])
        keys = "".join(typed(token, chance) for token in tokens_of(chance.choice(action.keys)))
        return (str(chance.choice((1, 2, 3, 7, 50, 1234, 10**15))) if chance.random() < 0.2 else "") + keys
    if draw < 0.68:
        return chance.choice(LINES) + chance.choice(("\r", "\r", "\r", "\x1b", "\t\r", "\x1b[A\r", ""))
    if draw < 0.78:
        return chance.choice(list(NAMED.values()))
    if draw < 0.84:
        letter = chance.choice([chr(code) for code in range(33, 127) if chr(code) != "q"] + ["é", "█", "\x00", "\x02", "\x1b[9;9R"])
        return letter
    if draw < 0.97:
        x, y, button = chance.randint(1, 130), chance.randint(1, 45), chance.choice((0, 0, 0, 1, 2, 64, 65, 35))
        press, drag = f"\x1b[<{button};{x};{y}M", f"\x1b[<32;{chance.randint(1, 130)};{y}M"
        return press + (drag if chance.random() < 0.3 else "") + (f"\x1b[<{button};{x};{y}m" if button < 3 else "")
    return chance.choice((SIZE, (80, 24), (200, 60), (40, 10), (1, 1), (chance.randint(2, 220), chance.randint(2, 70))))


class Talk:
    """A program in a terminal, with its own folder."""

    def __init__(self, live: bool):
        self.folder = Path(tempfile.mkdtemp(prefix="rfview-keys-"))
        target = ["debug", "vectoradd"]
        if not live:
            shutil.copy(RECORDED / "refresh.rfs", self.folder)
            target = ["replay", "refresh.rfs"]
        home = {name: str(self.folder / name.lower()) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME")}
        environ = {**home, "RFVIEW_TRACEBACK": ""}
        self.terminal = Terminal(target, *SIZE, environ, self.folder)
        self.terminal.wait(lambda text: " cycle " in text.partition("\n")[0], 60)
        self.asked = 100

    def do(self, what: str | tuple[int, int]) -> None:
        """Send keys, or resize the window."""
        if isinstance(what, tuple):
            self.terminal.resize(*what)
        else:
            self.terminal.send(what)
        self.terminal._read(0.005)

    def settles(self) -> str:
        """Make the program go to a cycle; return "" or what is wrong."""
        self.asked = self.asked % 100 + 100 + 1     # 101 to 200, a different one each time
        began, used = time.monotonic(), self.cpu_s()
        self.terminal.raw = ""
        self.terminal.resize(SIZE[0] - 1, SIZE[1])      # so that everything is redrawn
        self.terminal._read(0.05)
        self.terminal.resize(*SIZE)
        while time.monotonic() - began < LONGEST_S and self.cpu_s() - used < PATIENCE_S:
            for _ in range(5):      # closes windows and the prompt, ends a search or a long move
                self.terminal.send("\x1b")
                if not self._read_for(0.06):
                    return "left"
            self.terminal.send(f":goto {self.asked}\r")
            end = time.monotonic() + 2.0
            while time.monotonic() < end:
                if f"cycle {self.asked} " in self.terminal.text.partition("\n")[0]:
                    return ""
                if not self.terminal._read(0.05):
                    return "left"
        return "hung"

    def _read_for(self, seconds: float) -> bool:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if not self.terminal._read(left):
                return False
        return True

    def reports(self) -> list[str]:
        """Return the end of each defect report written since the last call."""
        found = sorted((self.folder / "xdg_state_home" / "rfview").glob("rfview-crash-*"))
        texts = [path.read_text()[-3000:] for path in found]
        for path in found:
            path.unlink()
        return texts

    def cpu_s(self) -> float:
        """Return the processor time that the program has used, in seconds; 0 if it has ended."""
        return processor_s(self.terminal.process.pid)

    def memory(self) -> int:
        """Return VmRSS in KiB."""
        status = Path(f"/proc/{self.terminal.process.pid}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])

    def end(self) -> None:
        """End the program and delete its folder."""
        self.terminal.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def cases(seed: int, first: int, count: int, live: bool = False) -> Iterator[tuple[int, str, str]]:
    """Try keys; yield (number, outcome, detail): done; or internal error, hung, left, grown."""
    talk = Talk(live)
    try:
        talk.settles()
        before = talk.memory()
        for start in range(first, first + count, LENGTH):
            burst = [case(seed, number) for number in range(start, min(start + LENGTH, first + count))]
            wrong = ""
            try:
                for what in burst:
                    talk.do(what)
            except OSError:
                wrong = "left"
            wrong = wrong or talk.settles()
            shown = talk.terminal.text
            defects = talk.reports()
            if wrong:
                code = talk.terminal.process.poll()
                talk.end()
                talk = Talk(live)
                defects.append(f"exit code {code}; the screen was\n{shown}\n")
            outcome = wrong or ("internal error" if defects else "done")
            for number in range(start, start + len(burst) - 1):
                yield number, "done", ""
            yield start + len(burst) - 1, outcome, "".join(defects)[-6000:] + f" <- {burst!r}" if outcome != "done" else ""
        after = talk.memory()
        print(f"keys{'_live' if live else ''}: memory {before / 1024:.0f} MiB at the start, {after / 1024:.0f} MiB at the end",
              file=sys.stderr)
        if after > LIMIT_KIB:
            yield first + count - 1, "grown", f"from {before:,} to {after:,} KiB"
    finally:
        talk.end()


def live_cases(seed: int, first: int, count: int) -> Iterator[tuple[int, str, str]]:
    """Try keys on a live run."""
    yield from cases(seed, first, count, live=True)
