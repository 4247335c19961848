"""Launch files: the TOML that brings a kernel, its launches, buffers and expected results.

Nothing here knows PTX or the machine: the module's path is handed on as it is, and parameters are packed against
declarations that the caller parsed. Whatever is missing, unknown, mistyped or out of range ends in one `LaunchError`.
"""

from rfview.engine.launch.files import launch_of_text, load_launch_file
from rfview.engine.launch.params import ParamDecl, pack_params
from rfview.engine.launch.results import Mismatch, quality, verify
from rfview.engine.launch.spec import Arg, Buffer, Expect, Launch, LaunchSpec
from rfview.engine.launch.table import LaunchError

__all__ = ["Arg", "Buffer", "Expect", "Launch", "LaunchError", "LaunchSpec", "Mismatch", "ParamDecl", "launch_of_text",
           "load_launch_file", "pack_params", "quality", "verify"]
