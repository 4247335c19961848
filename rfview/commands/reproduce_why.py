"""`rfview reproduce --why ID`: a claim's number beside what it becomes when what its cause names is changed.

    edram-refresh-single  refresh energy saved, edram over edram(precise), paper 16 %
      as judged                                       11.1 %   direction
      flags are wiped when a warp ends                 5.3 %   further from the paper
        other reading of B4.9: edram.keep_flags=0
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rfview.engine import papers
from rfview.engine.errors import InputError
from rfview.engine.wording import suggest
from rfview.commands import options, progress, reproduce_text as text

if TYPE_CHECKING:
    from rfview.engine.papers import Claim, Experiment, Number
    from rfview.engine.papers.lab import Lab

ALL = "all"
NEARER, FURTHER, UNMOVED = "nearer to the paper", "further from the paper", "as far from the paper"


def run(args: argparse.Namespace) -> int:
    """Measure the claim with each of its experiments, or every claim that has some, and print before and after."""
    if args.exact or args.directions:
        raise InputError("--why: it runs experiments of claims; leave out --exact and --directions")
    chosen = chosen_claims(args.why, args.design)
    from rfview.engine.batch import Runs
    from rfview.engine.papers.lab import Lab

    kernels = options.bundled(args.kernels) if args.kernels else None
    rows: list[dict[str, Any]] = []
    with progress.bar() as report, Runs(report, args.workers) as runs:
        for claim in chosen:
            lab = Lab(runs, kernels, paper=claim.paper_design, size=args.size)
            if not lab.kernels and args.why != ALL:
                raise InputError(f"--kernels {args.kernels}: {text.NO_KERNELS}")
            rows.append(outcome(claim, lab))
    print(json.dumps(text.plain(rows)) if args.json else "\n\n".join("\n".join(lines(row)) for row in rows))
    return 0


def chosen_claims(name: str, design: str | None) -> list[Claim]:
    """Return the claims with experiments that a name selects; raises InputError if there is none."""
    every = {claim.id: claim for claim in papers.load().values()
             if claim.experiments and design in (None, claim.paper_design, claim.design)}
    if name == ALL:
        return list(every.values())
    if name in every:
        return [every[name]]
    if name in papers.load():
        raise InputError(f"--why {name}: this claim has no experiment; these have: {', '.join(every)}")
    raise InputError(f"--why {name}: no such claim{suggest(name, every)}; 'all' runs every experiment")


def outcome(claim: Claim, lab: Lab) -> dict[str, Any]:
    """Return a claim's number as judged, and with each experiment, as plain data."""
    before = number_of(claim, lab)
    return {
        "id": claim.id, "subject": text.subject(claim), "paper_value": claim.value, "unit": claim.unit, "cause": claim.cause,
        "preset": lab.preset, "value": before.value, "kernels": list(before.ran),
        "experiments": [after(claim, before, one, number_of(claim, lab.having(one))) for one in claim.experiments],
    }


def number_of(claim: Claim, lab: Lab) -> Number:
    """Return the number that a claim's paper has from the kernels of a lab; NaN if none of them is the paper's."""
    if not lab.kernels:
        return papers.Number(math.nan, text.NO_KERNELS)
    return papers.module(claim.paper_design).MEASURED[claim.id](lab)


def after(claim: Claim, before: Number, changed: Experiment, number: Number) -> dict[str, Any]:
    """Return what an experiment changed, and the number that came out."""
    distance = [abs(one.value - claim.value) for one in (before, number)]
    if not all(map(math.isfinite, distance)):
        moved = "no number"
    else:
        near = math.isclose(*distance, rel_tol=1e-3, abs_tol=1e-9)
        moved = UNMOVED if near else NEARER if distance[1] < distance[0] else FURTHER
    return {"what": changed.what, "reading": changed.reading, "with": described(changed), "value": number.value,
            "moved": moved, "note": number.note, "kernels": list(number.ran)}


def described(changed: Experiment) -> str:
    """Return an experiment's changes as options: "--preset gtx480, sm.num_banks=8, without bfs"."""
    parts = [f"--{name} {value}" for name, value in (("preset", changed.preset), ("scheduler", changed.scheduler)) if value]
    parts += [f"{key}={value}" for key, value in changed.settings.items()]
    parts += [f"{word} {', '.join(names)}" for word, names in (("only", changed.kernels), ("without", changed.without))
              if names]
    return ", ".join(parts)


def lines(row: dict[str, Any]) -> Sequence[str]:
    """Return an outcome as lines."""
    unit = row["unit"]
    out = [f"{row['id']}  {row['subject']}, paper {text.number_text(row['paper_value'])} {unit}, preset {row['preset']}"]
    out.append(f"  {'as judged':<64} {text.number_text(row['value']):>9} {unit}")
    for one in row["experiments"]:
        out.append(f"  {one['what']:<64} {text.number_text(one['value']):>9} {unit}  {one['moved']}")
        out.append("    " + (f"other reading of {one['reading']}: " if one["reading"] else "") + one["with"])
    return [*out, *text.wrapped(row["cause"] and f"cause: {row['cause']}")]
