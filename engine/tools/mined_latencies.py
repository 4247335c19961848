"""Latencies mined from ptxas's code: the least sum of stall counts between a result of fixed latency and its first reader.

    python -m rfview.engine.tools.mined_latencies sm_80 [KERNEL,..]

ptxas knows how long each result takes, and writes it into control codes; over thousands of pairs of an instruction and
its reader the least distance is the latency of that pair of classes. Beside it stands how much more that is than the
least that engine/hazards/latencies asks for, the one table of them. Architectures without bundled listings take ptxas and
nvdisasm.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from rfview.engine import isa, kernels
from rfview.engine.hazards.effects import PREDICATE, UNIFORM, Effects, effects_of
from rfview.engine.hazards.latencies import needed
from rfview.engine.program import Kernel
from rfview.engine.sass.load import listing_of_ptx
from rfview.engine.sass.module import module_of_listing

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


def distances(kernel: Kernel) -> Iterator[tuple[Pair, int, int]]:
    """Yield (pair, cycles between them, how many more than asked for) of each result and first reader in straight code."""
    targets = {int(inst["target"]) for inst in kernel.insts if inst["op"] == isa.OP_BRA}
    since: dict[int, tuple[int, Effects]] = {}
    now = 0
    for pc, own in enumerate(effects_of(kernel, kernel.architecture)):
        if pc in targets:
            since = {}
        for register, role in own.reads:
            if register in since:
                then, producer = since[register]
                asked = needed(producer, register, own, role, kernel.architecture)
                yield pair_of(producer, register, own, role), now - then, now - then - asked
        for register in own.writes:
            since.pop(register, None)
            if not own.is_variable and own.guard is None:
                since[register] = now, own
        if own.is_control:
            since = {}
        now += own.gap


def pair_of(producer: Effects, register: int, reader: Effects, role: str) -> Pair:
    """Return the classes of a producer and its reader, and what kind of register lies between them."""
    kind = " to P" if register >= PREDICATE else " to UR" if register >= UNIFORM else ""
    return producer.kind + kind, reader.kind if role == "operand" else f"{role} of {reader.kind}"


def mine(found: Iterable[Kernel]) -> dict[Pair, tuple[int, int, int, int]]:
    """Return (least distance, pairs at it, pairs, least cycles beyond those asked for) of each pair of classes."""
    table: dict[Pair, tuple[int, int, int, int]] = {}
    for kernel in found:
        for pair, cycles, spare in distances(kernel):
            least, at_least, count, least_spare = table.get(pair, (cycles, 0, 0, spare))
            at_least = 1 if cycles < least else at_least + (cycles == least)
            table[pair] = min(least, cycles), at_least, count + 1, min(least_spare, spare)
    return table


def text_of(table: dict[Pair, tuple[int, int, int, int]]) -> str:
    """Return a line per pair of classes of which there are enough."""
    return "\n".join(f"{producer:14} -> {reader:24} {least:3} cycles ({at_least} of {count} pairs), spare {spare}"
                     for (producer, reader), (least, at_least, count, spare) in sorted(table.items()) if count >= FEW)


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
