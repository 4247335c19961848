"""The PIPELINE panel: a click goes to its cycle, the wheel steps in time."""

from __future__ import annotations

from rfview.widgets.panel import PanelView


class PipelineView(PanelView):
    """One warp instruction by instruction; painted by render/pipeline.py."""

    DEFAULT_CSS = """
    PipelineView { layer: base; }
    """
    panel = "pipeline"
    help = "j k go to the next or previous instruction, + - zoom, a click goes to its cycle, the wheel steps in time."
