"""Runs a line typed at the prompt: a command that only the screen has, else one of the session's language."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rfview.actions import ACTIONS
from rfview.keys import Pressed
from rfview.render.registers import FORMATS
from rfview.screens import requests
from rfview.screens.handlers import ask, focus, screen, search
from rfview.screens.handlers.table import HANDLERS
from rfview.sessions.commands.table import ALIASES
from rfview.sessions.warps import warp_number

if TYPE_CHECKING:
    from rfview.screens.desk import Desk


def choose_warp(main: Desk, rest: str) -> bool:
    """warp 5, w w5: focus a warp."""
    warp = warp_number(rest)
    if warp is None:
        return False
    focus.choose_warp(main, warp)
    return True


def step_issue(word: str) -> Callable[[Desk, str], bool]:
    """stepi, rsi, next-line, previous-line without a warp: step the focused warp."""

    def handler(main: Desk, rest: str) -> bool:
        if rest:
            return False
        main.worker.ask(requests.command, f"{word} {main.scene.warp}")
        return True

    return handler


def change(forward: bool) -> Callable[[Desk, str], bool]:
    """next, last without an item: go to a change of the focused item."""

    def handler(main: Desk, rest: str) -> bool:
        if rest:
            return False
        main.worker.ask(requests.change, focus.focused_item(main), forward)
        return True

    return handler


def with_rest(do: Callable[[Desk, str], None]) -> Callable[[Desk, str], bool]:
    """Call `do` with what follows the word, if anything does."""

    def handler(main: Desk, rest: str) -> bool:
        if rest:
            do(main, rest)
        return bool(rest)

    return handler


def heat(main: Desk, rest: str) -> bool:
    """heat w5.R3, heat C[0..127]: show values through time; without an item those of the focused one."""
    if rest:
        ask.open_heat(main, rest)
    else:
        ask.heat(main, Pressed("heat"))
    return True


def image(main: Desk, rest: str) -> bool:
    """image out 128x128: show a buffer as a picture; without a buffer, prompt for one."""
    if rest:
        ask.open_image(main, rest)
    else:
        ask.image(main, Pressed("image"))
    return True


def number_format(main: Desk, rest: str) -> bool:
    """format hex: how REGISTERS shows numbers."""
    if rest in FORMATS:
        main.change(number_format=rest)
    return rest in FORMATS


def help_on(main: Desk, rest: str) -> bool:
    """help wb_drain: explain a term; help alone and help on a debugger command mean something else."""
    if rest and rest not in ALIASES:
        ask.explain_term(main, rest)
        return True
    return False


def panel(main: Desk, rest: str) -> bool:
    """panel 3, panel lines: focus that panel."""
    screen.panel(main, Pressed("panel", None, rest))
    return True


def source(main: Desk, rest: str) -> bool:
    """source: what CODE shows; source FILE: run the commands in a file."""
    if not rest:
        screen.source(main, Pressed("source"))
    return not rest


def _quit(main: Desk, rest: str) -> bool:
    """quit: end the program."""
    main.app.exit(0)
    return True


# word -> function of the rest of the line; it returns False if the line means something else
WORDS: dict[str, Callable[[Desk, str], bool]] = {
    **dict.fromkeys(("q", "quit", "exit"), _quit),
    **dict.fromkeys(("warp", "w"), choose_warp),
    **{word: step_issue(word) for word in ("stepi", "si", "rsi", "reverse-stepi", "next-line", "nl", "previous-line", "pl")},
    **dict.fromkeys(("next", "nextchange"), change(True)), **dict.fromkeys(("last", "lastchange"), change(False)),
    **dict.fromkeys(("find", "f"), with_rest(lambda main, rest: search.in_time(main, rest, 1))),
    **dict.fromkeys(("reverse-find", "rf"), with_rest(lambda main, rest: search.in_time(main, rest, -1))),
    "overlay": with_rest(lambda main, rest: main.overlay(rest)),
    "explain": with_rest(ask.explain_term), **dict.fromkeys(("help", "h"), help_on), "heat": heat, "image": image,
    "screenshot": with_rest(screen.write_screenshot),
    "range": with_rest(lambda main, rest: main.worker.ask(requests.brush, rest)),
    "format": number_format, "panel": panel, "source": source,
}


def entered(main: Desk, mode: str, text: str) -> None:
    """Do what was typed. mode: / searches the program, : is a command."""
    if mode == "/":
        search.in_program(main, text)
        return
    main.say("")
    if not text:
        return
    word, _, rest = text.partition(" ")
    if word in WORDS and WORDS[word](main, rest):
        return
    action = next((one for one in ACTIONS
                   if one.command and (word if one.takes_letter else text) in (one.command, one.name)), None)
    if action is None or word in ALIASES:
        main.worker.ask(requests.command, text)
    elif action.takes_letter and not (len(rest) == 1 and rest.isalnum()):
        main.say(f"{word}: expected a letter or digit after it: {action.sentence}", "error")
    else:
        HANDLERS[action.name](main, Pressed(action.name, None, rest if action.takes_letter else ""))
