"""What counts as written in a program under the checker, from launch to launch: each step of a life, with its findings."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rfview.capture import messages as wire
from rfview.capture.checked import CAPACITY, Checked
from rfview.capture.client import Client
from rfview.engine.check.functional import CheckedFunctionalSimulator
from tests.capture.driven import driven

ROOT = Path(__file__).resolve().parents[2]
SIZE = 128
PTX = """.version 8.0
.target sm_75
.address_size 64
.global .align 4 .u32 table[32];
.extern .func (.param .b64 found) malloc (.param .b64 size);
.visible .entry load(.param .u64 from, .param .u64 to)
{
    .reg .b64 %rd<6>; .reg .b32 %r<4>;
    ld.param.u64 %rd1, [from]; ld.param.u64 %rd2, [to];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;
    ld.global.u32 %r2, [%rd4];
    st.global.u32 [%rd5], %r2;
    ret;
}
.visible .entry make(.param .u64 to, .param .u32 filled)
{
    .reg .b64 %rd<6>; .reg .b32 %r<4>; .reg .pred %p<2>;
    ld.param.u64 %rd1, [to]; ld.param.u32 %r1, [filled];
    {
    .param .b64 size; .param .b64 found;
    st.param.b64 [size], 128;
    call.uni (found), malloc, (size);
    ld.param.b64 %rd2, [found];
    }
    st.global.u64 [%rd1], %rd2;
    mov.u32 %r2, 0;
NEXT:
    setp.ge.u32 %p1, %r2, %r1;
    @%p1 bra DONE;
    mul.wide.u32 %rd3, %r2, 4;
    add.u64 %rd4, %rd2, %rd3;
    st.u32 [%rd4], %r2;
    add.u32 %r2, %r2, 1;
    bra NEXT;
DONE:
    ret;
}
"""


class Life:
    """A program under the checker: memory, and the number of findings of each launch."""

    def __init__(self, client: Client, checked: Checked) -> None:
        self.client, self.checked, self.module = client, checked, client.load(PTX)
        self.to = client.malloc(SIZE)

    def new(self, kind: int = wire.KIND_DEVICE) -> int:
        """Allocate an array."""
        return self.client.malloc(SIZE, kind)

    def launch(self, kernel: str, *values: int, threads: int = 32) -> list[tuple[str, int]]:
        """Launch a kernel; return the kinds of its findings, with how many lanes."""
        self.checked._defects.clear()
        self.client.launch(self.module, kernel, (1, 1, 1), (threads, 1, 1), 0, list(values))
        return [(one.finding.kind, one.finding.count) for one in self.checked.defects]

    def load(self, address: int) -> list[tuple[str, int]]:
        """Read an array in a kernel."""
        return self.launch("load", address, self.to)

    def heap(self, filled: int) -> int:
        """Allocate an array on the device's heap, of which a kernel fills so many words; return its address."""
        place = self.new()
        assert self.launch("make", place, filled, threads=1) == []
        return int.from_bytes(self.client.read(place, 8), "little")


def steps(life: Life) -> dict[str, list[tuple[str, int]]]:
    """Run through every way in which memory comes to be written, or not; return the findings of the launch that reads it."""
    client, found = life.client, {}
    never, written = life.new(), life.new()
    client.write(written, bytes(SIZE))
    found["never written"] = life.load(never)
    found["never written, read again"] = life.load(never)
    found["copied from the host"] = life.load(written)
    filled = life.new()
    client.fill(filled, 0, SIZE)
    found["filled"] = life.load(filled)
    part = life.new()
    client.fill(part + 4, 0, 61)
    found["filled in part, from one word on to a byte of another"] = life.load(part)
    copy = life.new()
    client.copy(copy, never, SIZE)
    found["copied from what was never written"] = life.load(copy)
    client.copy(copy + 4, written, SIZE - 4)
    found["all but a word copied from what was written"] = life.load(copy)
    client.copy(written, never + 64, 64)
    found["half of it copied over"] = life.load(written)
    by_kernel = life.new()
    life.launch("load", filled, by_kernel)
    found["written by an earlier launch"] = life.load(by_kernel)
    client.free(by_kernel)
    again = life.new()
    found["freed and allocated again"] = life.load(again)
    found["at the same address"] = [("same", int(again == by_kernel))]
    found["of the host"], found["managed"] = life.load(life.new(wire.KIND_HOST)), life.load(life.new(wire.KIND_MANAGED))
    found["a variable of the module"] = life.load(client.symbol(life.module, "table")[0])
    found["device malloc, filled"], found["device malloc, half filled"] = life.load(life.heap(32)), life.load(life.heap(16))
    return found


def main() -> None:
    """Print the findings of every step as JSON."""
    checked = Checked()
    with driven(values_kind=CheckedFunctionalSimulator, by_values=True, ran=checked, capacity=CAPACITY, tracks=True) as (client, _device, _said):
        print(json.dumps(steps(Life(client, checked))))


@pytest.fixture(scope="module")
def found() -> dict[str, list[list]]:
    """Return the findings of every step, checked in a separate process: this one runs unchecked machines."""
    done = subprocess.run([sys.executable, "-c", "from tests.capture.test_lifetimes import main; main()"], cwd=ROOT,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(("step", "lanes"), [
    ("never written", 32), ("never written, read again", 32), ("copied from the host", 0), ("filled", 0),
    ("filled in part, from one word on to a byte of another", 17), ("copied from what was never written", 32),
    ("all but a word copied from what was written", 1), ("half of it copied over", 16), ("written by an earlier launch", 0),
    ("freed and allocated again", 32), ("of the host", 0), ("managed", 0), ("a variable of the module", 0),
    ("device malloc, filled", 0), ("device malloc, half filled", 16),
])
def test_what_nothing_has_written_is_found_when_a_kernel_reads_it(found: dict, step: str, lanes: int) -> None:
    assert found[step] == ([["unwritten-global", lanes]] if lanes else [])


def test_the_memory_allocated_again_is_the_one_that_a_kernel_wrote(found: dict) -> None:
    assert found["at the same address"] == [["same", 1]]
