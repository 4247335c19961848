"""The functions of all requests, by the name that the protocol gives each."""

from __future__ import annotations

from rfview.dap.conversation import Handler
from rfview.dap.requests import beginning, breakpoints, expressions, looking, moving

REQUESTS: dict[str, Handler] = {
    **beginning.HANDLERS, **looking.HANDLERS, **expressions.HANDLERS, **moving.HANDLERS, **breakpoints.HANDLERS,
}
BEFORE_LAUNCH = ("initialize", "launch", "attach", "disconnect", "terminate")       # what is answered before a launch
