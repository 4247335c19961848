"""Tables of the machine at one cycle, as plain text and as data, for scripts and for output without screens."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rfview.engine.errors import InputError
from rfview.engine.plugin.assumed import ASSUMED
from rfview.engine.stalls import NO_WARP
from rfview.engine.state import NONE8
from rfview.engine.wording import aligned, energy_text
from rfview.sessions.expressions.ptx_names import kernel_name, names_at
from rfview.sessions.machine import Machine
from rfview.sessions.session import Session
from rfview.sessions.energy import assumed_of, energy_at
from rfview.sessions.timeline.invariants import problems
from rfview.sessions.warps import check_warp, parse_warp

if TYPE_CHECKING:
    from rfview.engine.info import RunInfo

ACTIVITIES = ("idle", "read", "write", "busy")
Report = tuple[str, Any]


def table(head: list[str], rows: list[list[Any]]) -> str:
    """Return aligned columns, numbers right-aligned."""
    cells = [head, *[[str(cell) for cell in row] for row in rows]]
    left = [column for column in range(len(head)) if not all(isinstance(row[column], int) for row in rows)]
    return "\n".join(aligned(cells, left))


def instruction(info: RunInfo, pc: int) -> str:
    """Return the text of the instruction at a pc, or '' beyond the program."""
    program = info.program
    return program[pc].text if 0 <= pc < len(program) else ""


def warps(session: Session, text: str) -> Report:
    """List the warp slots with a warp: state, pc, lanes and next instruction."""
    snapshot, info = session.snapshot(), session.info
    names = info.stall_names
    data = []
    for slot, warp in enumerate(snapshot.sm["warp"][: info.num_warps]):
        if int(warp["cta"]) == NONE8:
            continue
        pc = int(warp["pc"])
        data.append({"warp": slot, "cta": int(warp["cta"]), "pc": pc, "mask": int(warp["mask"]),
                     "state": names.get(int(warp["state"]), str(warp["state"])),
                     "since": int(warp["state_since_cycle"]), "issued": int(warp["num_issued"]),
                     "instruction": instruction(info, pc)})
    rows = [[e["warp"], e["cta"], e["pc"], f"{e['mask']:08x}", e["state"], e["since"], e["issued"], e["instruction"]]
            for e in data]
    head = ["warp", "cta", "pc", "lanes", "state", "since", "issued", "next instruction"]
    return table(head, rows) if rows else "no warp is resident", data


def banks(session: Session, text: str) -> Report:
    """List the register-file banks: what each one did and how many requests wait."""
    snapshot = session.snapshot()
    machine, data = Machine.of(snapshot), []
    for number, bank in enumerate(snapshot.sm["bank"][: session.info.num_banks]):
        data.append({"bank": number, "activity": ACTIVITIES[int(bank["activity"]) & 3], "queue": int(bank["queue"]),
                     "owner": machine.owner(number), "until": int(bank["until_cycle"])})
    rows = [[e["bank"], e["activity"], e["queue"], e["owner"], e["until"]] for e in data]
    return table(["bank", "activity", "queue", "owner", "busy until"], rows), data


def stalls(session: Session, text: str) -> Report:
    """Count the warps per state in the last cycle, and warp-cycles since the start: shares of those of resident warps."""
    snapshot, names = session.snapshot(), session.info.stall_names
    total, now = snapshot.sm["stall_total"], snapshot.sm["state_count"]
    resident = sum(int(total[code]) for code, name in names.items() if name not in NO_WARP)
    data: list[dict[str, Any]] = [
            {"state": name, "now": int(now[code]), "total": int(total[code]),
             "share": None if name in NO_WARP else float(total[code]) / max(1, resident)}
            for code, name in names.items() if total[code] or now[code]]
    data.sort(key=lambda entry: (entry["share"] is None, -entry["total"]))
    rows = [[e["state"], e["now"], e["total"], "" if e["share"] is None else f"{e['share']:.1%}"] for e in data]
    text = table(["state", "warps now", "warp-cycles", "share"], rows)
    return f"{text}\n100 % = {resident:,} warp-cycles of resident warps", data


def breakpoints(session: Session, text: str) -> Report:
    """List the breakpoints."""
    data = [{"number": p.number, "place": p.text, "enabled": p.enabled, "temporary": p.temporary, "hits": p.hits,
             "ignore": p.ignore} for p in session.breakpoints.values()]
    rows = [[e["number"], e["place"], "on" if e["enabled"] else "off", e["hits"], e["ignore"],
             "once" if e["temporary"] else ""] for e in data]
    return table(["number", "place", "", "hits", "ignore", ""], rows) if rows else "no breakpoints", data


def marks(session: Session, text: str) -> Report:
    """List the marks."""
    data = [{"name": mark.name, "cycle": mark.cycle, "note": mark.note} for mark in session.marks]
    rows = [[f"@{e['name']}", e["cycle"], e["note"]] for e in data]
    return table(["mark", "cycle", "note"], rows) if rows else "no marks", data


def time(session: Session, text: str) -> Report:
    """Return the current cycle, the number of cycles, and the launch."""
    timeline = session.timeline
    span = max(1, timeline.last - timeline.first)
    share = (session.cycle - timeline.first) / span
    launch = int(session.snapshot().sm["launch"]["index"])
    launches = session.info.launches
    kernel = launches[launch].kernel if launch < len(launches) else session.info.kernel
    end = "" if timeline.closed else " so far"
    data = {"cycle": session.cycle, "first": timeline.first, "last": timeline.last, "closed": timeline.closed,
            "percent": round(100 * share, 3), "launch": launch, "kernel": kernel, "fault": timeline.fault}
    line = (f"cycle {session.cycle:,} of {timeline.first:,}..{timeline.last:,}{end} ({share:.1%}), launch {launch}, "
            f"kernel {kernel_name(kernel)}")
    return line + (f"\nfault: {timeline.fault}" if timeline.fault else ""), data


def registers(session: Session, text: str) -> Report:
    """List the registers and predicates of one warp, by lane."""
    if not text:
        raise InputError("name a warp, as in `info registers 3`")
    warp = parse_warp(text, "info registers")
    check_warp(warp, session.info.num_warps, "info registers")
    snapshot = session.snapshot()
    data: dict[str, Any] = {}
    lines = []
    count = int(snapshot.sm["launch"]["registers"])
    named = names_at(snapshot.info, int(snapshot.sm["warp"][warp]["pc"]))
    room = max(map(len, named.values()), default=0)
    for reg in range(count):
        try:
            values = snapshot.register(warp, reg)
        except IndexError as error:
            raise InputError(str(error)) from None
        data[f"R{reg}"] = values.tolist()
        if (values == values[0]).all():
            text = f"{int(values[0]):08x} in all lanes"
        else:
            text = " ".join(f"{int(value):08x}" for value in values)
        lines.append(f"R{reg:<3} {named.get(reg, ''):<{room}} {text}" if room else f"R{reg:<3} {text}")
    return "\n".join(lines) or "no registers", data


def output(session: Session, text: str) -> Report:
    """List the kernel's printf output so far."""
    lines = session.printed()
    shown = "\n".join(f"{cycle:>9,}  {line.rstrip()}" for cycle, line in lines)
    return shown or "nothing printed yet", [{"cycle": cycle, "text": line} for cycle, line in lines]


