"""Checking the run of a session: from cycle 0 to its end, in a separate process, so that the session is not affected."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rfview.engine import IMPORT_ROOT
from rfview.engine.check.findings import Findings
from rfview.engine.errors import InputError

if TYPE_CHECKING:
    from rfview.sessions.session import Session

POLL_SECONDS = 0.1


def check(session: Session, report: Callable[[float], object] | None = None) -> Findings:
    """Return the findings of a check of a session's run; the result is cached.

    report: called periodically with the seconds since the start, may return True to stop; default: session.progress.
    Cycles are those of the session: a checked run takes as many. Raises InputError for a branch with
    changes, or a recording that cannot be simulated again.
    """
    if "check" not in session.memo:
        if session.branch is not None and session.branch.changes:
            raise InputError("check: this branch was changed after cycle 0, where a check begins; "
                             "check the session that it was forked from")
        progress = session.progress
        if report is None and progress is not None:
            report = lambda seconds: progress(session.cycle)
        session.memo["check"] = _apart(run_of(session), report)
    return session.memo["check"]


def run_of(session: Session) -> dict[str, Any]:
    """Return the arguments of a simulator of a session's run, as plain data."""
    from rfview.sessions.timeline.live import LiveTimeline
    from rfview.sessions.timeline.replay import RecordedTimeline

    timeline = session.timeline
    if isinstance(timeline, LiveTimeline):
        simulator = timeline.simulator
    elif not isinstance(timeline, RecordedTimeline):
        raise InputError("check: this session has no run that can be simulated again")
    else:
        from rfview.sessions.timeline.simulate import simulator_of      # imports numba

        simulator = simulator_of(timeline)
    return {
        "spec": simulator.spec, "design": simulator.variant, "scheduler": simulator.scheduler,
        "preset": simulator.config.preset,
        "settings": {**simulator.config.values(), **simulator.built.values}, "seed": simulator.seed,
        "max_cycles": simulator.max_cycles, "source": (simulator.module.text, simulator.module.path),
    }


def _apart(run: dict[str, Any], report: Callable[[float], object] | None) -> Findings:
    """Check a run in a separate process. Raises InputError with that process's error."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as given:     # a pipe might fill before the child reads
        pickle.dump(run, given)
        given.seek(0)
        child = subprocess.Popen([sys.executable, "-m", "rfview.engine.check.child"], cwd=IMPORT_ROOT, stdin=given,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with child:
        try:
            while True:
                try:
                    out, errors = child.communicate(timeout=POLL_SECONDS)
                    break
                except subprocess.TimeoutExpired:
                    if report is not None and report(time.monotonic() - began):
                        raise InputError("check: stopped before its end") from None
        except BaseException:
            child.kill()
            raise
    if child.returncode:
        lines = errors.decode(errors="replace").strip().splitlines()
        raise InputError(f"check: {lines[-1] if lines else f'its process ended with code {child.returncode}'}")
    return Findings.of_dict(json.loads(out))
