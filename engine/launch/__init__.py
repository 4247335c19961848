"""Launch files: TOML that describes a kernel's launches, buffers and expected results.

Nothing here knows PTX or the machine: the module's path is passed on unread, and parameters are packed according to
declarations that the caller parsed. Anything missing, unknown, of the wrong type or out of range ends in one
`LaunchError`.

    files  table        reads and checks a launch file; one TOML table, and the error that names file and key
    spec                a launch file as data
    arrays  pointers    contents of buffers; given addresses, and addresses inside arguments, buffers and symbols
    textures  repeats   [textures.NAME] tables; the launches of a host's loop, unrolled
    params              a kernel's parameter block
    placement           places kernels, buffers, symbols and CTAs in the machine
    given               a launch over memory in an arena that others own
    smallest            one warp that ends immediately
    sources             texts of the source files that the PTX names
    kernel_names        finds a module's kernel by name
    mangling            C++ names in mangled names
    results             compares memory after a run with the expected results
"""

from rfview.engine.launch.files import launch_of_text, load_launch_file
from rfview.engine.launch.params import ParamDecl, pack_params
from rfview.engine.launch.results import Mismatch, quality, verify
from rfview.engine.launch.spec import Arg, Buffer, Expect, Launch, LaunchSpec
from rfview.engine.launch.table import LaunchError

__all__ = ["Arg", "Buffer", "Expect", "Launch", "LaunchError", "LaunchSpec", "Mismatch", "ParamDecl", "launch_of_text",
           "load_launch_file", "pack_params", "quality", "verify"]
