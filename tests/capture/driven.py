"""A server on a thread and a client in the same process, for tests; device memory is mapped a second time."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rfview.capture.client import Client
from rfview.capture.device import Device
from rfview.capture.server import Server

SAXPY = """
.version 7.0
.target sm_75
.address_size 64
.global .align 4 .f32 factor = 0f40000000;
.visible .entry _Z5saxpyPKfPfi(.param .u64 x, .param .u64 y, .param .u32 n)
{
    .reg .pred %p<2>; .reg .b32 %r<6>; .reg .f32 %f<5>; .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.s32 %p1, %r5, %r1;
    @%p1 bra DONE;
    mul.wide.s32 %rd3, %r5, 4;
    add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
    ld.global.f32 %f1, [%rd4]; ld.global.f32 %f2, [%rd5]; ld.global.f32 %f3, [factor];
    fma.rn.f32 %f4, %f1, %f3, %f2;
    st.global.f32 [%rd5], %f4;
DONE:
    ret;
}
"""
NAME = "_Z5saxpyPKfPfi"


@contextmanager
def driven(**options: Any) -> Iterator[tuple[Client, Device, list[str]]]:
    """Yield a client, its device, and the list of messages that the server prints."""
    said: list[str] = []
    stops = options.pop("stops", False)
    device = Device(options.pop("machine", {}), **options)
    ours, theirs = socket.socketpair()
    thread = threading.Thread(target=Server(device, said.append, stops=stops).serve, args=(ours, lambda: True))
    thread.start()
    client = Client(lambda: theirs)
    client.connect()
    try:
        yield client, device, said
    finally:
        client.close()
        thread.join()
        ours.close()
        device.memory.close()
