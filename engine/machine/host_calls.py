"""Calls from a kernel to its host: vprintf prints a line, __assertfail stops the run with the assertion's message."""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING, Any

from rfview.engine import isa, state
from rfview.engine.errors import AssertionFault, KernelFault
from rfview.engine.launch.mangling import kernel_name
from rfview.engine.machine_code import is_machine_code
from rfview.engine.machine.stages.regions import read_bytes

if TYPE_CHECKING:
    from rfview.engine.simulator import Simulator

# flags, width, precision, length of the argument, conversion
FORMAT = re.compile(r"%([-+ #0]*)(\d+|\*)?(?:\.(\d*|\*))?(hh|h|ll|l|j|z|t)?([diouxXcsfFeEgGaAp%])")
WIDEST = 4096       # characters of a width or precision, as of a string: a wrong format may ask for gigabytes
INTEGERS = {"hh": "<b", "h": "<h", None: "<i"}      # length -> struct's code; all others are 8 bytes


class _TooWide(Exception):
    """A format has a width or precision above WIDEST."""


class HostCalls:
    """Serves the instruction for which the machine stopped; printf returns the number of its arguments."""

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator

    def serve(self) -> None:
        """Print or fail for every active lane, in lane order, and let the machine continue."""
        sm = self._simulator.sm
        slot = int(sm.host_call)
        flight = sm.inflight[slot]
        inst = self._simulator.insts[int(flight.pc)]
        first = int(sm.config.first_result_row) + slot * 4
        sm.host_call = state.NONE8
        values = self._simulator.rows.u[first : first + 4]
        for lane in range(32):
            if not (int(flight.mask) >> lane) & 1:
                continue
            low, high, other, last = (int(value) for value in values[:, lane])
            if int(inst.op) == isa.OP_ASSERTFAIL:       # both strings are constants of the module, with one upper half
                self._assertion(slot, lane, low | high << 32, other | high << 32, last)
                return
            pattern = self._string(low | high << 32, lane, flight)
            try:
                text = self._format(pattern, other | last << 32, lane, flight)
            except _TooWide as error:
                self._fail(f"printf of {pattern!r}: {error}", lane, flight)
                return
            self._simulator.printed.append((int(sm.cycle), text))
            values[0, lane] = sum(match.group(5) != "%" for match in FORMAT.finditer(pattern))

    def _assertion(self, slot: int, lane: int, message: int, file: int, line: int) -> None:
        """Stop the run with the message of a failed assertion."""
        flight = self._simulator.sm.inflight[slot]
        text = self._string(message, lane, flight)
        where = self._string(file, lane, flight)
        self._fail(f"assertion failed: {text} ({where}:{line})", lane, flight, AssertionFault)

    def _fail(self, what: str, lane: int, flight: Any, kind: type[KernelFault] = KernelFault) -> None:
        """Stop the run with an error that says what happened in which lane."""
        listing = self._simulator.info.program[int(flight.pc)]
        line = "" if is_machine_code(self._simulator.insts) else f"PTX line {listing.line}, "  # the driver's code has none
        self._simulator.fault = kind(
            f"kernel {kernel_name(listing.kernel)}: {what}, {line}warp {int(flight.warp)}, lane {lane}, "
            f"{self._simulator.moment(int(flight.warp))}",
            pc=int(flight.pc), warp=int(flight.warp), lane=lane)

    def _bytes(self, address: int, size: int, lane: int, flight: Any) -> bytes:
        """Read generic memory; empty if nothing is mapped."""
        return read_bytes(self._simulator, address, size, int(flight.warp), lane)

    def _string(self, address: int, lane: int, flight: Any) -> str:
        """Read a zero-terminated string."""
        text = bytearray()
        while len(text) < 4096:
            part = self._bytes(address + len(text), 1, lane, flight)
            if not part or part == b"\0":
                break
            text += part
        return text.decode("utf-8", "replace")

    def _format(self, text: str, args: int, lane: int, flight: Any) -> str:
        """Format like C's printf; the arguments are in a buffer at their natural alignment. Raises _TooWide."""
        at = args

        def take(size: int) -> bytes:
            nonlocal at
            at = -(-at // size) * size
            data = self._bytes(at, size, lane, flight).ljust(size, b"\0")
            at += size
            return data

        def size(text: str | None) -> int | None:
            number = struct.unpack("<i", take(4))[0] if text == "*" else None if text is None else int(text or 0)
            if number is not None and abs(number) > WIDEST:
                raise _TooWide(f"a width or precision of {number:,}; at most {WIDEST:,} characters are printed")
            return number

        def one(match: re.Match[str]) -> str:
            flags, width, precision, length, kind = match.groups()
            if kind == "%":
                return "%"
            columns, digits = size(width), size(precision)      # as in C: -5 is a width of 5 with the flag -
            point = f".{digits}" if digits is not None and digits >= 0 else ""      # and a precision below 0 is none
            is_unsigned = kind in "ouxX"
            signs = flags.replace("+", "").replace(" ", "") if is_unsigned else flags
            pattern = f"%{signs}{'' if columns is None else columns}{point}{'d' if kind == 'u' else kind}"
            if is_unsigned or kind in "di":
                code = INTEGERS.get(length, "<q")
                data = take(8 if code == "<q" else 4)[: struct.calcsize(code)]
                return pattern % struct.unpack(code.upper() if is_unsigned else code, data)[0]
            if kind == "c":
                return pattern % chr(take(4)[0])
            if kind == "s":
                return pattern % self._string(struct.unpack("<Q", take(8))[0], lane, flight)
            if kind == "p":
                return hex(struct.unpack("<Q", take(8))[0])
            number = struct.unpack("<d", take(8))[0]
            return number.hex() if kind in "aA" else pattern % number

        return FORMAT.sub(one, text)
