"""Comparing runs of one program: issues aligned by warp and count, divergence, lead and lag, and their summary.

    issues        when each warp issued its n-th instruction
    comparison    first divergence, lead and lag, one run's place for a place of the other
    values        where the runs come to hold different data
    machines      in what the machines differ beside their register files
    report        all of that as plain data and as text
"""

from __future__ import annotations

from rfview.sessions.compare.comparison import Comparison, Divergence, Lead, Split, has_ended
from rfview.sessions.compare.issues import Issue, IssueLog, WarpName
from rfview.sessions.compare.values import ValueDifference

__all__ = ["Comparison", "Divergence", "Issue", "IssueLog", "Lead", "Split", "ValueDifference", "WarpName",
           "has_ended"]
