"""Debugger commands that follow a wrong value: `follow` finds where it went, `follow next`, `back` and `store` go there."""

from __future__ import annotations

from rfview.engine.errors import InputError
from rfview.sessions.reports import tables as reports
from rfview.sessions.branches.arrivals import MAX_ARRIVALS, Arrival
from rfview.sessions.branches.follow import Flow, follow, goto
from rfview.sessions.cursor import Stop
from rfview.sessions.session import Session
from rfview.sessions.commands.arguments import settings
from rfview.sessions.commands.verb import Answer, verb

SHOWN = 24
MOVES = ("next", "back", "store")


@verb("follow", "taint", signature="[next | back | store | REG=VALUE ...]",
      help="follow the bits lost last (edram), or a changed register value, into registers, memory and outputs")
def _follow(session: Session, text: str) -> Answer | Stop:
    if text in MOVES:
        if "follow" not in session.memo:
            raise InputError(f"follow {text}: nothing is followed yet; first use `follow` at a cycle after a loss")
        return goto(session, session.memo["follow"], text)
    changes = settings(text.split(), "follow", "next, back, store, or registers with other values, as w3.R5[7]=0x10")
    session.memo["follow"] = flow = follow(session, changes)
    return Answer(flow_text(flow, session), {"follow": flow.data()})


def flow_text(flow: Flow, session: Session) -> str:
    """Return the flow as a text table."""
    program = session.info.program

    def by(arrival: Arrival) -> str:
        if arrival.pc is None or arrival.pc >= len(program):
            return "decayed" if arrival.kind == "lost" else ""
        return f"{program[arrival.pc].text}, {program[arrival.pc].where}"

    kinds = {kind: sum(arrival.kind == kind for arrival in flow.arrivals)
             for kind in dict.fromkeys(arrival.kind for arrival in flow.arrivals)}
    more = f" (of the first {MAX_ARRIVALS:,})" if flow.num_arrivals > len(flow.arrivals) else ""
    reached = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())
    lines = [f"{flow.what}, from cycle {flow.begin:,} on",
             f"reached {flow.num_arrivals:,} places: {reached}{more}; {flow.healed:,} were overwritten"]
    store = flow.first_store
    if store is not None:
        lines += [f"first wrong store: cycle {store.cycle:,}, {store.text}", f"  {by(store)}".rstrip()]
    if flow.parted is not None:
        lines += [f"at cycle {flow.parted:,} a warp takes another branch;", "  from there on only the results are compared"]
    for output in flow.outputs:
        error = "" if output.largest is None else f", largest relative error {output.largest:.3g}"
        lines += [f"at the end {output.wrong:,} of {output.total:,} elements of {output.name} differ,",
                  f"  the first {output.name}[{output.first}]{error}"]
    if not flow.outputs:
        lines.append("at the end every buffer is the same as without the error")
    if any(arrival.kind == "lost" for arrival in flow.arrivals):
        lines.append(f"  only the bits lost at cycle {flow.begin:,} are followed; those lost before stay lost in both runs")
    if flow.fault:
        lines.append(f"the kernel stopped: {flow.fault}")
    shown = [[f"{arrival.cycle:,}", arrival.kind, arrival.text, by(arrival)] for arrival in flow.arrivals[:SHOWN]]
    if shown:
        lines.append(reports.table(["cycle", "kind", "place, here and without the error", "by"], shown))
    if flow.num_arrivals > len(shown):
        lines.append(f"... {flow.num_arrivals - len(shown):,} more; `follow next`, `back` and `store` go to them")
    return "\n".join(lines)
