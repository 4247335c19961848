"""Comparing runs: of one program instruction by instruction, with divergence, lead and lag; of two programs line by line.

    issues        when each warp issued its n-th instruction
    comparison    first divergence, lead and lag, the cycle of one run that corresponds to a cycle of the other
    values        where the runs' data begin to differ
    machines      differences between the machines other than their register files
    report        all of this as plain data; report_text: the same as text
    launches      which launches of two runs belong together
    edits         which lines of two programs, or of two versions of one, belong together
    programs      what each of these lines waits in both runs; programs_text: the same as text
    runs          either comparison of two runs, as their programs allow
"""

from __future__ import annotations

from rfview.sessions.compare.comparison import Comparison, Divergence, Lead, Split, has_ended
from rfview.sessions.compare.issues import Issue, IssueLog, WarpName
from rfview.sessions.compare.values import ValueDifference

__all__ = ["Comparison", "Divergence", "Issue", "IssueLog", "Lead", "Split", "ValueDifference", "WarpName",
           "has_ended"]
