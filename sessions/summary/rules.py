"""The rules of a summary: when each fires, what it says, what would lift it. Shares are of the resident warp-cycles.

A gain that a rule names is an estimate from counts, and says so; `relief` measures. "Line" is a source line, or an
instruction where the program has no source lines; a cache line is always called that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rfview.engine.program import MAX_REGS
from rfview.engine.wording import plural
from rfview.sessions.summary import lifts
from rfview.sessions.summary.facts import Facts


@dataclass(frozen=True)
class Limit:
    """A threshold. value: from which a rule fires. what: of what it is. reason: why there; "assumed" if nobody says so."""

    value: float
    what: str
    reason: str


LIMITS: dict[str, Limit] = {
    "full": Limit(0.6, "the cycles of the run that a unit's work takes", "Nsight Compute's speed-of-light rule: no unit "
                  "above 60 % of its peak means that latency limits a kernel"),
    "busy": Limit(0.9, "the cycles of the run that a unit's work takes", "assumed: more warps could save no more than the "
                  "tenth that is left"),
    "wasteful": Limit(2.0, "cache lines sent per ideal one", "assumed: one line more than needed is what an access that is "
                      "merely misaligned sends; twice as many is a pattern"),
    "conflicts": Limit(1.5, "passes over shared memory per ideal one", "assumed: with 32 lanes on 32 banks a single "
                       "two-way conflict costs one pass; half of all accesses have one"),
    "meeting": Limit(4.0, "lanes of an atomic that change its busiest word", "assumed: of 32 lanes on 256 random words two "
                     "or three meet; more is a pattern"),
    "least": Limit(0.01, "the warp-cycles of resident warps", "below a hundredth nothing that is mended shows: nudges "
                   "alone move the end of small runs by as much"),
    "notable": Limit(0.05, "the warp-cycles of resident warps", "assumed: nudged runs of the bundled kernels differ by up "
                     "to 4 %, so that a smaller share cannot be told from chance in the run's end"),
    "mostly": Limit(0.5, "the warp-cycles of resident warps", "a majority: nothing else can be more common"),
    "idle slots": Limit(0.1, "the warp slots", "assumed: of Fermi's 48 slots, less than one CTA of 5 warps"),
    "part": Limit(0.1, "a unit's work", "assumed: a line with less of it does not explain why the unit is full"),
    "idle lanes": Limit(0.25, "the lanes of issued instructions", "assumed: a warp in four runs both sides of a branch"),
    "kept out": Limit(lifts.SPARE, "the ready warps that each active set keeps out, on average", "with one ready warp to "
                      "spare, a further one would only wait beside it"),
}
(FULL, BUSY, WASTEFUL, CONFLICTS, MEETING, LEAST, NOTABLE, MOSTLY, IDLE_SLOTS, LEAST_PART,
 IDLE_LANES, _) = (limit.value for limit in LIMITS.values())
RESULTS = ("long_scoreboard", "short_scoreboard", "wait")      # states of warps that wait for a result
OF_PIPE = {"FMA and ALU pipes": ("alu", "fma", "imad", "wide"), "XU": ("xu",), "FP64": ("double",)}     # latency classes


@dataclass(frozen=True)
class Finding:
    """What a rule found. share: by which it is ranked. text: a sentence with it. lift: what would help, "" if unknown.

    at: the line that it names, by its number; None if it names none.
    """

    share: float
    text: str
    lift: str = ""
    at: int | None = None


@dataclass(frozen=True)
class Rule:
    """One rule. name: for JSON. fires: when, in words. source: why it matters. find: what it found, None if nothing.

    opens: the panel or window of the screen that shows more, where no line is named.
    """

    name: str
    fires: str
    source: str
    find: Callable[[Facts], Finding | None]
    opens: str = "lens"


def _floor(facts: Facts) -> Finding | None:
    top = facts.floors[0]
    if facts.filled < FULL:
        return None
    at, most = _filling(facts, top.unit)
    limits = "limit this run: they need" if top.is_plural else "limits this run: it needs"
    return Finding(facts.filled, f"{top.subject[0].upper()}{top.subject[1:]} {limits} {top.cycles:,} of the "
                   f"{facts.cycles:,} cycles ({facts.filled:.1%}): {top.what}{most}.",
                   lifts.of_design(facts, top.unit) or "only less of that work ends the run earlier", at)


def _filling(facts: Facts, unit: str) -> tuple[int | None, str]:
    """Return the line that gives a unit most of its work, and what is said of it; (None, "") if that is not known."""
    if facts.by_pc is None:
        return None, ""
    metrics = facts.by_pc.metrics
    if unit == "LD/ST":
        weights = metrics.sent + metrics.passes
    elif unit == "memory port":
        weights = np.where(metrics.accesses > 0, facts.by_pc.caused[:-1], 0)
    else:
        kinds = OF_PIPE.get(unit, ())
        fits = facts.pcs(lambda entry: unit == "issue" or entry.unit == unit or entry.latency_class in kinds)
        weights = np.where(fits, facts.issued, 0)
    total = facts.by_line(weights)
    at = int(total.argmax())
    share = total[at] / max(1, total.sum())
    if share < LEAST_PART:
        return None, ""
    if unit == "memory port":
        return at, f"; of its lines, {facts.name_of(at)} holds up most"
    return at, f"; {share:.0%} of that is {facts.name_of(at)}'s"


def _uncoalesced(facts: Facts) -> Finding | None:
    return _wasteful(facts, False, WASTEFUL)


def _shared_conflicts(facts: Facts) -> Finding | None:
    return _wasteful(facts, True, CONFLICTS)


def _wasteful(facts: Facts, is_shared: bool, limit: float) -> Finding | None:
    """Return the line whose accesses send more than `limit` times the ideal, and hold up most."""
    if facts.by_pc is None:
        return None
    metrics = facts.by_pc.metrics
    accesses, sent, known, ideal = metrics.of(is_shared)
    chosen = _sends_too_many(facts, is_shared, limit)
    held = facts.held(chosen)
    at = int(held.argmax())
    if held.sum() < LEAST:
        return None
    here = chosen & (facts.line_of == at)
    each, best = sent[here].sum() / accesses[here].sum(), ideal[here].sum() / known[here].sum()
    others = len(np.unique(facts.line_of[chosen])) - 1
    more = f"; with {plural(others, 'more line')} like it, {held.sum():.1%}" if others else ""
    saved = int((sent - ideal)[chosen].sum()) / max(1, int(metrics.sent.sum() + metrics.passes.sum()))
    what = "makes {:.1f} passes over shared memory" if is_shared else "sends {:.1f} cache lines"
    by_data = sent[here & facts.by_data].sum() > sent[here].sum() / 2
    advice = _advice(is_shared, bool(by_data), bool(metrics.atomics[here].any()))
    return Finding(float(held.sum()), f"{facts.name_of(at)} {what.format(each)} per access, where {best:.3g} "
                   f"would do, and holds up {held[at]:.1%} of the warp-cycles{more}.",
                   f"{advice}{'; at most' if by_data else ':'} {saved:.0%} of LD/ST's work would go (estimate)", at)


def _advice(is_shared: bool, by_data: bool, is_atomic: bool) -> str:
    """Return what lets accesses send less. by_data: their addresses were loaded from memory: no layout is right for all."""
    if not by_data:
        return ("pad the rows, so that lanes use different banks" if is_shared else
                "let neighbouring threads access neighbouring addresses")
    if not is_shared:
        return "loaded data choose the addresses: order the data so that neighbouring threads access neighbours"
    if is_atomic:
        return ("loaded data choose the words, and changes of one bank or word are made in turn (contention), so padding "
                "would not help: keep a copy for each warp, or for groups of lanes, and add the copies up")
    return "loaded data choose the words, so padding would not help: order the data, or keep a copy for each group of lanes"


def _contention(facts: Facts) -> Finding | None:
    chosen, share = _contended(facts)
    if facts.by_pc is None or share < LEAST:
        return None
    metrics = facts.by_pc.metrics
    steps = facts.by_line(np.where(chosen, metrics.meets, 0))
    at, held = int(steps.argmax()), float(facts.held(chosen).sum())
    each = steps[at] / metrics.atomics[chosen & (facts.line_of == at)].sum()
    took = f"{int(steps.sum()):,} steps in {facts.counted_cycles:,} cycles ({share:.1%})"
    return Finding(max(min(1.0, share), held), f"Atomics of {facts.name_of(at)} contend: {each:.1f} lanes of an access "
                   f"change the same word, on a GPU one by one: {took}. That is not modelled (rule B0.25): here they hold "
                   f"up {held:.1%} of the warp-cycles.",
                   "add up in registers, in the warp or in shared memory first, or keep several copies of the words", at)


def _contended(facts: Facts) -> tuple[np.ndarray, float]:
    """Return (n,) bool which instructions are contended atomics, and their steps on a GPU as a share of the cycles."""
    if facts.by_pc is None:
        return np.zeros(0, bool), 0.0
    metrics = facts.by_pc.metrics
    chosen = metrics.meets > MEETING * metrics.atomics
    return chosen, float(metrics.meets[chosen].sum()) / max(1, facts.counted_cycles)


def _sends_too_many(facts: Facts, is_shared: bool, limit: float) -> np.ndarray:
    """Return (n,) bool: which accesses, but for those to spilled registers, send more than `limit` times the ideal."""
    assert facts.by_pc is not None
    _, sent, known, ideal = facts.by_pc.metrics.of(is_shared)
    return (known > 0) & (sent > limit * ideal) & ~facts.local


def _of_latency(facts: Facts) -> float:
    """Return the share of the warp-cycles that wait for results, without those for accesses that another rule would mend."""
    share = facts.share(*RESULTS)
    if facts.by_pc is None:
        return share
    mended = facts.local | _sends_too_many(facts, False, WASTEFUL) | _sends_too_many(facts, True, CONFLICTS)
    causes, codes = facts.by_pc, facts.codes(RESULTS)
    others = np.isin(causes.code, codes) & np.append(mended, False)[causes.holder]
    return max(0.0, share - float(causes.count[others].sum()) / max(1, facts.counted))


def _operand_banks(facts: Facts) -> Finding | None:
    share = facts.share("bank_conflict")
    if share < NOTABLE:
        return None
    return Finding(share, f"Operands and results lose their register bank to others in {share:.1%} of the warp-cycles"
                   f"{facts.place('bank_conflict')}.", lifts.of_banks(facts), facts.waiter("bank_conflict"))


def _allocate(facts: Facts) -> Finding | None:
    share = facts.share("dispatch_stall")
    refused = {stall.name: facts.counts.get(f"{stall.name}_wait_cycles", 0) for stall in facts.info.stalls}
    most = max(refused, key=lambda name: refused[name])
    if share < NOTABLE or not refused[most]:        # without a refusal Control waits for a unit's queue
        return None
    part = refused[most] / sum(refused.values())
    lift = ("reuse bits, registers in the other bank, or `--set core.read_ports=2`" if most == "bank_conflict" else
            lifts.COMPARE)
    return Finding(share, f"Instructions that wait in Allocate for the register file hold up {share:.1%} of the warp-cycles "
                   f"(dispatch_stall){facts.place('dispatch_stall')}; {part:.0%} of the refusals are {most}.", lift,
                   facts.waiter("dispatch_stall"))


def _spills(facts: Facts) -> Finding | None:
    words = facts.info.spilled_words
    if not words:
        return None
    local, accesses = facts.counts.get("local_accesses", 0), max(1, facts.counts.get("global_loads", 0)
                                                                 + facts.counts.get("global_stores", 0))
    share, held, at = LEAST, "", None
    if facts.by_pc is not None:
        by_line = facts.held(facts.local)
        share, at = float(by_line.sum()), int(by_line.argmax())
        held = f", which hold up {share:.1%} of the warp-cycles, most at {facts.name_of(at)}"
    limit = facts.info.register_limit
    raised = f", or `--set kernel.max_registers={MAX_REGS}`" if limit is not None and limit < MAX_REGS else ""
    spilled = f"{plural(words, 'word')} a thread {'is' if words == 1 else 'are'} spilled to local memory"
    return Finding(max(share, LEAST), f"{spilled}: {local / accesses:.0%} of the loads and stores{held}.",
                   f"fewer values alive at once{raised}", at)


def _occupancy(facts: Facts) -> Finding | None:
    unused, why, lift = facts.unused_slots
    if unused < IDLE_SLOTS * facts.info.num_warps:
        return None
    waits = _of_latency(facts)
    top, full = facts.floors[0], ""
    if facts.filled >= BUSY:
        full = f"; not what limits the run, as {top.subject} {'are' if top.is_plural else 'is'} full already"
    elif lifts.keeps_warps_out(facts):
        full = "; not what limits the run, as the active set keeps ready warps out already"
    return Finding(min(unused / facts.info.num_warps, waits) if not full else LEAST,
                   f"{unused} of {facts.info.num_warps} warp slots are never used: {why}{full}.",
                   "" if full else f"{lift}: more resident warps would hide more of the waiting")


def _latency(facts: Facts) -> Finding | None:
    share, own = facts.share(*RESULTS), _of_latency(facts)
    if max(facts.filled, _contended(facts)[1]) >= FULL or share < MOSTLY or own < NOTABLE:
        return None
    most = max(RESULTS, key=facts.share)
    return Finding(own, f"No unit is full: latency limits this run. Warps wait for results in {share:.1%} of the "
                   f"warp-cycles, {facts.share(most):.1%} in {facts.named(most)}{facts.place(most)}; "
                   f"{facts.share('issued'):.1%} issued.", f"more independent instructions, or {lifts.more_warps(facts)}",
                   facts.waiter(most))


def _divergence(facts: Facts) -> Finding | None:
    issued = facts.counts.get("instructions", 0)
    idle = 1 - facts.counts.get("thread_instructions", 0) / max(1, 32 * issued)
    if idle < IDLE_LANES or not facts.counts.get("divergent_branches"):
        return None
    share = idle * next(floor.cycles for floor in facts.floors if floor.unit == "issue") / max(1, facts.cycles)
    split, at, most = facts.counts["divergent_branches"], None, ""
    if facts.by_pc is not None:
        at = int(facts.by_line(facts.by_pc.metrics.idle).argmax())
        most = f", most idle lanes at {facts.name_of(at)}"
    return Finding(max(share, LEAST), f"{idle:.0%} of the lanes of issued instructions do nothing: {split:,} branches split "
                   f"their warp{most}.", "let the threads of a warp branch alike", at)


def _barriers(facts: Facts) -> Finding | None:
    share = facts.share("barrier")
    if share < NOTABLE:
        return None
    return Finding(share, f"Warps wait at barriers in {share:.1%} of the warp-cycles{facts.place('barrier')}.",
                   "equal work between barriers, or fewer of them", facts.waiter("barrier"))


def _register_file(facts: Facts) -> Finding | None:
    shares = facts.of_family("register_file")
    if sum(shares.values()) < NOTABLE:
        return None
    parts = [f"{name} {share:.1%}" for name, share in shares.items() if share >= LEAST]
    what = ", ".join(parts) if len(parts) > 1 else facts.named(next(iter(shares)))
    is_most = sum(shares.values()) > MOSTLY and facts.filled < FULL
    text = f"The register file {'limits this run:' if is_most else 'costs'} {sum(shares.values()):.1%} of the warp-cycles"
    text += f" ({what})" if len(parts) > 1 else f" are {what}" if is_most else f", in {what}"
    lift = lifts.of_design(facts, next(iter(shares))) or f"{lifts.paper_scheduler(facts)}{lifts.COMPARE}"
    return Finding(sum(shares.values()), f"{text}{facts.place(*shares)}.", lift, facts.waiter(*shares))


def _active_set(facts: Facts) -> Finding | None:
    share, places = facts.share("suspended"), facts.config["active_places"]
    if share < NOTABLE:
        return None
    return Finding(share, f"Each scheduler's active set, {plural(places, 'warp')} at a time, keeps ready warps out in "
                   f"{share:.1%} of the warp-cycles (suspended); {facts.share('issued'):.1%} issued.",
                   "" if facts.filled >= BUSY else lifts.larger_set(facts))


def _state(facts: Facts) -> Finding | None:
    waits = {name: facts.share(name) for name in facts.totals if name not in ("issued", "finished", "no_cta")}
    said = {"bank_conflict", "dispatch_stall", "barrier", "suspended", *facts.of_family("register_file")}
    latency = _latency(facts)
    said = {name for name in said if waits.get(name, 0) >= NOTABLE} | set(RESULTS if latency else ())
    common = most = max(waits, key=lambda name: waits[name], default="")
    head, least, share = "The most common reason not to issue is", LEAST, waits.get(most, 0.0)
    if most in said:            # another rule's sentence is about it, and comes first
        share = min(share, latency.share if latency is not None and most in RESULTS else 1.0)
        most = max(waits.keys() - said, key=lambda name: waits[name], default="")
        head, least, share = "After that, the most common reason not to issue is", NOTABLE, min(share, waits.get(most, 0.0))
    if not most or waits[most] < least:
        return None
    is_ready = most == "not_selected"
    is_moot = facts.filled >= FULL or (is_ready and most != common)     # what to mend is the full unit, or the other wait
    return Finding(share, f"{head} {facts.named(most)}: {waits[most]:.1%} of the warp-cycles"
                   f"{'' if is_ready else facts.place(most)}; {facts.share('issued'):.1%} issued.",
                   "" if is_moot else lifts.of_state(facts, most), at=None if is_ready else facts.waiter(most))


RULES: tuple[Rule, ...] = (
    Rule("floor", "the work of one unit takes at least 60 % of the cycles", "roofline; Williams et al., CACM 2009", _floor,
         "relief"),
    Rule("uncoalesced", "a line's accesses send more than twice the ideal", "Best Practices Guide, Coalesced Access",
         _uncoalesced),
    Rule("shared_conflicts", "a line's shared accesses take more than 1.5 times the ideal passes",
         "Best Practices Guide, Shared Memory and Memory Banks", _shared_conflicts),
    Rule("contention", "more than 4 lanes of a line's atomics change the same word",
         "NVIDIA's GK110 whitepaper, atomics", _contention),
    Rule("operand_banks", "bank_conflict has 5 % of the warp-cycles", "HC-RF section IV-A", _operand_banks),
    Rule("allocate", "dispatch_stall has 5 % of the warp-cycles, and operands or results were refused",
         "MICRO'25 section 5.1.1: Allocate waits for read ports", _allocate),
    Rule("spills", "the compiler spilled registers", "Programming Guide, Local Memory", _spills),
    Rule("occupancy", "10 % of the warp slots are never used", "Best Practices Guide, Occupancy", _occupancy,
         "registers"),
    Rule("latency", "no unit is full, nor would atomics fill one, and half of the warp-cycles wait for results",
         "Best Practices Guide, Hiding Latency", _latency),
    Rule("divergence", "a quarter of the lanes idle, and branches split warps", "Best Practices Guide, Branching",
         _divergence, "code"),
    Rule("barriers", "barriers have 5 % of the warp-cycles", "Nsight Compute, stall barrier", _barriers),
    Rule("register_file", "the design's own states have 5 % of the warp-cycles", "the design's paper", _register_file),
    Rule("active_set", "suspended has 5 % of the warp-cycles", "RFC section 3.2, HRF section 4.3", _active_set, "stalls"),
    Rule("state", "always, for the commonest state that no other sentence is about",
         "Nsight Compute, warp state statistics", _state, "stalls"),
)
