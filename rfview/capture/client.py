"""The program's side of the socket, for Python; uses only the standard library, neither numba nor the engine."""

from __future__ import annotations

import ctypes
import os
import socket
import struct
import threading
import weakref
from collections.abc import Callable
from typing import Any

from rfview.capture import messages as wire
from rfview.capture import protocol
from rfview.capture.messages import Message

_READ_WRITE, _SHARED_NORESERVE_FIXED = 3, 0x01 | 0x4000 | 0x100000     # Linux: MAP_SHARED, NORESERVE, FIXED_NOREPLACE
_DONTFORK = 10                                                         # MADV_DONTFORK
FORKED = ("CUDA contexts do not survive fork: this process was forked after its parent's first use of CUDA; let the parent "
          "use CUDA only afterwards, or start processes with the method 'spawn'")
_clients: weakref.WeakSet[Client] = weakref.WeakSet()


class CudaError(RuntimeError):
    """A request failed with the cudaError_t `code`."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text or f"CUDA error {code}")
        self.code = code


class Stopped(Exception):
    """The program has done what it was started for and is to exit."""


class Client:
    """A process's connection to the server, opened by its first request; device memory is mapped at its own addresses.

    A child of this process that is forked later cannot use it: requests then fail with CUDA's initialization error.
    """

    def __init__(self, opens: Callable[[], socket.socket]) -> None:
        """opens: returns a socket that is connected to the server."""
        self._opens = opens
        self._link: socket.socket | None = None
        self._owner = 0
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._properties: tuple[int, ...] = ()
        self._facts: dict[tuple[int, str], protocol.Facts] = {}
        self._lock = threading.RLock()
        _clients.add(self)

    @property
    def properties(self) -> tuple[int, ...]:
        """Return the device's properties, in the order of HELLO's result."""
        self.connect()
        return self._properties

    def connect(self) -> None:
        """Open the connection if it is not open yet.

        Raises CudaError in a child of a process that has opened it, OSError if the device's addresses are taken in this
        process, LinkError if the server has gone.
        """
        if self._owner == os.getpid():
            return
        if self._owner:
            raise CudaError(protocol.INITIALIZATION, FORKED)
        with self._lock:
            if self._link is not None:
                return
            try:
                link = self._opens()
            except OSError:
                raise protocol.LinkError("rfview has ended, and the device with it") from None
            body = wire.HELLO.request.pack(wire.VERSION, os.getpid())
            reply, files = self._exchange(link, wire.HELLO, body, 1)
            if reply.status or len(files) != 1:
                raise protocol.LinkError(reply.text or "the server's reply has no memory")
            try:
                self._map(files[0])
            finally:
                os.close(files[0])
            self._properties = wire.HELLO.result.unpack(reply.result)
            self._link, self._owner = link, os.getpid()

    def close(self) -> None:
        """Close the connection, which also frees the device, and unmap device memory from this process."""
        if self._link is not None and self._owner == os.getpid():
            self._libc.munmap(ctypes.c_void_p(wire.BASE), ctypes.c_size_t(wire.CAPACITY))
            self._link.close()

    def ask(self, message: Message, *values: Any, rest: bytes = b"") -> tuple[Any, ...]:
        """Send a request and return its result; raises CudaError, Stopped, and LinkError if the server has gone."""
        reply = self.reply(message.number, message.request.pack(*values, rest=rest))
        if message is wire.LAUNCH and reply.result:
            print(message.result.unpack(reply.result)[1].decode("utf-8", "replace"), end="", flush=True)
        if reply.status == wire.STOPPED:
            raise Stopped
        if reply.status:
            raise CudaError(reply.status, reply.text)
        return message.result.unpack(reply.result)

    def reply(self, operation: int, body: bytes) -> protocol.Reply:
        """Send a request and return the reply; raises CudaError in a forked child, LinkError if the server has gone."""
        self.connect()
        assert self._link is not None
        with self._lock:
            return self._exchange(self._link, operation, body)[0]

    def _exchange(self, link: socket.socket, operation: int | Message, body: bytes,
                  descriptors: int = 0) -> tuple[protocol.Reply, list[int]]:
        number = operation.number if isinstance(operation, Message) else operation
        try:
            link.sendall(wire.REQUEST_HEAD.pack(number, len(body)) + body)
            return protocol.read_reply(link, descriptors)
        except ConnectionError:
            raise protocol.LinkError("the connection to rfview was lost") from None

    def _map(self, memory: int) -> None:
        """Map device memory at its addresses, in this process only: a forked child must not write its parent's."""
        mmap, madvise = self._libc.mmap, self._libc.madvise
        mmap.restype = ctypes.c_void_p
        mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
        madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        if mmap(wire.BASE, wire.CAPACITY, _READ_WRITE, _SHARED_NORESERVE_FIXED, memory, wire.SCRATCH) != wire.BASE:
            raise OSError(ctypes.get_errno(), "the device's addresses are already in use in this process")
        madvise(wire.BASE, wire.CAPACITY, _DONTFORK)

    def forked(self) -> None:
        """In a forked child: close its copy of the connection; another thread of the parent may hold the lock."""
        self._lock = threading.RLock()
        if self._link is not None:
            os.close(self._link.detach())
            self._link = None

    def malloc(self, size: int, kind: int = wire.KIND_DEVICE) -> int:
        """Allocate `size` bytes; return their address."""
        return int(self.ask(wire.MALLOC, size, kind)[0])

    def free(self, address: int) -> None:
        """Free an allocation."""
        self.ask(wire.FREE, address)

    def describe(self, address: int, name: str, dtype: str = "", shape: tuple[int, ...] = ()) -> None:
        """Set an allocation's name and contents, for lists and captured folders; dtype: as NumPy writes it."""
        self.ask(wire.NAME, address, rest=f"{name}\n{dtype}\n{','.join(map(str, shape))}".encode())

    def alias(self, address: int, device: int, size: int) -> None:
        """Make the bytes at `device` visible to kernels at an address of this process as well; size 0 ends that."""
        self.ask(wire.ALIAS, address, device, size)

    def write(self, address: int, data: bytes) -> None:
        """Copy bytes to the device."""
        self.connect()
        ctypes.memmove(address, data, len(data))
        self._note(address, 0, len(data))

    def copy(self, address: int, source: int, size: int) -> None:
        """Copy bytes between any two addresses, of the device or of this process; raises CudaError in a forked one."""
        self.connect()
        ctypes.memmove(address, source, size)
        self._note(address, source, size)

    def fill(self, address: int, value: int, size: int) -> None:
        """Set bytes of the device to a value; raises CudaError in a forked process."""
        self.connect()
        ctypes.memset(address, value, size)
        self._note(address, 0, size)

    def _note(self, address: int, source: int, size: int) -> None:
        """Tell the server what was written on the device, if it wants to know."""
        if self.properties[-1] and size and wire.BASE <= address < wire.BASE + wire.CAPACITY:
            self.ask(wire.WROTE, address, source, size, size, size, 1)

    def read(self, address: int, size: int) -> bytes:
        """Copy bytes from the device."""
        self.connect()
        return ctypes.string_at(address, size)

    def load(self, ptx: str) -> int:
        """Load a PTX module; return its number."""
        return int(self.ask(wire.LOAD, wire.FORM_PTX, rest=ptx.encode())[0])

    def kernels(self, module: int) -> list[str]:
        """Return the names of a module's kernels."""
        return str(self.ask(wire.KERNELS, module)[0].decode()).splitlines()

    def facts(self, module: int, kernel: str) -> protocol.Facts:
        """Return a kernel's resources and parameters."""
        if (module, kernel) not in self._facts:
            count, *numbers, rest = self.ask(wire.FACTS, module, rest=kernel.encode())
            size = wire.PARAM.head.size
            params = tuple(wire.PARAM.unpack(rest[k * size : (k + 1) * size]) for k in range(count))
            registers, shared, local, threads, code, target = numbers
            self._facts[module, kernel] = protocol.Facts(registers, shared, local, threads, code, target, params)
        return self._facts[module, kernel]

    def symbol(self, module: int, name: str) -> tuple[int, int]:
        """Return the address and size of a module's variable."""
        address, size = self.ask(wire.SYMBOL, module, rest=name.encode())
        return address, size

    def launch(self, module: int, kernel: str, grid: tuple[int, int, int], block: tuple[int, int, int], shared_bytes: int,
               values: list[bytes | int], *, cooperative: bool = False) -> int:
        """Run a kernel to its end; return its cycles. values: one per parameter, in the order of their declaration.

        The kernel's output goes to standard output. Raises CudaError, Stopped; ValueError for a wrong number of values.
        """
        declared = self.facts(module, kernel).params
        if len(values) != len(declared):
            raise ValueError(f"{kernel}: {len(values)} arguments; it declares {len(declared)}")
        block_of_params = bytearray(max((offset + size for offset, size in declared), default=0))
        for value, (offset, size) in zip(values, declared, strict=True):
            raw = value if isinstance(value, bytes) else (value & (1 << 8 * size) - 1).to_bytes(size, "little")
            if len(raw) != size:
                raise ValueError(f"{kernel}: an argument of {len(raw)} bytes where {size} are declared")
            block_of_params[offset : offset + size] = raw
        name = kernel.encode()
        try:
            cycles, _ = self.ask(wire.LAUNCH, module, *grid, *block, shared_bytes, wire.COOPERATIVE if cooperative else 0,
                                 len(name), rest=name + bytes(block_of_params))
        except struct.error:
            raise ValueError(f"{kernel}: grid {grid}, block {block} or {shared_bytes} bytes of shared memory: "
                             "no launch has these") from None
        return int(cycles)


def _forked() -> None:
    for client in list(_clients):
        client.forked()


os.register_at_fork(after_in_child=_forked)


def of_environment() -> Client:
    """Return a client of the server that the environment names; raises KeyError if this process is not of its program."""
    name = os.environ[wire.LINK]

    def opens() -> socket.socket:
        link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        link.connect("\0" + name)
        return link

    return Client(opens)
