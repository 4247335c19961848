"""A chart that notebooks show as a picture: without a script from the network, and in exported HTML as well."""

from __future__ import annotations

import io
from importlib.util import find_spec
from typing import Any

import altair


class DrawnChart(altair.Chart):
    """An altair.Chart that is displayed as SVG, drawn by vl-convert."""

    def _repr_mimebundle_(self, *args: Any, **more: Any) -> dict[str, str]:
        """Return the picture; without vl-convert, which package draws it."""
        if find_spec("vl_convert") is None:     # what altair.Chart.save draws with
            return {"text/plain": "a chart; pip install 'rfview[notebook]' installs vl-convert, which draws it"}
        picture = io.StringIO()
        self.save(picture, format="svg")
        return {"image/svg+xml": picture.getvalue(), "text/plain": "a chart"}
