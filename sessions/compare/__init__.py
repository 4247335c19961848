"""Comparing runs of one program: issues aligned by warp and count, divergence, lead and lag, and their summary."""

from __future__ import annotations

from rfview.sessions.compare.comparison import Comparison, Divergence, Lead, Split, has_ended
from rfview.sessions.compare.issues import Issue, IssueLog, WarpName
from rfview.sessions.compare.values import ValueDifference

__all__ = ["Comparison", "Divergence", "Issue", "IssueLog", "Lead", "Split", "ValueDifference", "WarpName",
           "has_ended"]
