"""Handlers of the screen itself: panels, focus, number formats, source, layers, screenshots, leaving."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from rfview.engine import files
from rfview.engine.errors import InputError
from rfview.keys import Pressed
from rfview.render import panels, summary
from rfview.render.frame import drawn
from rfview.render.panels import ALONE, FOCUSABLE, PANELS
from rfview.render.registers import FORMATS
from rfview.render.scene import Progress
from rfview.screens import requests
from rfview.screens.handlers import focus, lines
from rfview.screens.windows.palette import PaletteWindow

if TYPE_CHECKING:
    from rfview.screens.desk import Desk

Handler = Callable[["Desk", Pressed], None]


def panel(main: Desk, pressed: Pressed) -> None:
    """Focus a panel by its number; Alt+0 is the tenth. Typed after `:panel`, its name or the beginning of it does, too."""
    word = pressed.argument.lower()
    number = (int(word) or 10) if word.isdecimal() else 0
    named = [one for one in FOCUSABLE if word and (one.startswith(word) or PANELS[one].title.lower().startswith(word))]
    chosen = FOCUSABLE[number - 1 : number] if number else named
    if len(chosen) != 1 and word not in chosen:
        typed = f"panel {pressed.argument}".strip()
        main.say(f"{typed}: expected a number from 1 to {len(FOCUSABLE)}, or one of {', '.join(FOCUSABLE)}", "error")
        return
    name = word if word in chosen else chosen[0]
    focus.give_keys(main, name)
    main.say(PANELS[name].title)


def move(by: int) -> Handler:
    """Move down (by > 0) or up inside the focused panel."""
    return lambda main, pressed: focus.move(main, by * (pressed.count or 1))


def other_side(main: Desk, pressed: Pressed) -> None:
    """Focus the neighbouring warp (even or odd); with a count, that warp. In LINES, change the order of the lines."""
    if main.scene.panel == "lines" and pressed.count is None:
        lines.turn_order(main, pressed)
        return
    focus.choose_warp(main, pressed.count if pressed.count is not None else main.scene.warp ^ 1)


def alone(name: str) -> Handler:
    """Show a full-screen panel, or leave it."""
    return lambda main, pressed: focus.toggle_alone(main, name)


def open_focused(main: Desk, pressed: Pressed) -> None:
    """Open what is focused."""
    main.act(Pressed(panels.of(main.scene.panel).enter, pressed.count))


def open_sentence(main: Desk, pressed: Pressed) -> None:
    """Go to the line or the panel that SUMMARY's chosen sentence names; 3 and Enter: that of the third."""
    scene = main.scene
    if scene.summary is None or isinstance(scene.summary, Progress) or not scene.summary.sentences:
        main.say("no sentence yet")
        return
    if pressed.count is not None:
        main.change(sentence=pressed.count - 1)
    sentence = scene.summary.sentences[summary.chosen(main.scene)]
    if sentence.opens == "relief":
        main.act(Pressed("relief"))
    elif sentence.pc < 0:
        focus.give_keys(main, sentence.opens if sentence.opens in PANELS else "stalls")
    elif scene.lines:
        main.scene = scene.at(line=scene.lines.number_at(sentence.pc))
        focus.give_keys(main, "lines")
    else:
        focus.leave_layer(main)
        main.worker.ask(requests.run_to, sentence.pc, scene.warp, None, 1)


def close(main: Desk, pressed: Pressed) -> None:
    """Cancel a long move, else close one layer; quits only for Ctrl-C (the argument) during a move that does not end."""
    if pressed.argument and main.worker.is_stuck:
        main.app.end_by_signal(signal.SIGINT)  # type: ignore[attr-defined]
    elif (main.busy or main.worker.is_slow) and main.worker.cancel():
        main.say("cancelled")
    elif focus.leave_layer(main):
        return
    elif main.scene.scroll:
        main.change(scroll=0)
    elif main.scene.brush is not None:
        main.worker.ask(requests.brush, None)
    else:
        keys = " or ".join(filter(None, (main.scene.key("quit"), "Ctrl+q")))
        main.say("" if main.scene.message and not pressed.argument else f"{keys} quits")


