"""The result of a comparison as text: totals, the first divergence and its cause, the lag.

    first divergence   cycle 8: w6's 2nd instruction, cvta.to.global.u64 R4, R2 (vectoradd.ptx:22)
                       A 8, B 11 (+3); in B it waits: stt_write
                       resource: bank 0, STT writes take 4 cycles
    instructions        A        B      B−A
           2,380    2,874    4,811   +1,937     in B the instruction that is the 2,380th to issue comes 1,937 cycles later
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rfview.engine.plugin import assumed, nodes
from rfview.engine.stalls import NO_WARP
from rfview.engine.wording import aligned, ordinal, signed
from rfview.sessions.compare import machines
from rfview.sessions.compare.report import instruction_text
from rfview.sessions.compare.issues import WarpName
from rfview.sessions.expressions.ptx_names import kernel_name
from rfview.sessions.reports import tables as reports

if TYPE_CHECKING:
    from rfview.engine.info import RunInfo


def warp_text(name: WarpName, info: RunInfo, a: int | None, b: int | None) -> str:
    """Return a warp by its slots in A and B and its place in the grid: "w6 (CTA 0, warp 6)"."""
    warps = info.launches[name.launch].warps_per_cta
    slots = [f"w{slot} in {letter}" for slot, letter in ((a, "A"), (b, "B")) if slot is not None]
    where = f"w{a}" if a == b and a is not None else " and ".join(slots)
    launch = f"launch {name.launch}, " if len(info.launches) > 1 else ""
    return f"{where} ({launch}CTA {name.warp // warps}, warp {name.warp % warps})".strip()


def _named(launch: int, warp: int, info: RunInfo, a: dict[str, int] | None, b: dict[str, int] | None) -> str:
    """Return the name of a warp in the result's data."""
    return warp_text(WarpName(launch, warp), info, a["slot"] if a else None, b["slot"] if b else None)


def compare_text(data: dict[str, Any], info: RunInfo) -> str:
    """Return `compare_data`'s result as text; info: of either run."""
    a, b = data["runs"]
    kernel = kernel_name(a["kernel"])
    lines = [f"{kernel}   A  {a['design']} {a['scheduler']}  {a['target']}   B  {b['design']} {b['scheduler']}  "
             f"{b['target']}", ""]
    sentence = machines.sentence(data["machines_differ_in"])
    lines[1:1] = [sentence] if sentence else []
    lines += [totals_text(data["runs"]), ""]
    lines += _divergence_lines(data, info)
    if data["parameters"]:
        differing = [f"{name} {_short(ours)} | {_short(theirs)}" for name, (ours, theirs) in data["parameters"].items()]
        lines += ["", "parameters that differ, A | B", *(f"  {text}" for text in differing)]
    rows = [[f"{lead['instructions']:,}", f"{lead['cycle_a']:,}", f"{lead['cycle_b']:,}", signed(lead["lag"])]
            for lead in data["lead"]]
    lines += ["", "lead and lag: the cycle in which that many instructions have issued",
              columns(["instructions", "A", "B", "B−A"], rows)]
    lines += [f"note: {note}" for note in data["notes"]]
    return "\n".join(lines)


def _short(value: Any) -> str:
    text = "–" if value is None else str(value)
    return text if len(text) <= 24 else text[:23] + "…"


def _divergence_lines(data: dict[str, Any], info: RunInfo) -> list[str]:
    """Return the sentences about where the runs diverge."""
    divergence = data["first_divergence"]
    lines = []
    if divergence is None:
        lines.append("first divergence   none: every instruction issues in the same cycle in both runs")
    else:
        name = _named(divergence["launch"], divergence["warp"], info, divergence["a"], divergence["b"])
        lines.append(f"first divergence   cycle {divergence['cycle']:,}: the {ordinal(divergence['n'])} instruction "
                     f"of {name}, {divergence['instruction']}")
        lines.append(f"                   {_cycles(divergence['a'], divergence['b'])}; in {divergence['late']} it waits: "
                     f"{divergence['cause']['text']}")
        if machines.reach_beyond_designs(data["machines_differ_in"]):
            lines.append("                   the machines differ in more than the register file, which may be its cause")
        lines += [f"                   {text}" for text in divergence["cause"]["chain"]]
        if divergence["cause"]["resource"]:
            lines.append(f"                   resource: {divergence['cause']['resource']}")
    split = data["first_path_difference"]
    if split is not None:
        name = _named(split["launch"], split["warp"], info, split["a"], split["b"])
        lines.append(f"first other path   the {ordinal(split['n'])} instruction of {name}: A "
                     f"{instruction_text(info, split['a']['pc'])}, B {instruction_text(info, split['b']['pc'])}; "
                     f"{_cycles(split['a'], split['b'])}")
    value = data["first_value_difference"]
    if value is not None:
        a, b = (f"{value[f'value_{side}']:08x} in cycle {value[f'cycle_{side}']:,}"
                if value[f"value_{side}"] is not None else "not written" for side in "ab")
        lines.append(f"first other value  {value['place']}, its {ordinal(value['k'])} value: A {a}, B {b}")
    same = {True: "equal at the end", False: "differs at the end", None: "not compared: a run has not ended"}
    paths = "" if split is not None else "; every warp takes the same path"
    lines.append(f"memory             {same[data['memory_equal']]}{paths}")
    return lines


