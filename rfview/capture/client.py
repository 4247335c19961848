"""The program's side of the socket, for Python; uses only the standard library, neither numba nor the engine."""

from __future__ import annotations

import ctypes
import os
import socket
import struct

from rfview.capture import protocol as wire

_PROT_READ_WRITE, _SHARED_NORESERVE_FIXED = 3, 0x01 | 0x4000 | 0x100000     # Linux: MAP_SHARED, NORESERVE, FIXED_NOREPLACE


class CudaError(RuntimeError):
    """A request failed with the cudaError_t `code`."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text or f"CUDA error {code}")
        self.code = code


class Stopped(Exception):
    """The program has done what it was started for and is to exit."""


class Client:
    """A program's connection to the server; device memory is mapped at its own addresses in this process."""

    def __init__(self, link: int, memory: int) -> None:
        """link, memory: file descriptors inherited by this process. Raises OSError if the addresses are taken."""
        self._link = socket.socket(fileno=link)
        libc = ctypes.CDLL(None, use_errno=True)
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
        got = libc.mmap(wire.BASE, wire.CAPACITY, _PROT_READ_WRITE, _SHARED_NORESERVE_FIXED, memory, wire.SCRATCH)
        if got != wire.BASE:
            raise OSError(ctypes.get_errno(), "the device's addresses are already in use in this process")
        self._libc = libc
        self.properties = wire.PROPERTIES.unpack(self.ask(wire.HELLO, struct.pack("<II", wire.VERSION, os.getpid())))
        self._facts: dict[tuple[int, str], wire.Facts] = {}

    def close(self) -> None:
        """Close the connection, which also ends the server, and unmap device memory from this process."""
        self._libc.munmap(ctypes.c_void_p(wire.BASE), ctypes.c_size_t(wire.CAPACITY))
        self._link.close()

    def ask(self, operation: int, body: bytes = b"") -> bytes:
        """Send a request and return the answer; raises CudaError, Stopped, and LinkError if the server has gone."""
        try:
            self._link.sendall(wire.HEAD.pack(operation, len(body)) + body)
            head = wire.read_exactly(self._link, wire.REPLY.size)
            status, size = wire.REPLY.unpack(head) if head else (0, 0)
            data = wire.read_exactly(self._link, size)
        except ConnectionError:
            head = data = b""
        if not head or len(data) < size:
            raise wire.LinkError("the connection to rfview was lost")
        if operation == wire.LAUNCH and status:
            print(data[8:].decode("utf-8", "replace"), end="", flush=True)
            if status == wire.STOPPED:
                raise Stopped
            raise CudaError(status, f"the kernel ended in CUDA error {status}")
        if status:
            raise CudaError(status, data.decode("utf-8", "replace"))
        return data

    def malloc(self, size: int, kind: int = wire.KIND_DEVICE) -> int:
        """Allocate `size` bytes; return their address."""
        return int(struct.unpack("<Q", self.ask(wire.MALLOC, struct.pack("<QI", size, kind)))[0])

    def free(self, address: int) -> None:
        """Free an allocation."""
        self.ask(wire.FREE, struct.pack("<Q", address))

    def describe(self, address: int, name: str, dtype: str = "", shape: tuple[int, ...] = ()) -> None:
        """Set an allocation's name and contents, for lists and captured folders; dtype: as NumPy writes it."""
        text = f"{name}\n{dtype}\n{','.join(map(str, shape))}"
        self.ask(wire.NAME, struct.pack("<Q", address) + text.encode())

    def alias(self, address: int, device: int, size: int) -> None:
        """Make the bytes at `device` visible to kernels at an address of this process as well; size 0 ends that."""
        self.ask(wire.ALIAS, struct.pack("<QQQ", address, device, size))

    def write(self, address: int, data: bytes) -> None:
        """Copy bytes to the device."""
        ctypes.memmove(address, data, len(data))

    def read(self, address: int, size: int) -> bytes:
        """Copy bytes from the device."""
        return ctypes.string_at(address, size)

    def load(self, ptx: str) -> int:
        """Load a PTX module; return its number."""
        return int(struct.unpack("<I", self.ask(wire.LOAD, struct.pack("<I", wire.FORM_PTX) + ptx.encode()))[0])

    def kernels(self, module: int) -> list[str]:
        """Return the names of a module's kernels."""
        return self.ask(wire.KERNELS, struct.pack("<I", module)).decode().splitlines()

    def facts(self, module: int, kernel: str) -> wire.Facts:
        """Return a kernel's resources and parameters."""
        if (module, kernel) not in self._facts:
            raw = self.ask(wire.FACTS, struct.pack("<I", module) + kernel.encode())
            count, *numbers = wire.FACTS_HEAD.unpack_from(raw)
            params = tuple(wire.PARAM.unpack_from(raw, wire.FACTS_HEAD.size + k * wire.PARAM.size) for k in range(count))
            registers, shared, local, threads, code, target = numbers
            self._facts[module, kernel] = wire.Facts(registers, shared, local, threads, code, target, params)
        return self._facts[module, kernel]

    def symbol(self, module: int, name: str) -> tuple[int, int]:
        """Return the address and size of a module's variable."""
        address, size = struct.unpack("<QQ", self.ask(wire.SYMBOL, struct.pack("<I", module) + name.encode()))
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
        head = wire.LAUNCH_HEAD.pack(module, *grid, *block, shared_bytes, wire.COOPERATIVE if cooperative else 0,
                                     len(kernel.encode()))
        reply = self.ask(wire.LAUNCH, head + kernel.encode() + bytes(block_of_params))
        print(reply[8:].decode("utf-8", "replace"), end="", flush=True)
        return int(struct.unpack_from("<Q", reply)[0])


def connect() -> Client:
    """Open the connection named by the environment; raises KeyError if this process was not started by rfview."""
    return Client(int(os.environ[wire.LINK]), int(os.environ[wire.MEMORY]))
