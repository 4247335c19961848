"""`python -m rfview` is the command `rfview`; Ctrl-C while its modules are imported ends it with one line."""

# signal itself imports enum: some milliseconds in which Ctrl-C would print a traceback
import _signal as signal  # type: ignore[import-not-found]
import os
import sys


def _interrupted(number: int, frame: object) -> None:
    """End at once: nothing has begun, and an exception might be caught by whatever is being imported."""
    os.write(2, b"rfview: error: interrupted\n")
    os._exit(128 + number)


def main() -> int:
    """Run the command line; it handles signals itself once it has begun."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupted)
    from rfview.cli import main as command      # start-up

    return command()


if __name__ == "__main__":
    sys.exit(main())