def _cycles(a: dict[str, int] | None, b: dict[str, int] | None) -> str:
    """Return both runs' values and their difference, "A 8, B 11 (+3)"."""
    if a is None or b is None:
        return ", ".join(f"{letter} {issue['cycle']:,}" if issue else f"not in {letter}"
                         for letter, issue in (("A", a), ("B", b)))
    return f"A {a['cycle']:,}, B {b['cycle']:,} ({signed(b['cycle'] - a['cycle'])})"


def totals_text(runs: list[dict[str, Any]]) -> str:
    """Return cycles, IPC, energy and warp-cycles by reason, one column per run; of two runs also B−A."""
    pair = len(runs) == 2
    head = ["", *(run["run"] for run in runs), *(["B−A", "B/A"] if pair else [])]
    rows = [["cycles", *_differing([run["cycles"] for run in runs], pair)],
            ["instructions", *_differing([run["instructions"] for run in runs], pair)],
            ["IPC", *(f"{run['ipc']:.3f}" for run in runs), *(["", _ratio(*(run["ipc"] for run in runs))] if pair else [])]]
    if all(run["energy_pj"] is not None for run in runs):
        micro = [run["energy_pj"] / 1e6 for run in runs]
        marks = [assumed.mark(run.get("energy_assumed", ())) for run in runs]
        ratio = assumed.ASSUMED if any(marks) else "–" if are_of_other_nodes(runs) else _ratio(*micro) if pair else ""
        rows.append(["RF energy µJ", *(f"{value:.4g}" for value in micro), *(["", ratio] if pair else [])])
        if any(marks):
            rows.append(["  from", *(assumed.ASSUMED if mark else "sources" for mark in marks), *(["", ""] if pair else [])])
        if are_of_other_nodes(runs):
            rows.append(["  technology", *node_texts(runs), *(["", ""] if pair else [])])
    rows.append(["warp-cycles", *_differing([run["warp_cycles"] for run in runs], pair)])
    names = {name: sum(run["stalls"].get(name, 0) for run in runs) for run in runs for name in run["stalls"]}
    rows.append(["  issued", *_differing([run["instructions"] for run in runs], pair)])
    for name in sorted(names, key=lambda name: (name in NO_WARP, -names[name])):
        rows.append([f"  {name}", *_differing([run["stalls"].get(name, 0) for run in runs], pair)])
    return columns(head, rows)


def are_of_other_nodes(runs: list[dict[str, Any]]) -> bool:
    """Say whether the runs' energies are for different technologies, so that their ratio says nothing about the designs."""
    return nodes.differ(run["node_nm"] for run in runs)


def node_texts(runs: list[dict[str, Any]]) -> list[str]:
    """Return each run's technology node, or a dash if it is not known."""
    return [f"{run['node_nm']} nm" if run["node_nm"] else "–" for run in runs]


def _differing(values: list[int], pair: bool) -> list[str]:
    """Return counts as text; of two runs with difference and ratio."""
    shown = [f"{value:,}" for value in values]
    return [*shown, signed(values[1] - values[0]), _ratio(*values)] if pair else shown


def _ratio(a: float, b: float) -> str:
    return f"×{b / a:.3f}" if a else "–"


def columns(head: list[str], rows: list[list[str]]) -> str:
    """Return aligned columns: the first left-aligned if it has no heading, all others right-aligned."""
    return "\n".join(aligned([head, *rows], () if head[0] else (0,)))


def multiples_text(data: dict[str, Any]) -> str:
    """Return `multiples_data`'s result as text; later runs' cycles as differences from the first's."""
    runs = data["runs"]
    first = runs[0]
    rows = [[run["run"], run["design"], run["scheduler"], f"{run['cycles']:,}", _ratio(first["cycles"], run["cycles"]),
             f"{run['ipc']:.3f}", _energy(run), _main(run),
             run["target"]] for run in runs]
    sentence = machines.sentence(data["machines_differ_in"])
    lines = [f"{kernel_name(first['kernel'])}, {len(runs)} runs", *([sentence] if sentence else []), "",
             reports.table(["run", "design", "scheduler", "cycles", "×A", "IPC", "RF µJ", "mostly", "target"], rows), "",
             totals_text(runs), "", "the cycle in which that many instructions issued: A, and how much later the others"]
    lead = [[f"{entry['instructions']:,}", f"{entry['cycles'][0]:,}",
             *(signed(cycle - entry["cycles"][0]) for cycle in entry["cycles"][1:])] for entry in data["lead"]]
    return "\n".join([*lines, columns(["instructions", *(run["run"] for run in runs)], lead)])


def _energy(run: dict[str, Any]) -> str:
    """Return a run's energy in µJ, with a mark if it is assumed."""
    mark = f" {assumed.ASSUMED}" if run.get("energy_assumed") else ""
    return "–" if run["energy_pj"] is None else f"{run['energy_pj'] / 1e6:.4g}{mark}"


def _main(run: dict[str, Any]) -> str:
    """Return the most frequent stall reason and its share of the stalled warp-cycles."""
    waits = {name: count for name, count in run["stalls"].items() if name not in NO_WARP}
    if not waits:
        return "–"
    name = max(waits, key=lambda key: waits[key])
    return f"{name} {waits[name] / sum(waits.values()):.0%}"
