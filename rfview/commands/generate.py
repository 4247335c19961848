"""`rfview generate`: write a kernel with chosen register traffic, its launch file and its expected result."""

from __future__ import annotations

import argparse
import json
import re
import shlex
from dataclasses import fields

from rfview.engine import files
from rfview.engine.errors import InputError
from rfview.commands import options

EPILOG = """examples:
  rfview generate conflicts --reuse 16 --stride 16 --held 0     operands all in one bank of 16
  rfview generate young --reuse 1 --loads 0 --warps 8           each instruction reads what the one before wrote
  rfview generate split --divergence 0.5 --loads 0.2 --kind int
then: rfview run conflicts/conflicts.toml   or   rfview compare conflicts/conflicts.toml --plot stalls"""
NAME = re.compile(r"[A-Za-z_]\w*\Z")
HELP = {
    "reuse": "how old the youngest source is, in instructions",
    "stride": "how many registers the three sources are apart",
    "held": "values that stay live and are not used in the loop, for pressure",
    "instructions": "in the loop's body",
    "rounds": "of the loop",
    "loads": "share of the body that loads from global memory",
    "shared": "share of the body that loads from shared memory",
    "divergence": "share of the body that runs on half of the lanes, then on the others",
    "warps": "in all; a CTA has up to 8",
    "kind": "of the values: float or int",
    "seed": "seed of the random numbers",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options: those of the pattern, and where to write."""
    from rfview.engine.tools.synthetic import Pattern

    parser.add_argument("name", metavar="NAME", help="name of the kernel and of its files")
    for one in fields(Pattern):
        kind = {"int": int, "float": float}.get(str(one.type), str)
        parser.add_argument(f"--{one.name}", type=kind, default=one.default, metavar="N" if kind is not str else "KIND",
                            help=f"{HELP[one.name]} (default {one.default})")
    parser.add_argument("-o", "--output", metavar="FOLDER", help="the folder to write (default NAME)")
    options.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Write the files and report their contents."""
    import numpy as np

    from rfview.engine.launch import load_launch_file
    from rfview.engine.tools import synthetic

    if not NAME.match(args.name):
        raise InputError(f"generate {args.name}: expected a name of letters, digits and _")
    pattern = synthetic.Pattern(**{one.name: getattr(args, one.name) for one in fields(synthetic.Pattern)})
    folder = options.writable_folder(args.output or args.name)
    file = folder / f"{args.name}.toml"
    files.write(folder / f"{args.name}.ptx", synthetic.ptx(pattern, args.name))
    files.write(file, synthetic.launch(pattern, args.name, expected=False))
    data = load_launch_file(file).buffers["data"].array
    with files.writing(folder / f"{args.name}_expected.npy") as out:
        np.save(out, synthetic.expected(pattern, data))
    files.write(file, synthetic.launch(pattern, args.name))
    same = {banks: synthetic.same_bank_share(folder / f"{args.name}.ptx", args.name, banks) for banks in (16, 2)}
    if args.json:
        made = {one.name: getattr(pattern, one.name) for one in fields(pattern)}
        print(json.dumps({"file": str(file), "registers": pattern.values, "same_bank_share": same, **made}))
    else:
        print(f"{file}: {synthetic.text_of(pattern)}\nall three sources are in one bank of 16 in {same[16]:.0%} of its "
              f"arithmetic, in one of 2 in {same[2]:.0%}\ntry: rfview run {shlex.quote(str(file))}\n"
              f"     rfview compare {shlex.quote(str(file))} --designs sram,hrf --plot stalls")
    return 0
