"""The handlers of all requests, by their names in the protocol."""

from __future__ import annotations

from rfview.dap.conversation import Handler
from rfview.dap.requests import beginning, breakpoints, expressions, looking, moving

REQUESTS: dict[str, Handler] = {
    **beginning.HANDLERS, **looking.HANDLERS, **expressions.HANDLERS, **moving.HANDLERS, **breakpoints.HANDLERS,
}
BEFORE_LAUNCH = ("initialize", "launch", "attach", "disconnect", "terminate")       # those answered before a launch
