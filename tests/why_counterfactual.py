"""Is the named resource the cause? Remove its delay and see whether the warp issues earlier.

    python -m tests.why_counterfactual [--samples 100] [--designs hrf,rfc] [--seed 1] [--list]

For each design, kernels are run, and stalled warps are sampled evenly over stall reasons. Each chain's resource has a
relief (the settings that remove its delay). The run is repeated with these settings, from a checkpoint at the beginning
of the cause if the parameter can change while the machine runs, else from the start, and the cycles in which the warp
issues the same instruction are compared. `control` does the same with the relief of another resource of that run, which
should help less often. A run with nothing changed must issue in exactly the same cycle; a difference is an error.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rfview.sessions.why import why
from rfview.engine import defaults, kernels
from rfview.engine.launch import load_launch_file
from rfview.engine.simulator import Simulator
from rfview.sessions import producers as holders
from rfview.sessions.branches.fork import changeable
from rfview.sessions.timeline.live import LiveTimeline
from rfview.sessions.session import Session
from rfview.sessions.timeline.base import Timeline
from rfview.sessions.why import Chain

RUNS: dict[str, tuple[tuple[str, str], ...]] = {
    "sram": (("vectoradd", "gto"), ("reduction", "two_level")),
    "stt": (("vectoradd", "gto"), ("reduction", "lrr")),
    "stt[stall=bank]": (("vectoradd", "lrr"), ("reduction", "gto")),
    "hrf": (("vectoradd", "lrr"), ("reduction", "switch_on_stall")),
    "single_buffer": (("vectoradd", "gto"), ("reduction", "lrr")),
    "rfc": (("vectoradd", "two_level"), ("reduction", "two_level")),
    "hcrf": (("vectoradd", "lrr"), ("reduction", "gto")),
    "edram": (("vectoradd", "gto"), ("reduction", "lrr")),
    "racetrack": (("vectoradd", "lrr"), ("reduction", "gto")),
}
# What this file also changes during a run: more schedulers (warps are redistributed among them), more ports, a smaller
# cache, a longer retention. None of these moves a register.
PARTS = frozenset({"sm.num_schedulers", "sm.bank_ports", "rfc.entries", "edram.node"})
BANKS = frozenset({"sm.num_banks", "sm.rows_per_bank"})
MAX_CYCLES = 16_000        # of each run, so that re-runs are short
IDLE = ("issued", "finished", "no_cta")
Key = tuple[int, int, int, int]      # launch, CTA, warp in the CTA, number of the instruction


@dataclass
class Sample:
    """One stalled warp: its chain, the instruction it waits to issue, and the cycle in which it issues."""

    chain: Chain
    key: Key
    issued: int

    @property
    def begin(self) -> int:
        """Return the first cycle of the cause at the chain's end, or that of the stall if it is earlier."""
        since = [link.since for link in self.chain.links if link.since >= 0]
        return max(0, min(since[-1], self.chain.since) if since else self.chain.since)


@dataclass
class Tally:
    """The verdicts on the samples of one design."""

    samples: int = 0
    no_lever: int = 0
    from_checkpoint: Counter[str] = field(default_factory=Counter)
    from_start: Counter[str] = field(default_factory=Counter)
    control: Counter[str] = field(default_factory=Counter)
    by_resource: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    stalls: Counter[str] = field(default_factory=Counter)

    @property
    def earlier(self) -> int:
        """Return how many warps issued earlier without the resource's delay."""
        return self.from_checkpoint["earlier"] + self.from_start["earlier"]


def run(kernel: str, design: str, scheduler: str, settings: dict[str, Any] | None = None,
        preset: str = defaults.PRESET) -> Session:
    """Return a live session of a bundled kernel that has run MAX_CYCLES cycles."""
    spec = load_launch_file(kernels.path(kernel))
    machine = Simulator(spec, design=design, scheduler=scheduler, preset=preset, settings=settings or {})
    session = Session(LiveTimeline(machine))
    session.timeline.extend(MAX_CYCLES)
    return session


def issues(timeline: Timeline, first: int, last: int) -> Iterator[tuple[Key, int]]:
    """Yield every instruction issued in cycles first..last-1 with its cycle, derived from the state after it."""
    read = lambda path: timeline.column(path, first, last + 1)  # noqa: E731
    count, slot, inside = (read(f"sm.warp[*].{name}").astype(np.int64) for name in ("num_issued", "cta", "warp_in_cta"))
    cta, launch = read("sm.cta[*].id"), read("sm.launch.index")
    rose = (count[1:] > count[:-1]) & (slot[1:] < cta.shape[1])
    for step, warp in zip(*(axis.tolist() for axis in np.nonzero(rose))):
        key = (int(launch[step + 1]), int(cta[step + 1, slot[step + 1, warp]]), int(inside[step + 1, warp]),
               int(count[step + 1, warp]))
        yield key, first + step


