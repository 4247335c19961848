"""The REGISTER FILE panel: the lens of the design in use."""

from __future__ import annotations

from rfview.widgets.panel import PanelView


class LensView(PanelView):
    """The register file at this cycle; painted by render/lens.py and one file per design."""

    DEFAULT_CSS = """
    LensView { layer: base; }
    """
    panel = "lens"
    help = "j k choose a bank; . and , go to the next and last change of its queue."
