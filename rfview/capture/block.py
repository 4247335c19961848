"""`with rfview.capture(...)`: lists the numba-cuda and Triton launches of this process; records one or saves its folder."""

from __future__ import annotations

import atexit
import os
import socket
import sys
import tempfile
import threading
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from rfview.capture.device import Device
from rfview.capture.folder import write
from rfview.capture.launches import choice_of, missing
from rfview.capture.python import hooks, numba_driver, torch_on_cpu, triton_driver, versions
from rfview.capture.server import Server
from rfview.engine import files
from rfview.engine.errors import InputError

if TYPE_CHECKING:
    from rfview.sessions import Session

SUFFIX = ".rfs"


class _Process:
    """The machine of this process: a server on a thread, for as long as the process lives."""

    current: _Process | None = None

    def __init__(self) -> None:
        from rfview.capture.client import Client

        self.device = Device({})
        ours, theirs = socket.socketpair()
        say = lambda text: print(f"rfview: {text}", file=sys.stderr, flush=True)
        threading.Thread(target=Server(self.device, say).serve, args=(ours, lambda: True), daemon=True,
                         name="rfview-capture").start()
        try:
            client = Client(lambda: theirs)
            client.connect()
            self.machine = hooks.Machine(client)
        except OSError as error:
            raise InputError(f"capture: {error.strerror or error}") from None
        self._hooks = hooks.AfterImport({"numba.cuda": lambda: numba_driver.install(self.machine),
                                         "triton": lambda: triton_driver.install(self.machine),
                                         "torch": torch_on_cpu.leave_uncompiled})
        sys.meta_path.insert(0, self._hooks)
        owner = os.getpid()
        atexit.register(lambda: ours.shutdown(socket.SHUT_RDWR) if os.getpid() == owner else None)

    @classmethod
    def get(cls) -> _Process:
        """Return the process's only machine, created on the first call, with all imported frameworks on it.

        Raises InputError if the device's memory cannot be mapped, or a framework's release is not supported.
        """
        if cls.current is None:
            cls.current = cls()
        try:
            cls.current._hooks.run_imported()
        except versions.UnknownVersion as error:
            raise InputError(f"capture: {error}") from None
        return cls.current


class Capture:
    """The context manager that `rfview.capture` returns: launches in its block are listed, and one of them is taken.

    rows: the launches, as plain data, once the block has ended. output: the file or folder that was written, or None.
    """

    def __init__(self, launch: str | int | None, output: str | Path | None, every_cycle: bool,
                 options: dict[str, Any]) -> None:
        if output is not None and launch is None:
            launch = 0
        self._choice = choice_of(str(launch)) if launch is not None else None
        self._target = Path(output) if output is not None else None
        self._options, self._every_cycle = options, every_cycle
        self._device: Device | None = None
        self.rows: list[dict[str, Any]] = []
        self.output: Path | None = None

    def __enter__(self) -> Capture:
        """Begin the block; its first launch has number 0. Raises InputError, also if another block is open."""
        if self._target is not None and self._target.suffix == SUFFIX:
            files.check_target(self._target, is_recording=True)
        device = _Process.get().device
        if device.is_taking:
            raise InputError("capture: another block is already open; close it first")
        device.begin(self._options, self._choice, self._choice is not None and not self._every_cycle)
        self._device = device
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """End the block and write the output, even after an exception; raises InputError if it cannot be written."""
        device = self._device
        assert device is not None
        self.rows = [entry.row() for entry in device.launches.entries]
        device.is_taking = False
        if self._choice is None:
            return
        if device.launches.taken is None:
            if kind is None:
                raise missing(self._choice, device.launches.entries, device.launches.total)
            return
        if self._target is not None:
            self.output = self._target
            if self._target.suffix == SUFFIX:
                self._record(self._target)
            else:
                write(device.launches.taken, self._target)

    def session(self) -> Session:
        """Return a live session of the launch that was taken. Raises InputError if none was."""
        from rfview.sessions import Session
        from rfview.sessions.timeline.live import LiveTimeline

        return Session(LiveTimeline(self._simulator()))

    def _record(self, path: Path) -> None:
        from rfview.sessions.file.writer import record

        record(self._simulator(), path)

    def _simulator(self) -> Any:
        """Return a machine at cycle 0 of the launch that was taken."""
        from rfview.engine.launch import load_launch_file
        from rfview.engine.simulator import Simulator

        taken = self._device.launches.taken if self._device is not None else None
        if taken is None:
            raise InputError("capture: no launch was captured; name one: rfview.capture(launch=\"KERNEL:0\")")
        with tempfile.TemporaryDirectory(prefix="rfview-") as folder:
            spec = load_launch_file(write(taken, Path(folder), (Path(sys.argv[0]).parent, Path())))
            return Simulator(replace(spec, name=taken.entry.kernel), **self._options)


def capture(launch: str | int | None = None, output: str | Path | None = None, *, every_cycle: bool = False,
            **options: Any) -> Capture:
    """Return a block that runs the launches of numba-cuda and Triton in it on the machine, without a GPU.

    launch: the one to take, "KERNEL", "KERNEL:NTH" or a number, counted from the beginning of the block (the first if only
    an output is given). output: a session file (NAME.rfs), or a folder for a launch file. options: design, scheduler,
    preset, settings, max_cycles. If a launch is taken, the others run by their values only, and their rows have estimated
    cycles; every_cycle simulates them all. From the first block on, the frameworks use the machine until the process ends.
    Raises InputError.

        with rfview.capture(launch="matmul_kernel:0", output="m.rfs") as c:
            kernel[grid, block](a, b)
        c.session().step(100)
    """
    return Capture(launch, output, every_cycle, options)