def history(session: Session, text: str) -> Report:
    """List the stops of this session, which are marked automatically; the arrow marks the current one."""
    cycles, at = session.history
    rows = [["▸" if index == at else "", index, f"{cycle:,}"] for index, cycle in enumerate(cycles)]
    return table(["", "stop", "cycle"], rows), [{"stop": index, "cycle": cycle, "here": index == at}
                                                for index, cycle in enumerate(cycles)]


def accounts(session: Session, text: str) -> Report:
    """Report whether warp-cycles and energy add up at this cycle."""
    broken = problems(session.snapshot())
    snapshot = session.snapshot()
    energy = energy_at(snapshot) or {}
    warps, total = snapshot.info.num_warps, int(snapshot.sm["stall_total"].sum())
    lines = [f"{total:,} warp-cycles in states, {warps} warps x {snapshot.cycle:,} cycles"]
    mark = f"   {ASSUMED}" if assumed_of(session.info) else ""
    lines += [f"{name:<10} {energy_text(value):>16}{mark}" for name, value in energy.items()]
    return "\n".join([*lines, *(broken or ("the books balance",))]), {
        "balanced": not broken, "problems": list(broken), "warp_cycles": total, "energy_pj": energy}


TOPICS: dict[str, Callable[[Any, str], Report]] = {
    "warps": warps, "banks": banks, "stalls": stalls, "registers": registers, "breakpoints": breakpoints,
    "marks": marks, "time": time, "output": output, "history": history, "accounts": accounts,
}
ALIASES = {"w": "warps", "warp": "warps", "bank": "banks", "stall": "stalls", "regs": "registers", "r": "registers",
           "b": "breakpoints", "break": "breakpoints", "mark": "marks", "bookmarks": "marks", "t": "time",
           "printed": "output"}
