"""`rfview image`: a buffer as a picture, as text or PNG; on edram also the exact picture and the error."""

from __future__ import annotations

import argparse

from rfview.commands import query

EPILOG = """examples:
  rfview image run.rfs out 128x128 --png out.png
  rfview image hotspot temp_a --design 'edram[error_mode=certain]'
on edram the run is simulated once more without a lost bit; in a session: `image out 128x128`, `origin out[6446]`"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    query.add_arguments(parser, goto="end")
    parser.add_argument("buffer", metavar="BUFFER", help="the buffer or symbol to show")
    parser.add_argument("size", metavar="WIDTHxHEIGHT", nargs="?", default="",
                        help="size in pixels (default: the buffer's own two dimensions)")
    parser.add_argument("--png", metavar="F", help="write all panes to this file")


def run(args: argparse.Namespace) -> int:
    """Print the picture and its differences, or write it; a kernel is run to that cycle."""
    from rfview.engine import files
    from rfview.sessions.commands.image import facts, picture_text, write_png
    from rfview.sessions.pictures.picture import picture

    if args.png:
        files.check_target(args.png)
    with query.session_at(args, args.goto) as session:
        shown = picture(session, args.buffer, args.size)
        data = shown.data()
        if args.png:
            data["png"] = write_png(shown, args.png)
        return query.answer(args, f"{args.png}: {facts(shown)}" if args.png else picture_text(shown), data)
