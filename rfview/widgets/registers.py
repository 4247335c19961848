"""The REGISTERS view: the focused warp's registers by lane."""

from __future__ import annotations

from rfview.widgets.panel import PanelView


class RegistersView(PanelView):
    """Registers with their PTX names, a column per lane; painted by render/registers.py."""

    DEFAULT_CSS = """
    RegistersView { layer: base; }
    """
    panel = "registers"
    help = "j k choose a register, H L move over the lanes, F changes the number format."
