"""The CODE panel: instructions around the focused warp; a double click sets a breakpoint."""

from __future__ import annotations

from rfview.widgets.panel import PanelView


class CodeView(PanelView):
    """Decoded instructions or PTX source with breakpoints; painted by render/code.py."""

    DEFAULT_CSS = """
    CodeView { layer: base; }
    """
    panel = "code"
    help = "j k move the cursor, b sets a breakpoint there, t runs to it, p turns between decoded and PTX source."
