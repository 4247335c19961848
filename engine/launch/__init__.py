"""Launch files: the TOML that brings a kernel, its launches, buffers and expected results.

Nothing here knows PTX or the machine: the module's path is handed on as it is, and parameters are packed against
declarations that the caller parsed. Whatever is missing, unknown, mistyped or out of range ends in one `LaunchError`.

    files  table        a launch file read and checked; one TOML table, and the error that names file and key
    spec                a launch file as data
    arrays  pointers    contents of buffers; addresses that are given, and those inside arguments, buffers and symbols
    textures  repeats   [textures.NAME] tables; the launches of a host's loop written out
    params              a kernel's parameter block
    placement           where kernels, buffers, symbols and CTAs lie in the machine
    given               a launch over memory that lies in somebody else's arena
    sources             texts of the source files that the PTX names
    kernel_names        which kernel of a module a name means
    mangling            C++ names in mangled names
    results             what a run left in memory beside what was expected
"""

from rfview.engine.launch.files import launch_of_text, load_launch_file
from rfview.engine.launch.params import ParamDecl, pack_params
from rfview.engine.launch.results import Mismatch, quality, verify
from rfview.engine.launch.spec import Arg, Buffer, Expect, Launch, LaunchSpec
from rfview.engine.launch.table import LaunchError

__all__ = ["Arg", "Buffer", "Expect", "Launch", "LaunchError", "LaunchSpec", "Mismatch", "ParamDecl", "launch_of_text",
           "load_launch_file", "pack_params", "quality", "verify"]
