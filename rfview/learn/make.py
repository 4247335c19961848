"""Re-records the bundled recordings: `python -m rfview.learn.make [bundled | TOUR ...]`; needs the machine."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import zstandard

from rfview.sessions.codec import streams

# of the recording that plain `rfview` shows; the run itself is longer. The pictures of screens use the same chunk size
BUNDLED_CYCLES, CHUNK_CYCLES = 16_384, 1024


def main(names: Sequence[str]) -> int:
    """Record the recordings named, or all: the one that plain `rfview` shows, and the runs of the guided tours."""
    from rfview import cli
    from rfview.engine.wording import known_words
    from rfview.learn.tours import TOURS

    known_words(names, ["bundled", *TOURS])
    # in place of the level for recording while a machine runs: these are compressed once and installed often
    streams.FAST = zstandard.ZstdCompressionParameters.from_level(19)
    if not names or "bundled" in names:
        record_bundled()
    for tour in TOURS.values():
        if not names or tour.name in names:
            tour.recording.parent.mkdir(exist_ok=True)
            code = cli.main(["record", str(tour.launch), *tour.machine_options(), "--output", str(tour.recording)])
            if code:
                return code
    return 0


def record_bundled() -> None:
    """Record the beginning of vectoradd on hrf."""
    from rfview.commands.first import bundled_recording
    from rfview.engine.kernels import path
    from rfview.engine.launch import load_launch_file
    from rfview.engine.simulator import Simulator
    from rfview.sessions.file.writer import record

    simulator = Simulator(load_launch_file(path("vectoradd")), design="hrf")
    record(simulator, bundled_recording(), max_cycles=BUNDLED_CYCLES, chunk_cycles=CHUNK_CYCLES)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
