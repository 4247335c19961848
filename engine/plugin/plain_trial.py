"""The first cycles of a design as plain Python: `python -m rfview.engine.plugin.plain_trial DESIGN`.

Compiled code checks no bounds: an index past an array, or an unknown stall code, silently overwrites other
state. NumPy raises instead. Prints what went wrong in one sentence and exits with 1, or exits with 0.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from rfview.engine import IMPORT_ROOT
from rfview.engine import defaults, events, plugin as designs, kernels
from rfview.engine.errors import InputError, RfviewError
from rfview.engine.launch import load_launch_file
from rfview.engine.machine.cores.subcore.stalls import STATES as SUBCORE_STATES
from rfview.engine.plugin import on_subcore, plain_records
from rfview.engine.stalls import STALLS
from rfview.engine.state import MAX_EVENTS

# kernel, scheduler, cycles: a few hundred a second
RUNS = (("vectoradd", "lrr", 200), ("hotspot", "two_level", 250))
ON_SUBCORE = ("vectoradd", "ampere", 300)      # kernel, preset, cycles: of designs with hooks for it
PATIENCE_S = 20         # a cycle that takes longer than this is considered endless
REFUSING = ("begin_cycle", "read", "write_back", "issue_check", "on_leave")


def trial(variant: str) -> str:
    """Run a design's first cycles in a child process without the compiler; return what went wrong, "" if nothing."""
    command = [sys.executable, "-m", "rfview.engine.plugin.plain_trial", designs.files.absolute(variant)]
    done = subprocess.run(command, cwd=IMPORT_ROOT, env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
                          capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else (done.stdout.strip() or done.stderr.strip().splitlines()[-1])


def main(variant: str) -> int:
    """Run the trial in this process; print the mistake, if there is one."""
    from rfview.engine.simulator import Simulator      # start-up: the parent needs no machine

    module = designs.find(designs.parse_variant(variant)[0])
    path = str(module.__file__)
    for name in (*REFUSING, "bank_of", *on_subcore.HOOKS):
        if hasattr(module, name):
            setattr(module, name, _checked(module, name, getattr(module, name)))
    runs = [(kernel, defaults.PRESET, scheduler, cycles) for kernel, scheduler, cycles in RUNS]
    if on_subcore.runs(module.DESIGN.name):
        kernel, preset, cycles = ON_SUBCORE
        runs.append((kernel, preset, defaults.OF_CORE, cycles))
    for kernel, preset, scheduler, cycles in runs:
        machine = None
        try:
            machine = Simulator(load_launch_file(kernels.path(kernel)), design=variant, scheduler=scheduler, preset=preset)
            with Watch(path, f"{kernel}, {scheduler}") as watch:
                for _ in range(cycles):
                    watch.cycle_begins(machine.cycle)
                    machine.step(1)
            _require_own_events(machine)
        except RfviewError as error:
            print(error)
            return 1
        except Exception as error:  # whatever the design's code raises is for its author to fix
            place = _place(traceback.extract_tb(error.__traceback__), path)
            when = f"cycle {machine.cycle:,}" if machine else "before the first cycle"
            print(f"{type(error).__name__}{place}: {error}; {kernel}, {scheduler}, {when}")
            return 1
    return 0


def _require_own_events(machine: Any) -> None:
    """Raise InputError if counters were used that belong to no event: they are shown and recorded nowhere."""
    first = events.FIRST_DESIGN_EVENT + len(machine.built.events)
    unnamed = [index for index in (*range(len(events.EVENTS), events.FIRST_DESIGN_EVENT), *range(first, MAX_EVENTS))
               if machine.sm.events[index] != 0]
    if unnamed:
        raise InputError(f"counts event spec.first_event + {unnamed[0] - events.FIRST_DESIGN_EVENT}, but has "
                         f"{len(machine.built.events)} events")


class Watch:
    """A watchdog thread that ends the process if one cycle takes longer than PATIENCE_S.

    path: the design's file. run: the kernel and scheduler, for messages.
    """

    def __init__(self, path: str, run: str):
        self._path, self._run = path, run
        self._thread = threading.get_ident()
        self._ended = threading.Event()
        self.cycle_begins(0)
        threading.Thread(target=self._look, daemon=True).start()

    def cycle_begins(self, cycle: int) -> None:
        """Restart the time for the next cycle."""
        self._began = (cycle, time.monotonic())      # one assignment: the other thread sees both or neither

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()

    def _look(self) -> None:
        """Sleep until the cycle's time is over; again if another cycle has started meanwhile."""
        while True:
            cycle, began = self._began
            if self._ended.wait(max(0.0, began + PATIENCE_S - time.monotonic())):
                return
            if self._began == (cycle, began):
                self._give_up(cycle)

    def _give_up(self, cycle: int) -> None:
        """End this process, reporting where in the design's file the run loops."""
        place = _place(traceback.extract_stack(sys._current_frames()[self._thread]), self._path)
        try:
            print(f"not finished{place} after {PATIENCE_S} s; {self._run}, cycle {cycle:,}", flush=True)
        finally:        # nobody reads it if the parent was killed
            os._exit(1)


def _place(frames: Iterable[traceback.FrameSummary], path: str) -> str:
    """Return " in HOOK (FILE, line N: TEXT)" for the innermost frame in a file, "" if there is none."""
    own = [frame for frame in frames if frame.filename == path]
    return f" in {own[-1].name} ({Path(path).name}, line {own[-1].lineno}: {own[-1].line})" if own else ""


def _checked(module: ModuleType, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a hook that checks its own result: an existing stall code or bank."""
    of_core = SUBCORE_STATES if name in on_subcore.HOOKS else STALLS
    codes = {0, *(stall.code for stall in (*of_core, *module.DESIGN.stalls))}

    @functools.wraps(function)
    def call(sm: Any, *arguments: Any) -> Any:
        answer = function(sm, *arguments)
        if name == "bank_of" and not 0 <= int(answer) < int(sm.config.num_banks):
            raise InputError(f"hook bank_of: returns {int(answer)}, but the banks are 0 to {int(sm.config.num_banks) - 1}")
        if name in REFUSING and int(answer) not in codes and not module.DESIGN.takes_main:
            raise InputError(f"hook {name}: returns {int(answer)}, which is not a stall code of the machine or the design")
        most = on_subcore.HOOKS.get(name)
        if most is not None and (int(answer) > most or -min(0, int(answer)) not in codes):
            raise InputError(f"hook {name}: returns {int(answer)}, expected 0 to {most} cycles, or minus a stall code "
                             "of the machine or the design")
        return answer

    return call


if __name__ == "__main__":
    plain_records.install()
    sys.exit(main(sys.argv[1]))
