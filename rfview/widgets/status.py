"""The status row: what runs, where in time, how fast, whether all warps are accounted for."""

from __future__ import annotations

from rfview.widgets.panel import PanelView


class StatusView(PanelView):
    """The row that nothing ever covers; painted by render/status.py."""

    DEFAULT_CSS = """
    StatusView { layer: base; }
    """
    panel = "status"
    help = "Kernel, design, scheduler, preset; live or past; cycle; IPC over 1,024 cycles; Σ: warps with exactly one state."
