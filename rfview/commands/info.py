"""`rfview info`: report what a session file contains and whether it is intact; extract its design files."""

from __future__ import annotations

import argparse
import json
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rfview.commands import options, progress
from rfview.engine.errors import InputError

if TYPE_CHECKING:
    from rfview.sessions.summary.summarise import Summary

# names that differ between text and JSON: "off" refers to the options; the PTX is compiled in any case
LABELS = {"compilation": "PTX options", "compilation_notes": "PTX notes"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("file", metavar="FILE", help="a session file (.rfs)")
    parser.add_argument("--save-designs", metavar="DIR",
                        help="write the design files of the run to DIR/FILE.py, to be reviewed and then named in "
                             "RFVIEW_DESIGNS")
    parser.add_argument("--verify", action="store_true", help="read everything, and compare the state at the end of each "
                        "chunk with the start of the next; exit with 1 if something is wrong")
    options.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the file's header, size and condition; or extract its design files and say where they are."""
    from rfview.sessions.timeline import opening

    if not Path(args.file).exists() and Path(args.file).suffix != ".rfs":
        raise InputError(f"{args.file}: no such file; info reads session files (.rfs), and `rfview kernels` describes "
                         "kernels")
    if args.save_designs is not None:
        return save_designs(args.file, args.save_designs)
    facts = opening.describe(args.file)
    if args.verify:
        facts["verify"] = verified(args.file)
    sentences, slip = sentences_of(args.file)
    if args.json:
        print(json.dumps({**facts, "summary": sentences.data() if sentences is not None else None}))
    else:
        print(text_of(facts) + (f"\n\n{sentences.text()}" if sentences is not None else ""))
    if slip is not None:
        raise slip
    return 1 if facts.get("verify") or (args.verify and facts["warnings"]) else 0


def sentences_of(file: str) -> tuple[Summary | None, InputError | None]:
    """Return the sentences about a recording's run, and what is wrong with the design's floors or lifts.

    A recording does without the design's file, so that this is raised after its facts are printed.
    """
    try:
        return summary_of(file), None
    except InputError as error:
        return None, error


def summary_of(file: str) -> Summary | None:
    """Return what limited the run of a recording; None if the run has not ended in it, or was cut."""
    from rfview.sessions.compare.comparison import has_ended
    from rfview.sessions.session import Session
    from rfview.sessions.summary.summarise import of_recording
    from rfview.sessions.timeline.opening import open_recording

    timeline = open_recording(file)
    try:
        if timeline.first or not timeline.last or not has_ended(timeline):
            return None
        return of_recording(Session(timeline))
    finally:
        timeline.close()


def verified(file: str) -> list[str]:
    """Return the errors found by reading a recording completely, a sentence each."""
    from rfview.sessions.timeline.opening import open_recording
    from rfview.sessions.timeline.verify import verify

    timeline = open_recording(file, check=True)
    try:
        with progress.bar(1.0) as report:
            return list(verify(timeline, lambda share: report(share, f"reading {file}")))
    finally:
        timeline.close()


def save_designs(file: str, folder: str) -> int:
    """Extract the design files of a session file into a folder; print how to use them."""
    from rfview.engine.plugin import files, origin
    from rfview.sessions.timeline import opening

    timeline = opening.open_recording(file)
    spec = timeline.info.design_spec
    timeline.close()
    paths = origin.save(spec, folder)
    for path in paths:
        print(f"{path}: written; it is a program, so read it before you let it run")
    named = os.pathsep.join(str(path.resolve()) for path in paths)
    print(f"then: {files.ENVIRONMENT}={shlex.quote(named)} rfview replay {shlex.quote(file)}")
    return 0


def text_of(facts: dict[str, Any]) -> str:
    """Return the facts as aligned lines, numbers with thousands separators."""
    width = max(map(len, facts))
    lines = []
    for name, value in facts.items():
        if isinstance(value, float):
            shown = f"{value:,.2f}"
        elif isinstance(value, int) and not isinstance(value, bool):
            shown = f"{value:,}"
        elif isinstance(value, list):
            shown = ", ".join(map(str, value)) or "none"
        elif isinstance(value, dict):
            shown = ", ".join(f"{key}={part}" for key, part in value.items()) or "none"
        else:
            shown = "none" if value is None else str(value)
        if name == "verify" and not value:
            shown = "whole: every chunk was read, and each ends in the state in which the next begins"
            if facts["keyframes"]:
                command = f"rfview record --fill {shlex.quote(facts['file'])} -o ALL.rfs"
                shown += f"; `{command}` compares the keyframes with the run"
        lines.append(f"{LABELS.get(name, name.replace('_', ' ')):<{width}}  {shown}")
    return "\n".join(lines)
