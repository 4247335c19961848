"""Gives each process of a program that uses CUDA a connection and a device, and serves them one request at a time.

Processes connect to a socket in the abstract namespace, whose random name all descendants of the program inherit in their
environment; nothing is left of it when rfview ends. A connection ends with its process, even if a forked child has a copy.
"""

from __future__ import annotations

import os
import secrets
import selectors
import signal
import socket
import struct
import subprocess
from contextlib import suppress
from dataclasses import dataclass

from rfview.capture.device import Device
from rfview.capture.server import QUIET_S, Notice, Say, Server

CREDENTIALS = struct.Struct("3i")       # process, user, group


@dataclass
class _Connection:
    """A process that uses CUDA. handle: becomes readable when the process ends; -1 if the system has none for it."""

    link: socket.socket
    server: Server
    handle: int


class Processes:
    """The processes of one program. device: of the first one; stops: end the program after the chosen launch."""

    def __init__(self, device: Device, say: Say, *, stops: bool = False) -> None:
        self._device, self._say, self._stops = device, Notice(say), stops
        self._is_used = False
        self._connections: list[_Connection] = []
        self.name = f"rfview-{secrets.token_hex(16)}"
        self._door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._door.bind("\0" + self.name)
        self._door.listen(128)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._door, selectors.EVENT_READ)

    def serve(self, program: subprocess.Popen[bytes]) -> None:
        """Answer requests until the program has ended and no process is connected any more.

        With `stops`, return after the chosen launch.
        """
        handle = _handle_of(program.pid)
        if handle >= 0:
            self._selector.register(handle, selectors.EVENT_READ)
        while self._connections or program.poll() is None:
            for key, _ in self._selector.select(QUIET_S):
                if key.fileobj is self._door:
                    self._accept()
                elif key.fileobj == handle:
                    self._selector.unregister(handle)
                elif key.data in self._connections:
                    self._serve(key.data, key.fileobj is key.data.link)
                if self._stops and self._device.launches.taken is not None:
                    return

    def close(self) -> None:
        """Close all connections, and kill the processes that are still connected."""
        for one in list(self._connections):
            if one.handle >= 0:
                with suppress(OSError):
                    signal.pidfd_send_signal(one.handle, signal.SIGKILL)
            self._end(one)
        self._selector.close()
        self._door.close()

    def _accept(self) -> None:
        link = self._door.accept()[0]
        process, user, _ = CREDENTIALS.unpack(link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size))
        if user != os.geteuid():        # other users can see the name of the socket
            link.close()
            return
        handle = _handle_of(process)
        device = self._device.of_another_process() if self._is_used else self._device
        self._is_used = True
        one = _Connection(link, Server(device, self._say, stops=self._stops), handle)
        self._connections.append(one)
        self._selector.register(link, selectors.EVENT_READ, one)
        if handle >= 0:
            self._selector.register(handle, selectors.EVENT_READ, one)

    def _serve(self, one: _Connection, is_request: bool) -> None:
        """Answer a request of a process, or end its connection."""
        if not is_request or not one.server.serve_one(one.link):
            self._end(one)

    def _end(self, one: _Connection) -> None:
        self._connections.remove(one)
        self._selector.unregister(one.link)
        one.link.close()
        if one.handle >= 0:
            self._selector.unregister(one.handle)
            os.close(one.handle)
        one.server.device.close()


def _handle_of(process: int) -> int:
    """Return a file descriptor that becomes readable when a process ends; -1 if the system has none for it."""
    try:
        return os.pidfd_open(process) if process > 0 else -1
    except OSError:
        return -1
