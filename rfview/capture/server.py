"""Answers the requests of one process, one after the other, for as long as it lives; every request is validated first."""

from __future__ import annotations

import select
import socket
import struct
from collections.abc import Callable
from contextlib import suppress

from rfview.capture import messages as wire
from rfview.capture import protocol
from rfview.capture.device import Device
from rfview.capture.launches import Request
from rfview.capture.fatbin import parts_of, text_of
from rfview.capture.protocol import Reply
from rfview.capture.textures import header_of
from rfview.engine.errors import InputError, PtxError
from rfview.engine.escapes import visible

QUIET_S = 0.2       # between two checks that the process is alive
MESSAGE_S = 60.0    # the longest pause within a message: its sender writes it at once

Say = Callable[[str], None]


class Notice:
    """Shows each message once. show: shows a line."""

    def __init__(self, show: Say) -> None:
        self._show = show
        self._texts: set[str] = set()

    def __call__(self, text: str) -> None:
        """Show a message, unless it was shown before."""
        if text not in self._texts and len(self._texts) < 10_000:
            self._texts.add(text)
            for line in text.split("\n"):        # an error in PTX shows the line it refers to
                self._show(visible(line))


class Server:
    """Serves one process on a device. stops: end the program after the chosen launch. say: shows a message."""

    def __init__(self, device: Device, say: Say, *, stops: bool = False) -> None:
        self.device, self.say, self._stops = device, say if isinstance(say, Notice) else Notice(say), stops
        self._is_known = False
        self._operations: dict[int, Callable[[bytes], Reply]] = {
            wire.HELLO.number: self._hello, wire.MALLOC.number: self._malloc, wire.FREE.number: self._free,
            wire.LOAD.number: self._load, wire.FACTS.number: self._facts, wire.KERNELS.number: self._kernels,
            wire.SYMBOL.number: self._symbol, wire.LAUNCH.number: self._launch, wire.OCCUPANCY.number: self._occupancy,
            wire.ALIAS.number: self._alias, wire.TEXTURE.number: self._texture, wire.RESET.number: self._reset,
            wire.NAME.number: self._name, wire.SYNC.number: self._sync, wire.WROTE.number: self._wrote,
        }

    def serve(self, link: socket.socket, lives: Callable[[], bool]) -> None:
        """Answer until the process closes its end or `lives` returns False; then shut the connection down."""
        try:
            while True:
                if not select.select([link], [], [], QUIET_S)[0]:
                    if lives():
                        continue
                    return
                if not self.serve_one(link):
                    return
        finally:
            with suppress(OSError):     # already closed by the other side
                link.shutdown(socket.SHUT_RDWR)

    def serve_one(self, link: socket.socket) -> bool:
        """Answer the next request; return False once there are no more."""
        try:
            link.settimeout(MESSAGE_S)
            request = protocol.read_request(link)
            if request is None:
                return False
            link.settimeout(None)       # a process that a debugger has stopped reads its answer late
            reply = self.answer(*request)
            opens = request[0] == wire.HELLO.number and not reply.status
            protocol.write_reply(link, reply, [self.device.memory.descriptor] if opens else ())
        except protocol.LinkError as error:
            self.say(f"the program's messages cannot be read: {error}")
            return False
        except ConnectionError:
            return False
        return True

    def answer(self, operation: int, body: bytes) -> Reply:
        """Return the reply to one request."""
        serve = self._operations.get(operation)
        if serve is None:
            return self._failed(protocol.NOT_SUPPORTED, f"the program requests operation {operation}, which does not exist")
        try:
            return serve(body)
        except PtxError as error:
            return self._failed(protocol.INVALID_PTX, str(error))
        except InputError as error:
            is_load = operation == wire.LOAD.number
            return self._failed(protocol.NO_KERNEL_IMAGE if is_load else protocol.INVALID_VALUE, str(error))
        except KeyError as error:
            is_symbol = operation == wire.SYMBOL.number
            return Reply(protocol.INVALID_SYMBOL if is_symbol else protocol.INVALID_DEVICE_FUNCTION, b"",
                         f"the program's modules have no {visible(str(error.args[0]))}")
        except (struct.error, ValueError) as error:
            what = f"operation {operation}: a body of {len(body)} bytes that cannot be read: {error}"
            return self._failed(protocol.INVALID_VALUE, what)

    def _failed(self, status: int, text: str) -> Reply:
        self.say(text)
        return Reply(status, b"", text)

    def _hello(self, body: bytes) -> Reply:
        version, _process = wire.HELLO.request.unpack(body)
        if version != wire.VERSION:
            return self._failed(protocol.NOT_SUPPORTED, f"the program's side uses version {version} of the protocol, "
                                                        f"this one {wire.VERSION}")
        if self._is_known:
            return self._failed(protocol.INVALID_VALUE, "a second process uses this process's connection")
        self._is_known = True
        return Reply(protocol.SUCCESS, wire.HELLO.result.pack(*self.device.properties()))

    def _malloc(self, body: bytes) -> Reply:
        size, kind = wire.MALLOC.request.unpack(body)
        paged = kind in (wire.KIND_HOST, wire.KIND_MANAGED)
        memory = self.device.memory     # what the host may write directly is taken to be written
        address = memory.allocate(size, page=paged, written=paged) if 0 < size <= memory.capacity else 0
        if not address:
            free = self.device.memory.capacity - self.device.memory.used
            return self._failed(protocol.MEMORY_ALLOCATION, f"the program requests {size:,} bytes of device memory; "
                                                            f"{free:,} of {self.device.memory.capacity:,} are free")
        return Reply(protocol.SUCCESS, wire.MALLOC.result.pack(address))

    def _free(self, body: bytes) -> Reply:
        (address,) = wire.FREE.request.unpack(body)
        memory = self.device.memory
        if not memory.owns(address) or memory.live[address].kind == "symbol":
            return Reply(protocol.INVALID_VALUE, b"", "nothing is allocated there")
        memory.free(address)
        return Reply(protocol.SUCCESS)

    def _load(self, body: bytes) -> Reply:
        form, module = wire.LOAD.request.unpack(body)
        if form == wire.FORM_PTX:
            texts = [module.rstrip(b"\0").decode("utf-8", "replace")]
        elif form == wire.FORM_FATBIN:
            texts = [text_of(module, self.device.gpu)]
        elif form == wire.FORM_PARTS:
            texts = parts_of(module, self.device.gpu)
        else:
            raise ValueError(f"a module of form {form}")
        return Reply(protocol.SUCCESS, wire.LOAD.result.pack(self.device.load(*texts)))

    def _facts(self, body: bytes) -> Reply:
        module, name = wire.FACTS.request.unpack(body)
        loaded = self.device.modules[module]
        kernel = loaded.kernel(name.decode())
        params = b"".join(wire.PARAM.pack(one.offset, one.size) for one in kernel.params)
        return Reply(protocol.SUCCESS, wire.FACTS.result.pack(
            len(kernel.params), kernel.registers, kernel.shared_bytes, kernel.local_bytes, kernel.max_threads,
            kernel.insts.nbytes, loaded.target, rest=params))

    def _kernels(self, body: bytes) -> Reply:
        (module,) = wire.KERNELS.request.unpack(body)
        names = "\n".join(self.device.modules[module].module.kernels)
        return Reply(protocol.SUCCESS, wire.KERNELS.result.pack(rest=names.encode()))

    def _symbol(self, body: bytes) -> Reply:
        module, name = wire.SYMBOL.request.unpack(body)
        loaded, name = self.device.modules[module], name.decode()
        return Reply(protocol.SUCCESS, wire.SYMBOL.result.pack(loaded.addresses[name], loaded.module.symbols[name].size))

    def _launch(self, body: bytes) -> Reply:
        module, gx, gy, gz, bx, by, bz, shared, flags, length, rest = wire.LAUNCH.request.unpack(body)
        if self.device.failed:
            return Reply(self.device.failed, b"", "an earlier launch left the device with an error")
        name, params = rest[:length].decode(), rest[length:]
        outcome = self.device.launch(Request(module, name, (gx, gy, gz), (bx, by, bz), shared, params,
                                             bool(flags & wire.COOPERATIVE), bool(flags & wire.CLUSTERS)))
        if outcome.text:
            self.say(outcome.text)
        result = wire.LAUNCH.result.pack(outcome.cycles, rest=outcome.printed.encode("utf-8", "surrogateescape"))
        stops = self._stops and self.device.launches.taken is not None
        return Reply(wire.STOPPED if stops else outcome.status, result, outcome.text)

    def _occupancy(self, body: bytes) -> Reply:
        module, threads, dynamic, name = wire.OCCUPANCY.request.unpack(body)
        blocks = self.device.blocks(module, name.decode(), threads, dynamic)
        return Reply(protocol.SUCCESS, wire.OCCUPANCY.result.pack(blocks))

    def _alias(self, body: bytes) -> Reply:
        address, device, size = wire.ALIAS.request.unpack(body)
        memory = self.device.memory
        done = memory.alias(address, device, size) if size else memory.unalias(address)
        return Reply(protocol.SUCCESS if done else protocol.INVALID_VALUE)

    def _texture(self, body: bytes) -> Reply:
        return Reply(protocol.SUCCESS, wire.TEXTURE.result.pack(header_of(self.device.memory, body)))

    def _reset(self, body: bytes) -> Reply:
        self.device.reset()
        return Reply(protocol.SUCCESS)

    def _name(self, body: bytes) -> Reply:
        address, text = wire.NAME.request.unpack(body)
        name, dtype, shape = ([*text.decode().split("\n"), "", ""])[:3]
        done = self.device.memory.describe(address, name, dtype, shape)
        return Reply(protocol.SUCCESS if done else protocol.INVALID_VALUE)

    def _wrote(self, body: bytes) -> Reply:
        to, source, row_bytes, source_row_bytes, width, rows = wire.WROTE.request.unpack(body)
        if rows > 1 and row_bytes == source_row_bytes == width:
            width, rows = width * rows, 1
        if rows > self.device.memory.capacity:
            raise ValueError(f"{rows:,} rows")
        for row in range(rows):
            self.device.memory.note_copy(to + row * row_bytes, source + row * source_row_bytes if source else 0, width)
        return Reply(protocol.SUCCESS)

    def _sync(self, body: bytes) -> Reply:
        return Reply(self.device.failed)
