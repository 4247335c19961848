"""The COLLECTORS panel: operand collectors, pipes and the memory unit."""

from __future__ import annotations

from rfview.widgets.panel import PanelView


class CollectorsView(PanelView):
    """Operands that are here, awaited or refused; painted by render/collectors.py."""

    DEFAULT_CSS = """
    CollectorsView { layer: base; }
    """
    panel = "collectors"
    help = "■ here, □ waits, x lost its bank in this cycle."
