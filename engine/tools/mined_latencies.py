"""Latencies mined from ptxas's code: the least sum of stall counts between a result of fixed latency and its first reader.

    python -m rfview.engine.tools.mined_latencies sm_80 [KERNEL,..]

ptxas knows how long each result takes, and writes it into control codes; over thousands of pairs of an instruction and
its reader the least distance is the latency of that pair of classes. Architectures without bundled listings take
ptxas and nvdisasm.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from rfview.engine import isa, kernels
from rfview.engine.machine.cores.subcore.classes import NO_BARRIER, classify
from rfview.engine.machine.cores.subcore.state import CLASSES
from rfview.engine.program import NO_PRED, NO_REG, UNIT_CTRL, Kernel
from rfview.engine.sass.load import listing_of_ptx
from rfview.engine.sass.module import module_of_listing

# those without a counter of their own are covered by a later one's
VARIABLE = ("xu", "special", "constant", *CLASSES[CLASSES.index("load_global"):])
FEW = 15        # pairs; of fewer, the least distance says little
Pair = tuple[str, str]


def bundled(architecture: str, names: Iterable[str]) -> Iterator[Kernel]:
    """Yield the bundled kernels of these launch files as machine code of an architecture such as "sm_80"."""
    for name in names:
        folder = Path(kernels.path(name)).parent
        listings = sorted(folder.glob(f"*.{architecture}.sass"))
        texts = [(path.read_text(encoding="utf-8"), str(path)) for path in listings] or [
            (listing_of_ptx(path.read_text(encoding="utf-8"), int(architecture[3:]), str(path)), str(path))
            for path in sorted(folder.glob("*.ptx"))]
        for text, path in texts:
            yield from module_of_listing(text, path).kernels.values()


def read_by(inst: np.void) -> Iterator[tuple[str, int, str]]:
    """Yield what an instruction reads, (kind, number, role): registers, uniform registers, predicates, its guard."""
    for slot, reg in enumerate(inst["src"]):
        if inst["src_mask"] >> slot & 1:
            yield "R", int(reg), ""
        elif inst["uniform_mask"] >> slot & 1:
            yield "UR", int(inst["imm"][slot]), ""
    for pred in inst["psrc"]:
        if pred != NO_PRED:
            yield "P", int(pred), "predicate of "
    if inst["guard"] != NO_PRED:
        yield "P", int(inst["guard"]), "guard of "


def written_by(inst: np.void) -> Iterator[tuple[str, int]]:
    """Yield what an instruction writes."""
    kind = "UR" if inst["dst_uniform"] else "R"
    yield from ((kind, int(reg)) for reg in inst["dst"][: inst["num_dst"]] if reg != NO_REG)
    yield from (("P", int(pred)) for pred in inst["pdst"] if pred != NO_PRED)


def distances(kernel: Kernel) -> Iterator[tuple[Pair, int]]:
    """Yield (classes of producer and reader, cycles between them) for the first reader of each result in straight code."""
    insts = kernel.insts.copy()
    classify(kernel.texts, insts)
    targets = {int(inst["target"]) for inst in insts if inst["op"] == isa.OP_BRA}
    since: dict[tuple[str, int], tuple[int, str]] = {}
    now = 0
    for pc, inst in enumerate(insts):
        if pc in targets:
            since = {}
        own, control = CLASSES[inst["latency_class"]], int(inst["control"])
        for kind, number, role in read_by(inst):
            if (kind, number) in since:
                then, producer = since[kind, number]
                yield (producer, role + own), now - then
        for place in written_by(inst):
            since.pop(place, None)
            if control >> 5 & 7 == NO_BARRIER and inst["guard"] == NO_PRED and own not in VARIABLE:
                since[place] = now, f"{own} to {place[0]}" if place[0] != "R" else own
        if inst["unit"] == UNIT_CTRL and own == "branch":
            since = {}
        now += max(1, control & 15)


def mine(found: Iterable[Kernel]) -> dict[Pair, tuple[int, int, int]]:
    """Return (least distance, pairs at it, pairs) of each pair of classes."""
    table: dict[Pair, tuple[int, int, int]] = {}
    for kernel in found:
        for pair, cycles in distances(kernel):
            least, at_least, count = table.get(pair, (cycles, 0, 0))
            at_least = 1 if cycles < least else at_least + (cycles == least)
            table[pair] = min(least, cycles), at_least, count + 1
    return table


def text_of(table: dict[Pair, tuple[int, int, int]]) -> str:
    """Return a line per pair of classes of which there are enough."""
    return "\n".join(f"{producer:14} -> {reader:24} {least:3} cycles ({at_least} of {count} pairs)"
                     for (producer, reader), (least, at_least, count) in sorted(table.items()) if count >= FEW)


def main(words: Sequence[str] | None = None) -> int:
    """Print the table of an architecture."""
    parser = argparse.ArgumentParser(prog="python -m rfview.engine.tools.mined_latencies",
                                     description=(__doc__ or "").splitlines()[0])
    parser.add_argument("architecture", help="sm_75, sm_80, ..")
    parser.add_argument("kernels", nargs="?", default="", help="bundled kernels, separated by commas (default: all)")
    args = parser.parse_args(words)
    names = args.kernels.split(",") if args.kernels else kernels.names()
    print(text_of(mine(bundled(args.architecture, names))))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
