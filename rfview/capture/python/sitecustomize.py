"""Python imports this when a captured program starts it: launches of that process are captured like those of the script."""

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [_path for _path in sys.path if os.path.abspath(_path or os.curdir) != _HERE]
if "RFVIEW_LINK" in os.environ and sys.version_info >= (3, 9):
    import runpy

    runpy.run_path(os.path.join(_HERE, "start.py"))["hook"]()

_ours = sys.modules.pop(__name__)
try:
    __import__(__name__)        # the environment's own
except ImportError:
    sys.modules[__name__] = _ours