def issue_cycle(timeline: Timeline, key: Key, first: int, limit: int) -> int:
    """Return the cycle in which an instruction is issued, `limit` if not before; simulates as far as needed."""
    at = first
    while at < limit:
        if timeline.last <= at and timeline.extend(1) == 0:
            break
        stop = min(limit, timeline.last, at + 1024)
        for other, cycle in issues(timeline, at, stop):
            if other == key:
                return cycle
        at = stop
    return limit


def next_issue(session: Session, chain: Chain) -> tuple[Key, int] | None:
    """Return the next instruction that a stalled warp issues, and its cycle; None if the run ends before."""
    timeline = session.timeline
    snapshot = timeline.at(chain.cycle)
    record = snapshot.sm["warp"][chain.warp]
    key = (int(snapshot.sm["launch"]["index"]), int(snapshot.sm["cta"][int(record["cta"])]["id"]),
           int(record["warp_in_cta"]), int(record["num_issued"]) + 1)
    cycle = issue_cycle(timeline, key, chain.cycle, min(timeline.last, chain.cycle + 6000))
    return (key, cycle) if cycle < min(timeline.last, chain.cycle + 6000) else None


def sampled(session: Session, number: int, rng: random.Random) -> list[Sample]:
    """Return up to `number` stalled warps, spread evenly over the stall reasons."""
    timeline = session.timeline
    last = min(timeline.last, MAX_CYCLES)
    states = timeline.states(1, last)
    names = {int(entry.code): entry.name for entry in timeline.info.stalls}
    pools: dict[str, list[tuple[int, int]]] = {}
    for code, name in names.items():
        if name not in IDLE:
            cycles, warps = np.nonzero(states == code)
            pick = rng.sample(range(len(cycles)), min(len(cycles), 4 * number))
            pools[name] = [(int(cycles[i]) + 1, int(warps[i])) for i in pick]
    found: list[Sample] = []
    while len(found) < number and any(pools.values()):
        for name in list(pools):
            while pools[name] and len(found) < number:
                cycle, warp = pools[name].pop()
                chain = why(session, warp, cycle)
                after = next_issue(session, chain)
                if after is not None:
                    found.append(Sample(chain, *after))
                    break
    return found


def verdict(cycle: int, sample: Sample) -> str:
    """Return whether a warp issues earlier, later or in the same cycle, compared with the original run."""
    return "earlier" if cycle < sample.issued else "later" if cycle > sample.issued else "same"


def _oldest_need(session: Session, chain: Chain) -> int:
    """Return the issue cycle of the oldest instruction whose result a stalled warp's next instruction needs."""
    snapshot = session.timeline.at(chain.cycle)
    warp = snapshot.sm["warp"][chain.warp]
    entry = session.info.program[int(warp["pc"])]
    held = int(warp["sb_write"])
    table = snapshot.sm["inflight"]
    writers = holders.writers(table, session.info.program)
    slots = [writers[chain.warp, reg] for reg in {*entry.src, *entry.dst} if reg < 64 and (held >> reg) & 1]
    return min((int(table[slot]["issue_cycle"]) for slot in slots), default=chain.cycle)


def _spread_warps(machine: Simulator, number: int) -> None:
    """Redistribute the warps among more schedulers in a running machine, together with the active sets."""
    sm = machine.sm
    active = 0
    for record in sm.scheduler:
        active |= int(record.active)
    for index in range(number):
        mask = sum(1 << warp for warp in range(index, int(machine.config["sm.num_warps"]), number))
        sm.scheduler_mask[index] = mask
        sm.scheduler[index].active = active & mask
        sm.scheduler[index].last_warp = sm.scheduler[index].joined_warp = sm.issued_warp[index] = 255


