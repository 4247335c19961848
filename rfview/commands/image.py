"""`rfview image`: a buffer as a picture, as text or PNG; on edram also the exact picture and the error."""

from __future__ import annotations

import argparse
import json

from rfview.commands import options
from rfview.launching import words

EPILOG = """examples:
  rfview image run.rfs out 128x128 --png out.png
  rfview image hotspot temp_a --design 'edram[error_mode=certain]'
on edram the run is simulated once more without a lost bit; in a session: `image out 128x128`, `origin out[6446]`"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    options.add_openable(parser)
    parser.add_argument("buffer", metavar="BUFFER", help="the buffer or symbol to show")
    parser.add_argument("size", metavar="WIDTHxHEIGHT", nargs="?", default="",
                        help="size in pixels (default: the buffer's own two dimensions)")
    parser.add_argument("--png", metavar="F", help="write all panes to this file")
    parser.add_argument("--goto", metavar="WHERE", default="end", help="the cycle, such as 1234 or 50%% (default end)")
    options.add_json(parser)
    options.add_machine(parser)
    words.add_arguments(parser)


@words.takes_kernels
def run(args: argparse.Namespace) -> int:
    """Print the picture and its differences, or write it; a kernel is first run to its end."""
    from rfview.engine import files
    from rfview.sessions.commands.image import facts, picture_text, write_png
    from rfview.sessions.pictures.picture import picture

    if args.png:
        files.check_target(args.png)
    with options.open_target(args) as session:
        if not session.timeline.closed:
            session.goto("end")
        session.goto(args.goto)
        shown = picture(session, args.buffer, args.size)
        data = shown.data()
        if args.png:
            data["png"] = write_png(shown, args.png)
        print(json.dumps(data) if args.json else f"{args.png}: {facts(shown)}" if args.png else picture_text(shown))
    return 0
