"""Answers a program's requests, one after the other, for as long as it lives; every request is validated first."""

from __future__ import annotations

import select
import socket
import struct
from collections.abc import Callable
from contextlib import suppress

from rfview.capture import protocol as wire
from rfview.capture.device import Device, Request
from rfview.capture.fatbin import parts_of, ptx_of
from rfview.capture.textures import header_of
from rfview.engine.errors import InputError, PtxError
from rfview.engine.escapes import visible

QUIET_S = 0.2       # between two checks that the program is alive
MESSAGE_S = 60.0    # the longest pause within a message: its sender writes it at once

Answer = tuple[int, bytes]
Say = Callable[[str], None]


class Server:
    """Serves one program on a device. stops: end the program after the chosen launch. say: shows a message."""

    def __init__(self, device: Device, say: Say, *, stops: bool = False) -> None:
        self.device, self._say, self._stops = device, say, stops
        self._said: set[str] = set()
        self._texts: dict[int, bytes] = {}
        self._operations: dict[int, Callable[[bytes], Answer]] = {
            wire.HELLO: self._hello, wire.MALLOC: self._malloc, wire.FREE: self._free, wire.LOAD: self._load,
            wire.FACTS: self._facts, wire.KERNELS: self._kernels, wire.SYMBOL: self._symbol, wire.LAUNCH: self._launch,
            wire.OCCUPANCY: self._occupancy, wire.ALIAS: self._alias, wire.TEXTURE: self._texture, wire.RESET: self._reset,
            wire.NAME: self._name, wire.SYNC: self._sync,
        }

    def serve(self, link: socket.socket, lives: Callable[[], bool]) -> None:
        """Answer until the program closes its end or `lives` returns False; then shut the connection down."""
        try:
            self._serve(link, lives)
        finally:
            with suppress(OSError):     # already closed by the other side
                link.shutdown(socket.SHUT_RDWR)

    def _serve(self, link: socket.socket, lives: Callable[[], bool]) -> None:
        while True:
            if not select.select([link], [], [], QUIET_S)[0]:
                if lives():
                    continue
                return
            try:
                link.settimeout(MESSAGE_S)
                request = wire.read_request(link)
                if request is None:
                    return
                link.settimeout(None)       # a program that a debugger has stopped reads its answer late
                wire.write_reply(link, *self.answer(*request))
            except wire.LinkError as error:
                self.say(f"the program's messages cannot be read: {error}")
                return
            except ConnectionError:
                return

    def answer(self, operation: int, body: bytes) -> Answer:
        """Return the status and body that answer one request; the body of an error is its message."""
        serve = self._operations.get(operation)
        if serve is None:
            return self._failed(wire.NOT_SUPPORTED, f"the program requests operation {operation}, which does not exist")
        try:
            return serve(body)
        except PtxError as error:
            return self._failed(wire.INVALID_PTX, str(error))
        except InputError as error:
            return self._failed(wire.NO_KERNEL_IMAGE if operation == wire.LOAD else wire.INVALID_VALUE, str(error))
        except KeyError as error:
            status = wire.INVALID_SYMBOL if operation == wire.SYMBOL else wire.INVALID_DEVICE_FUNCTION
            return status, f"the program's modules have no {visible(str(error.args[0]))}".encode()
        except (struct.error, ValueError) as error:
            what = f"operation {operation}: a body of {len(body)} bytes that cannot be read: {error}"
            return self._failed(wire.INVALID_VALUE, what)

    def say(self, text: str) -> None:
        """Show a message, unless it was shown before."""
        if text not in self._said and len(self._said) < 10_000:
            self._said.add(text)
            for line in text.split("\n"):        # an error in PTX shows the line it refers to
                self._say(visible(line))

    def _failed(self, status: int, text: str) -> Answer:
        self.say(text)
        return status, text.encode()

    def _hello(self, body: bytes) -> Answer:
        version, _process = struct.unpack("<II", body)
        if version != wire.VERSION:
            return self._failed(wire.NOT_SUPPORTED, f"the program's side uses version {version} of the protocol, this one "
                                                    f"{wire.VERSION}")
        self.device.reset()
        return wire.SUCCESS, wire.PROPERTIES.pack(*self.device.properties())

    def _malloc(self, body: bytes) -> Answer:
        size, kind = struct.unpack("<QI", body)
        paged = kind in (wire.KIND_HOST, wire.KIND_MANAGED)
        address = self.device.memory.allocate(size, page=paged) if 0 < size <= self.device.memory.capacity else 0
        if not address:
            free = self.device.memory.capacity - self.device.memory.used
            return self._failed(wire.MEMORY_ALLOCATION, f"the program requests {size:,} bytes of device memory; {free:,} of "
                                                        f"{self.device.memory.capacity:,} are free")
        return wire.SUCCESS, struct.pack("<Q", address)

    def _free(self, body: bytes) -> Answer:
        (address,) = struct.unpack("<Q", body)
        memory = self.device.memory
        if not memory.owns(address) or memory.live[address].kind == "symbol":
            return wire.INVALID_VALUE, b"nothing is allocated there"
        memory.free(address)
        return wire.SUCCESS, b""

    def _load(self, body: bytes) -> Answer:
        (form,) = struct.unpack_from("<I", body)
        if form == wire.FORM_PTX:
            texts = [body[4:].rstrip(b"\0").decode("utf-8", "replace")]
        elif form == wire.FORM_FATBIN:
            texts = [ptx_of(body[4:])[1]]
        elif form == wire.FORM_PARTS:
            texts = parts_of(body[4:])
        else:
            raise ValueError(f"a module of form {form}")
        return wire.SUCCESS, struct.pack("<I", self.device.load(*texts))

    def _facts(self, body: bytes) -> Answer:
        (module,) = struct.unpack_from("<I", body)
        loaded = self.device.modules[module]
        kernel = loaded.kernel(body[4:].decode())
        head = wire.FACTS_HEAD.pack(len(kernel.params), kernel.registers, kernel.shared_bytes, kernel.local_bytes,
                                    kernel.max_threads, kernel.insts.nbytes, loaded.target)
        return wire.SUCCESS, head + b"".join(wire.PARAM.pack(one.offset, one.size) for one in kernel.params)

    def _kernels(self, body: bytes) -> Answer:
        (module,) = struct.unpack("<I", body)
        return wire.SUCCESS, "\n".join(self.device.modules[module].module.kernels).encode()

    def _symbol(self, body: bytes) -> Answer:
        (module,) = struct.unpack_from("<I", body)
        loaded, name = self.device.modules[module], body[4:].decode()
        return wire.SUCCESS, struct.pack("<QQ", loaded.addresses[name], loaded.module.symbols[name].size)

    def _launch(self, body: bytes) -> Answer:
        module, gx, gy, gz, bx, by, bz, shared, flags, length = wire.LAUNCH_HEAD.unpack_from(body)
        name = body[wire.LAUNCH_HEAD.size : wire.LAUNCH_HEAD.size + length].decode()
        if self.device.failed:
            return self.device.failed, b"the device was left with an error by a launch of before"
        params = body[wire.LAUNCH_HEAD.size + length :]
        outcome = self.device.launch(Request(module, name, (gx, gy, gz), (bx, by, bz), shared, params,
                                             bool(flags & wire.COOPERATIVE)))
        if outcome.text:
            self.say(outcome.text)
        reply = struct.pack("<Q", outcome.cycles) + outcome.printed.encode("utf-8", "surrogateescape")
        if self._stops and self.device.taken is not None:
            return wire.STOPPED, reply
        return outcome.status, reply

    def _occupancy(self, body: bytes) -> Answer:
        module, threads, dynamic = struct.unpack_from("<III", body)
        return wire.SUCCESS, struct.pack("<I", self.device.blocks(module, body[12:].decode(), threads, dynamic))

    def _alias(self, body: bytes) -> Answer:
        address, device, size = struct.unpack("<QQQ", body)
        memory = self.device.memory
        done = memory.alias(address, device, size) if size else memory.unalias(address)
        return (wire.SUCCESS if done else wire.INVALID_VALUE), b""

    def _texture(self, body: bytes) -> Answer:
        return wire.SUCCESS, struct.pack("<Q", header_of(self.device.memory, body))

    def _reset(self, body: bytes) -> Answer:
        self.device.reset()
        return wire.SUCCESS, b""

    def _name(self, body: bytes) -> Answer:
        (address,) = struct.unpack_from("<Q", body)
        name, dtype, shape = ([*body[8:].decode().split("\n"), "", ""])[:3]
        done = self.device.memory.describe(address, name, dtype, shape)
        return (wire.SUCCESS if done else wire.INVALID_VALUE), b""

    def _sync(self, body: bytes) -> Answer:
        return self.device.failed, b""
