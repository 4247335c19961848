"""The run in a recording, simulated again from its keyframes: the cycles that have no chunk in the file."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rfview.engine.chunk import CHUNK_CYCLES, Chunk
from rfview.engine.errors import InputError, KernelFault, RfviewError
from rfview.engine.plugin import origin
from rfview.sessions.byte_cache import ByteCache
from rfview.sessions.codec import pages
from rfview.sessions.file import framing, keyframe
from rfview.sessions.file.framing import Damage
from rfview.sessions.file.index import RADIX, level_of
from rfview.sessions.file.keyframe import ARRAYS
from rfview.sessions.timeline.live import LiveTimeline, Memory
from rfview.sessions.timeline.simulate import simulator_of

if TYPE_CHECKING:
    from rfview.sessions.timeline.replay import RecordedTimeline


class StoredKeyframes:
    """The keyframes of a file, and number 0, the machine at cycle 0; the machine is only given those known to be right.

    These are the ones that this user's rfview has sealed, and those that equal a machine that has run up to them. A
    checkpoint of one is good until the next is made: fresh memory of this size costs more than copying.
    cycles: of all of them, ascending. read: returns the payload of a keyframe by its number; raises Damage.
    """

    def __init__(self, machine: Any, cycles: list[int], read: Callable[[int], bytes], is_sealed: Callable[[bytes], bool]):
        self.cycles = [machine.cycle, *cycles]
        self._made, self._read, self._is_sealed = machine.checkpoint(), read, is_sealed
        self._first = replace(machine.checkpoint(), arena=machine.initial_memory)
        arrays = [getattr(self._first, name) for name in ARRAYS]
        self._begin = np.cumsum([0, *map(pages.number_of, arrays)])
        # by number: a hash of what is known to be right; b"" for what must be reached first
        self._right: dict[int, bytes] = {}
        self._wrong: set[int] = set()

    def before(self, cycle: int) -> int:
        """Return the cycle of the last keyframe at or before `cycle` that may be used."""
        number = bisect_right(self.cycles, cycle) - 1
        while not self._may_use(number):
            number -= 1
        return self.cycles[number]

    def _may_use(self, number: int) -> bool:
        """Return whether a keyframe, and those that it is based on, are known to be right."""
        if number and number not in self._right:
            try:
                payload = self._read(number)
                self._right[number] = keyframe.hash_of(payload) if self._is_sealed(payload) else b""
            except Damage:
                self._right[number] = b""
                self._wrong.add(number)
        return not number or (bool(self._right[number]) and self._may_use(based_on(number)))

    def get(self, cycle: int, like: Any = None) -> Any:
        """Return a keyframe as a checkpoint; raises InputError if the file has been changed. like: ignored."""
        try:
            return self._checkpoint(bisect_left(self.cycles, cycle), self._right)
        except Damage as error:
            raise InputError(f"the keyframe of cycle {cycle:,} cannot be read: {error}") from None

    def _checkpoint(self, number: int, right: Mapping[int, bytes]) -> Any:
        """Return a keyframe as a checkpoint; raises Damage. right: the hashes that it and those before it must have."""
        if not number:
            return self._first
        arrays = {name: getattr(self._made, name) for name in ARRAYS}
        for name, array in arrays.items():
            array[:] = getattr(self._first, name)
        left = np.ones(int(self._begin[-1]), bool)
        bodies = []
        while number:
            payload = self._read(number)
            if right and keyframe.hash_of(payload) != right[number]:
                raise Damage("the file has been written to since it was opened")
            stored = keyframe.unpack(payload, len(left))
            if (stored.number, stored.cycle) != (number, self.cycles[number]):
                raise Damage(f"keyframe {stored.number} of cycle {stored.cycle:,} is in its place")
            fresh = left[stored.places]
            self._put(arrays, stored.places[fresh], stored.contents[fresh])
            left[stored.places] = False
            bodies.append(stored)
            number = based_on(number)
        body = bodies[0].body
        return replace(self._first, cycle=bodies[0].cycle, launch_index=body.launch_index, finished=body.finished,
                       num_printed=body.num_printed, **arrays)

    def distrust(self) -> None:
        """Use no keyframe that has not been reached, sealed or not."""
        self._is_sealed = lambda payload: False

    def _put(self, arrays: dict[str, np.ndarray], places: np.ndarray, contents: np.ndarray) -> None:
        """Write pages to the arrays that they are of."""
        for at, array in enumerate(arrays.values()):
            low, high = np.searchsorted(places, self._begin[at : at + 2])
            pages.put(array, places[low:high] - self._begin[at], contents[low:high])

    def differs(self, machine: Any) -> str:
        """Compare the machine with a keyframe of its cycle that is not known to be right; return what differs, or ""."""
        number = bisect_left(self.cycles, machine.cycle)
        if self.cycles[number : number + 1] != [machine.cycle] or not number or number in self._wrong or (
                self._right.get(number)):
            return ""
        try:
            payload = self._read(number)
            stored, now = self._checkpoint(number, {}), machine.checkpoint(lend=True)
        except Damage:
            self._wrong.add(number)
            return ""
        same = [np.array_equal(getattr(stored, name), getattr(now, name)) for name in ARRAYS]
        same.append((stored.launch_index, stored.finished) == (now.launch_index, bool(now.finished)))
        if all(same):
            self._right[number] = keyframe.hash_of(payload)
        return " and ".join(what for what, is_same in zip(PARTS, same, strict=True) if not is_same)


DECODED_BYTES = 16 << 20        # in addition to the caches of stored chunks
LOOK_CYCLES = 1 << 20       # simulated between two reports of progress
PARTS = ("state", "register file", "registers", "memory", "launch")


def based_on(number: int) -> int:
    """Return the number of the keyframe whose pages a keyframe does not repeat."""
    return number - RADIX ** level_of(number)


class Again(LiveTimeline):
    """A recording's run, simulated again. Chunks, cycles and totals are numbered as in the recording; it runs no further."""

    def __init__(self, recording: RecordedTimeline, offsets: list[int], read: Callable[[int, bytes], bytes]):
        """offsets: of the keyframes. read: a frame by offset and tag; raises Damage. Raises InputError if it cannot run."""
        self._recording = recording
        machine = self._machine()
        super().__init__(machine, chunk_cycles=CHUNK_CYCLES, records=False)
        key = keyframe.own_key() if self._is_same_version(machine) else b""
        run = keyframe.hash_of(read(-1, framing.HEAD)) if key else b""
        self._keyframes: Any = StoredKeyframes(
            machine, recording.keyframe_cycles, lambda number: read(offsets[number - 1], framing.KEYFRAME),
            lambda payload: keyframe.is_sealed(payload, key, run))
        self._decoded, self._room = ByteCache(DECODED_BYTES), 0      # a keyframe is near
        self._starts = recording.chunk_starts()
        self.last, self.closed = recording.last, True
        self._lengths = np.diff([*self._starts, self.last]).tolist()

    def _machine(self) -> Any:
        """Return the machine at cycle 0; raises InputError unless it is that of the recording."""
        recording = self._recording
        try:
            if recording.first:
                raise InputError(f"the recording begins at cycle {recording.first:,}")
            machine = simulator_of(recording, progress=recording.compiling, max_cycles=recording.last + 1)
            layout = recording.layout
            if (machine.sm_dtype, machine.rf_dtype) != (layout.sm_dtype, layout.rf_dtype):
                raise InputError("this one's machine has other state")
        except RfviewError as error:
            raise self._cannot(str(error).removeprefix("fork: ")) from None
        return machine

    def _cannot(self, why: str) -> InputError:
        """Return the error that says what is needed for the cycles that are not stored."""
        recording = self._recording
        with suppress(InputError):      # its design is not here: `why` says so
            why = origin.edited(recording.info.design_spec) or why
        return InputError(f"{recording.path}: {recording.not_stored}; simulating them again "
                          f"needs rfview {recording.info.engine_version} ({recording.info.source_hash}), on which this was "
                          f"recorded: {why}")

    def _is_same_version(self, machine: Any) -> bool:
        info = self._recording.info
        return bool(machine.info.source_hash == info.source_hash) and not origin.edited(info.design_spec)

    def _leave(self) -> None:
        """Nothing is left behind: the run has ended."""

    def distrust(self) -> None:
        """Use no keyframe before the machine has reached it, sealed or not."""
        self._keyframes.distrust()

    def compare(self) -> None:
        """Compare the machine with the keyframe of its cycle, if there is one; raises InputError if they differ."""
        if what := self._keyframes.differs(self.simulator):
            raise self._cannot(f"here, cycle {self.simulator.cycle:,} is another one ({what})")

    def _rewind(self, cycle: int) -> None:
        """Move the machine to a cycle; raises InputError if it turns out to run differently."""
        super()._rewind(cycle)
        self.compare()      # it may have been there already, at the end of a chunk

    def _step(self, cycles: int) -> None:
        """Run some cycles, comparing the machine with every keyframe on the way that is not known to be right."""
        machine, stop, known = self.simulator, self.simulator.cycle + cycles, self._keyframes.cycles
        while machine.cycle < stop:
            number = bisect_right(known, machine.cycle)
            until = min([stop, machine.cycle + LOOK_CYCLES, *known[number : number + 1]])
            try:
                ran = machine.step(until - machine.cycle)
            except KernelFault as error:
                raise self._cannot(f"here, it stops: {error}") from None
            if not ran:
                raise self._cannot(f"here, it ends at cycle {machine.cycle:,}")
            self.compare()
            if self._recording.compiling is not None and until - stop + cycles >= LOOK_CYCLES:
                self._recording.compiling(None, f"simulating again: cycle {machine.cycle:,} of {stop:,}")

    def _again(self, number: int, **what: Any) -> tuple[Chunk, Memory | None]:
        """Simulate a chunk again; raises InputError if it is another one."""
        try:
            return super()._again(number, **what)
        except KernelFault as error:
            raise self._cannot(f"here, {error}") from None