def leave(main: Desk, pressed: Pressed) -> None:
    """Close a layer, or end the program."""
    if not focus.leave_layer(main):
        main.leave()


def lanes_right(main: Desk, pressed: Pressed) -> None:
    """Show lanes further right."""
    main.change(lane=min(31, main.scene.lane + 4 * (pressed.count or 1)))


def lanes_left(main: Desk, pressed: Pressed) -> None:
    """Show lanes further left."""
    main.change(lane=max(0, min(main.scene.lane, 28) - 4 * (pressed.count or 1)))


def number_format(main: Desk, pressed: Pressed) -> None:
    """Cycle through the number formats."""
    main.change(number_format=FORMATS[(FORMATS.index(main.scene.number_format) + 1) % len(FORMATS)])


def source(main: Desk, pressed: Pressed) -> None:
    """Cycle CODE's contents: decoded (with source lines if the PTX has them), PTX, decoded without source lines."""
    scene = main.scene
    if scene.code_source or not scene.lines:
        main.change(code_source=not scene.code_source and (scene.code_lines or not scene.lines),
                    code_lines=not scene.code_source if scene.lines else scene.code_lines)
    else:
        main.change(code_source=scene.code_lines, code_lines=True)


def zoom_time(by: int) -> Handler:
    """Show a shorter (by > 0) or longer stretch of TIMELINE or PIPELINE if open, else of the overview."""
    return lambda main, pressed: main.worker.ask(requests.zoom, by * (pressed.count or 1), main.scene.panel)


def screenshot(main: Desk, pressed: Pressed) -> None:
    """Write the screen to a file named after kernel, design and cycle."""
    info = main.scene.info
    stem = files.stem_of(f"{info.name or main.scene.title}-{info.design}")
    write_screenshot(main, f"{stem}-{main.scene.cycle}.svg")


def write_screenshot(main: Desk, name: str) -> None:
    """Write the screen as SVG with its colours, or as plain text if the name ends in .txt."""
    file = Path(os.path.expanduser(name))
    if file.suffix not in (".svg", ".txt"):
        main.say(f"screenshot {name}: expected a name that ends in .svg or .txt", "error")
        return
    main.say("")
    try:
        if file.suffix == ".txt":
            rows = drawn([(place, main.views[place.panel].lines) for place in main.places], *main.app.size)
            files.write(file, main.strips.palette.text("\n".join(rows)) + "\n")
        else:
            files.write(file, main.app.export_screenshot(title=main.view_command()))
    except InputError as error:
        main.say(f"screenshot {error}", "error")
        return
    main.say(f"written: {file}", "good")


def copy(main: Desk, pressed: Pressed) -> None:
    """Copy the command line that opens this view, and show it."""
    text = main.view_command()
    main.app.copy_to_clipboard(text)
    main.say(f"copied: {text}", "good")


def copy_panel(main: Desk, pressed: Pressed) -> None:
    """Copy the focused panel as text, as shown on the screen."""
    text = "\n".join(line.plain.rstrip() for line in main.views[main.scene.panel].lines)
    main.app.copy_to_clipboard(text)
    main.say(f"copied {PANELS[main.scene.panel].title} as text", "good")


HANDLERS: dict[str, Handler] = {
    "focus_next": lambda main, pressed: focus.turn(main, 1),
    "focus_previous": lambda main, pressed: focus.turn(main, -1),
    "panel": panel, "zoom": lambda main, pressed: focus.zoom(main), "down": move(1), "up": move(-1),
    "other_side": other_side, "open": open_focused, "open_sentence": open_sentence, "close": close,
    **{name: alone(name) for name in ALONE},
    "lanes_right": lanes_right, "lanes_left": lanes_left, "number_format": number_format, "source": source,
    "zoom_in": zoom_time(1), "zoom_out": zoom_time(-1),
    "palette": lambda main, pressed: main.app.push_screen(PaletteWindow(main)),
    "screenshot": screenshot, "message": lambda main, pressed: main.show_message(), "copy": copy,
    "copy_panel": copy_panel, "quit": leave,
}
