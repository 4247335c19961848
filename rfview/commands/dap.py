"""`rfview dap`: a debug adapter for editors, over standard input and output."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import suppress

from rfview.ending import Ended

EPILOG = """editors start this command themselves. In VS Code, once:
  rfview dap --vsix rfview.vsix && code --install-extension rfview.vsix
In Neovim with nvim-dap:
  local dap = require("dap")
  dap.adapters.rfview = { type = "executable", command = "rfview", args = { "dap" } }
  dap.configurations.ptx = {{ type = "rfview", request = "launch", name = "vectoradd on hrf",
                              program = "vectoradd", design = "hrf", scheduler = "lrr" }}
  -- backwards in time: dap.step_back(), dap.reverse_continue()
In Emacs with dape:
  (add-to-list 'dape-configs
    '(rfview modes (prog-mode) command "rfview" command-args ("dap")
             :type "rfview" :request "launch" :program "vectoradd" :design "hrf"))
launch takes program (a session file, launch file, bundled kernel, CUDA program or script, or FILE.cu::KERNEL), args (a
program's, or ["--grid", "4", "--arg", "n=64"] of a kernel), launch (which of a program's launches), design, scheduler,
preset, settings ({"hrf.write_cycles": 2}), stopOnEntry; warps appear as threads; the console takes debugger commands
(`rfview help commands`), also reload, which runs an edited or rebuilt program again"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--vsix", metavar="FILE", help="write the VS Code extension to a file instead")


def run(args: argparse.Namespace) -> int:
    """Serve the editor until it disconnects, or write the extension."""
    if args.vsix is not None:
        from rfview.dap import vsix

        vsix.write(args.vsix)
        print(f"{args.vsix}: code --install-extension {args.vsix}")
        return 0
    from rfview.dap.adapter import Adapter
    from rfview.dap.wire import Wire

    # nothing else may read or print between the messages
    source, target = os.fdopen(os.dup(sys.stdin.fileno()), "rb"), os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        Adapter(Wire(source, target)).serve()
    except Ended as stop:           # editors end their adapters like this: no error to show
        return int(stop.code or 0)
    finally:
        with suppress(OSError):     # the editor may be gone before it has read the last response
            target.close()
    return 0