class Laboratory:
    """Repeats one run with other parameters."""

    def __init__(self, kernel: str, design: str, scheduler: str):
        self.what = (kernel, design, scheduler)
        self.session = run(kernel, design, scheduler)
        info = self.session.info
        self.allowed = {*changeable(info), *PARTS}
        if not {"hcrf", "racetrack", "hrf"} & set(info.design_spec.chain):
            self.allowed |= BANKS       # rows stay the same; hcrf and racetrack keep more state per bank, hrf has exactly two
        self._started: dict[str, dict[Key, int]] = {}

    def can_change(self, relief: dict[str, Any]) -> bool:
        """Return whether the settings can be changed while the machine runs."""
        return set(relief) <= self.allowed

    def from_checkpoint(self, sample: Sample, relief: dict[str, Any]) -> int:
        """Return when the warp issues if the settings apply from the beginning of the cause on, at most 1,500 cycles late."""
        timeline = self.session.timeline
        assert isinstance(timeline, LiveTimeline)
        begin = min(sample.begin, _oldest_need(self.session, sample.chain))
        checkpoint = timeline.checkpoint_at(begin)
        machine = timeline.simulator.twin(relief)
        machine.adopt(checkpoint)
        if "sm.num_schedulers" in relief:
            _spread_warps(machine, int(relief["sm.num_schedulers"]))
        return issue_cycle(LiveTimeline(machine), sample.key, begin, sample.issued + 1500)

    def from_start(self, sample: Sample, relief: dict[str, Any]) -> int:
        """Return when the warp issues if the settings apply from cycle 0 on."""
        text = repr(sorted(relief.items()))
        if text not in self._started:
            timeline = run(*self.what, settings=relief).timeline
            known: dict[Key, int] = {}
            for first in range(timeline.first, timeline.last, 1024):
                for key, cycle in issues(timeline, first, min(first + 1024, timeline.last)):
                    known.setdefault(key, cycle)
            self._started[text] = known
        return self._started[text].get(sample.key, sample.issued + 1)


def examine(design: str, number: int, seed: int, listing: bool = False) -> Tally:
    """Return the tally of one design over its runs; raises AssertionError if an unchanged re-run differs."""
    rng = random.Random(seed)
    tally = Tally()
    for kernel, scheduler in RUNS[design]:
        laboratory = Laboratory(kernel, design, scheduler)
        samples = sampled(laboratory.session, -(-number // len(RUNS[design])), rng)
        for index, sample in enumerate(samples):
            if index % 10 == 0:
                assert laboratory.from_checkpoint(sample, {}) == sample.issued, "an unchanged branch differs"
            _judge(tally, laboratory, sample, samples, rng, listing)
    return tally


def _judge(tally: Tally, laboratory: Laboratory, sample: Sample, samples: list[Sample], rng: random.Random,
           listing: bool) -> None:
    """Add one sample to the tally."""
    chain, resource = sample.chain, sample.chain.resource
    assert resource is not None, chain.text()
    tally.samples += 1
    tally.stalls[chain.state] += 1
    present = laboratory.session.info.parameters
    relief = {key: value for key, value in resource.relief.items() if present.get(key) != value}
    if not relief:
        tally.no_lever += 1
        tally.by_resource[resource.kind]["no lever"] += 1
        return
    is_local = laboratory.can_change(relief)
    cycle = laboratory.from_checkpoint(sample, relief) if is_local else laboratory.from_start(sample, relief)
    (tally.from_checkpoint if is_local else tally.from_start)[verdict(cycle, sample)] += 1
    tally.by_resource[resource.kind][verdict(cycle, sample)] += 1
    if listing and verdict(cycle, sample) != "earlier":
        print(f"--- {laboratory.what}: {verdict(cycle, sample)}, {sample.issued} -> {cycle}\n{chain.text()}")
    others = [dict(other.chain.resource.relief) for other in samples
              if other.chain.resource is not None and other.chain.resource.kind != resource.kind
              and laboratory.can_change(dict(other.chain.resource.relief)) and other.chain.resource.relief]
    if is_local and others:
        tally.control[verdict(laboratory.from_checkpoint(sample, rng.choice(others)), sample)] += 1


def report(design: str, tally: Tally) -> str:
    """Return the tally of a design as lines."""
    def counts(found: Counter[str]) -> str:
        words = ("earlier", "same", "later", "no lever")
        return ", ".join(f"{found[word]} {word}" for word in words if found[word]) or "none"

    lines = [f"{design}: {tally.samples} stalls sampled, {tally.earlier} warps issue earlier without the named delay",
             f"  from a checkpoint: {counts(tally.from_checkpoint)}; from the start: {counts(tally.from_start)}; "
             f"no parameter takes the delay away: {tally.no_lever}",
             f"  control, another resource's relief: {counts(tally.control)}",
             "  stalls: " + ", ".join(f"{name} {count}" for name, count in tally.stalls.most_common())]
    lines += [f"    {kind:<18} {counts(found)}" for kind, found in sorted(tally.by_resource.items())]
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Print the tallies; return 1 if fewer than 50 warps of a design issue earlier (with 60 samples or more)."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--samples", type=int, default=100, help="stalls per design")
    parser.add_argument("--designs", default=",".join(RUNS), help="comma-separated")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="show the chains that were wrong")
    given = parser.parse_args(arguments)
    failed = False
    for design in given.designs.split(","):
        tally = examine(design, given.samples, given.seed, given.list)
        print(report(design, tally), flush=True)
        failed |= given.samples >= 60 and tally.earlier < 50
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
