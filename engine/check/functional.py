"""The checker on the functional mode: the same findings, many times sooner; their moments are instructions of a warp."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rfview.engine import hooks
from rfview.engine.check import watching
from rfview.engine.check.machine import Checking
from rfview.engine.functional.machine import FunctionalSimulator, spec_dtype
from rfview.engine.machine import faults
from rfview.engine.machine_code import is_machine_code

NAME = "checked_values"
hooks.register(NAME, watching)


class CheckedFunctionalSimulator(Checking, FunctionalSimulator):
    """Runs launches by their values and looks for undefined behaviour."""

    @property
    def _bound(self) -> np.dtype:
        """Return the dtype of the parameter record that binds the loop's calls to the checker."""
        return super()._bound if is_machine_code(self.insts) else spec_dtype(NAME, Path(__file__).parent)

    def _compiling(self) -> list[str]:
        """Return the module that compiles the loop in a process of its own."""
        return super()._compiling() if is_machine_code(self.insts) else ["rfview.engine.check.warm"]

    def _note_report(self) -> None:
        """Add an access that was dropped to the reports; its moment is an instruction of its warp."""
        known = len(self.reports)
        faults.note_report(self)
        for report in self.reports[known:]:
            report.cycle = int(self.sm.warp[report.warp].num_issued)
