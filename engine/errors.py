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


class RegisterShortage(InputError):
    """One CTA of a kernel needs more registers than the register file has; with fewer per thread it might fit."""


class KernelFault(RfviewError):
    """The kernel misbehaved: out-of-bounds access, deadlock, trap, cycle limit (exit 3)."""

    exit_code = 3


class AssertionFault(KernelFault):
    """An assert() in the kernel failed."""
