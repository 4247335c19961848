"""The errors that a user can cause, one class per exit code; each message says what is wrong, where, and what to do."""

from __future__ import annotations


class RfviewError(Exception):
    """Base of every error that the user can fix; never shown as a traceback."""

    exit_code = 2


class InputError(RfviewError):
    """Bad input: a file, option, expression or session that cannot be used (exit 2)."""

    exit_code = 2


class PtxError(InputError):
    """Broken or unsupported PTX; the message names file, line and text."""


class SassError(InputError):
    """Broken or unsupported machine code; the message names file, line and instruction."""


class RegisterShortage(InputError):
    """One CTA of a kernel needs more registers than the register file has; with fewer per thread it might fit."""


class KernelFault(RfviewError):
    """The kernel misbehaved: out-of-bounds access, deadlock, trap, cycle limit (exit 3).

    pc, warp, lane: the instruction at fault or at which it waits, and a warp slot and lane that execute it; -1 = unknown.
    polls: whether the cycle limit ended a loop that waits for what others store.
    """

    exit_code = 3

    def __init__(self, message: str, *, pc: int = -1, warp: int = -1, lane: int = -1, polls: bool = False) -> None:
        super().__init__(message)
        self.pc, self.warp, self.lane, self.polls = pc, warp, lane, polls


class AssertionFault(KernelFault):
    """An assert() in the kernel failed."""
