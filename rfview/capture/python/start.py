"""`python start.py script.py args` runs a script unchanged, with its launches captured, in the user's own Python."""

from __future__ import annotations

import os
import runpy
import sys
import traceback
import types


def _own_modules() -> types.SimpleNamespace:
    """Import rfview's modules for this side, without the rest of it, and return them; none stays in sys.modules."""
    home = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    for name, folder in (("rfview", home), ("rfview.capture", os.path.join(home, "capture")),
                         ("rfview.capture.python", os.path.join(home, "capture", "python"))):
        module = types.ModuleType(name)
        module.__path__ = [folder]
        sys.modules[name] = module
    from rfview.capture import client, messages, protocol
    from rfview.capture.python import hooks, numba_driver, torch_on_cpu, triton_driver, versions

    found = types.SimpleNamespace(client=client, hooks=hooks, numba=numba_driver, torch=torch_on_cpu, triton=triton_driver,
                                  versions=versions, wire=messages, protocol=protocol)
    for name in [name for name in sys.modules if name.partition(".")[0] == "rfview"]:
        del sys.modules[name]
    return found


def hook() -> types.SimpleNamespace:
    """Capture what numba-cuda and Triton launch in this process from here on; return rfview's modules."""
    own = _own_modules()
    machine = own.hooks.Machine(own.client.of_environment(), own.hooks.leave)
    sys.meta_path.insert(0, own.hooks.AfterImport({
        "numba.cuda": lambda: own.numba.install(machine), "triton": lambda: own.triton.install(machine),
        "torch": own.torch.leave_uncompiled,
    }))
    return own


def main() -> int:
    """Run the script; return its exit code."""
    own = hook()
    here, others = os.path.dirname(os.path.abspath(__file__)), os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([here, others] if others else [here])    # for Pythons that the script starts
    sys.argv = sys.argv[1:]
    script = sys.argv[0]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit:
        raise
    except (own.versions.UnknownVersion, own.protocol.LinkError) as error:
        print(f"rfview: error: {error}", file=sys.stderr)
        return 2
    except BaseException as error:
        _show(error, script)
        if type(error).__name__ == "OutOfResources" and "shared" in str(error):
            print("rfview: the machine's shared memory is a number of its preset: --set sm.shared_bytes=N gives it more",
                  file=sys.stderr)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0


def _show(error: BaseException, script: str) -> None:
    """Print a traceback as Python does, without the frames of this file and of runpy."""
    entry = error.__traceback__
    while entry is not None and entry.tb_frame.f_code.co_filename in (__file__, runpy.__file__, "<frozen runpy>"):
        entry = entry.tb_next
    traceback.print_exception(type(error), error, entry)


if __name__ == "__main__":
    sys.exit(main())
