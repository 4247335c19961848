"""The window of a buffer as a picture: visits pixels, wrong ones by size of error, and their stores and lost bits."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from textual.app import ComposeResult

from rfview.engine.errors import InputError
from rfview.graphics import NAMES, choose, choose_kind
from rfview.keys import Pressed
from rfview.render import image, image_pixels
from rfview.render.grid import ImageView
from rfview.render.text import Line
from rfview.screens import requests
from rfview.screens.windows.grid import GridWindow
from rfview.sessions.commands.image import facts, origin_text, write_png
from rfview.widgets.keyed import Handlers, Words
from rfview.widgets.window import PictureView

if TYPE_CHECKING:
    from rfview.screens.desk import Desk


class ImageWindow(GridWindow):
    """Requests from the session worker the picture at the cursor, and the origin of the focused pixel."""

    ABOUT = "image"

    ANSWERS = "image"
    READING = "reading, and on edram simulating without lost bits"
    view: ImageView | None

    def __init__(self, main: Desk, text: str):
        self.buffer, _, self.shape = text.strip().partition(" ")
        super().__init__(main, f"PICTURE {self.buffer}")
        self.order: np.ndarray = np.empty(0, np.int64)      # wrong pixels, the worst first
        self.asked = (-1, -1)       # (cycle, pixel) whose origin was last requested

    def compose(self) -> ComposeResult:
        yield PictureView(self.strips)

    def follow(self) -> None:
        """Request the picture, again if the cursor has moved."""
        if self.view is None or self.view.picture.cycle != self.main.scene.cycle:
            self.main.worker.ask_latest(requests.image, self.buffer, self.shape)
        self.paint()

    def answered(self, answer: Any) -> None:
        """Show the picture, or the origin of a pixel, that was requested."""
        if isinstance(answer, tuple):
            asked, links = answer
            if self.view is not None and asked == self.asked:
                self.view = self.view.at(links=links)
        else:
            self.order = answer.by_size()
            if self.view is None:
                worst = int(self.order[0]) if len(self.order) else 0
                self.view = ImageView(answer, worst % answer.width, worst // answer.width, glyphs=self.glyphs,
                                      ascii=self.strips.palette.ascii, graphics="" if self.glyphs else self.graphics())
            self.view = self.view.at(picture=answer, links=None)
            self.ask_origin()
        self.paint()

    def graphics(self) -> str:
        """Return the graphics that the terminal draws, "" for half blocks; say why if it could do better."""
        app: Any = self.app
        if app.is_headless and "RFVIEW_GRAPHICS" not in os.environ:
            return ""       # screenshots look the same wherever they are made
        kind, terminal = choose_kind(os.environ), choose(os.environ, app.console.color_system == "truecolor")
        if terminal.missing:
            self.main.say(f"half blocks: {NAMES[kind]} {terminal.missing}")
        if terminal.kind == "blocks":
            return ""
        if app.pixels is None or (app.pixels.kind, app.pixels.cell) != (terminal.kind, terminal.cell):
            from rfview.widgets.pixels import Encoder  # for a fast start: imports Pillow

            app.pixels = Encoder(terminal, image_pixels.colours(self.strips.palette.theme == "light"))
        return NAMES[terminal.kind]

    def paint(self) -> None:
        """Show the lines, and the panes' pixels if the terminal draws them."""
        super().paint()
        app: Any = self.app
        if self.view is not None and self.view.graphics and self.query(PictureView):
            view = self.query_one(PictureView)
            rows = image_pixels.rows_of(self.view, *self.room, app.pixels.cell)
            view.show_pieces({y: [(x, pixels.shape[1] // app.pixels.cell[0], app.pixels.segments((y, pane), pixels))
                                  for pane, (x, pixels) in enumerate(row)] for y, row in rows.items()})

    def ask_origin(self) -> None:
        """Request the origin of the focused pixel."""
        if self.view is None:
            return
        asked = (self.view.picture.cycle, self.element())
        self.asked = asked
        self.main.worker.ask_latest(requests.origin, self.buffer, asked)

    def element(self) -> int:
        """Return the number of the focused pixel."""
        assert self.view is not None
        return self.view.y * self.view.picture.width + self.view.x

    def painted(self, width: int, height: int) -> list[Line]:
        """Return the picture's lines."""
        assert self.view is not None
        return image.render(self.view, width, height, self.keys)

    def choose(self, x: int, y: int) -> None:
        """Focus a pixel."""
        view = self.view
        if view is None:
            return
        x, y = max(0, min(view.picture.width - 1, x)), max(0, min(view.picture.height - 1, y))
        if (x, y) != (view.x, view.y):
            self.view = view.at(x=x, y=y, links=None)
            self.ask_origin()
            self.paint()

    def move(self, by: int) -> None:
        """Focus another pixel of the column, `by` cells further down."""
        self.move_focus(0, by)

    def move_focus(self, right: int, down: int) -> None:
        """Focus a pixel that many cells away."""
        if self.view is not None:
            per = image.panes_of(self.view, *self.room).per
            self.choose(self.view.x + right * per, self.view.y + down * per)

    def filtered(self, token: str) -> bool:
        """Go to the cycle of a link, by its digit."""
        if is_link := token.isdecimal() and token != "0" and self.view is not None and not self.keys.shown:
            self.go(int(token) - 1)
        return is_link

    def change_zoom(self, pressed: Pressed) -> None:
        """Show fewer pixels in a cell, or more."""
        if self.view is not None:
            per = image.panes_of(self.view, *self.room).per
            self.view = self.view.at(zoom=max(1, min(64, per // 2 if pressed.action == "zoom_in" else per * 2)))
            self.paint()

    def other_pane(self, pressed: Pressed) -> None:
        """Show the other pane first."""
        if self.view is not None:
            self.view = self.view.at(pane=1 - self.view.pane)
            self.paint()

    def copy_facts(self, pressed: Pressed) -> None:
        """Copy what is known about the focused pixel."""
        if self.view is not None:
            text = f"{facts(self.view.picture)}\n{origin_text(list(self.view.links or ()))}"
            self.copy(text, "what is known about this pixel")

    def next_wrong(self, by: int) -> None:
        """Go to the next smaller (by 1) or larger (by -1) error."""
        if self.view is None:
            return
        if not len(self.order):
            self.main.say("no pixel differs")
            return
        places = np.flatnonzero(self.order == self.element())
        at = (int(places[0]) + by) % len(self.order) if places.size else 0
        self.choose(int(self.order[at]) % self.view.picture.width, int(self.order[at]) // self.view.picture.width)

    def go(self, at: int | None) -> None:
        """Go to the cycle of a link by its number from 0, the store's; None: to the lost bit's."""
        links = list(self.view.links or ()) if self.view is not None else []
        if at is None:
            chosen = next((link for link in links if link.kind == "lost"), None)
            missing = "no lost bit is known for this pixel"
        else:
            chosen = links[at] if at < len(links) else None
            missing = "there is no such link"
        if chosen is None or chosen.cycle < 0:
            self.main.say((missing if links else "still looking for it") if chosen is None else chosen.sentence)
            return
        self.leave(chosen.cycle, chosen.warp, **({"reg": chosen.register} if chosen.register >= 0 else {}))

    def save(self, pressed: Pressed) -> None:
        """Write all panes to a PNG file named after kernel, buffer and cycle."""
        view = self.view
        if view is None:
            return
        info = self.main.scene.info
        name = f"{info.name or self.main.scene.title}-{self.buffer}-{view.picture.cycle}.png".replace("/", "_")
        try:
            self.main.say(f"written: {write_png(view.picture, name)}", "good")
        except InputError as error:
            self.main.say(str(error), "error")

    def choose_at(self, x: int, y: int) -> None:
        """Focus the pixel drawn at a place."""
        assert self.view is not None
        if (pixel := image.pixel_at(self.view, *self.room, x, y)) is not None:
            self.choose(*pixel)

    HANDLERS: ClassVar[Handlers] = {
        "column_back": lambda window, pressed: window.move_focus(-(pressed.count or 1), 0),
        "next_choice": lambda window, pressed: window.move_focus(pressed.count or 1, 0),
        **GridWindow.HANDLERS,
        "search_next": lambda window, pressed: window.next_wrong(1),
        "search_previous": lambda window, pressed: window.next_wrong(-1),
        "open": lambda window, pressed: window.go(0), "lost_bit": lambda window, pressed: window.go(None),
        "zoom_in": change_zoom, "zoom_out": change_zoom, "other_pane": other_pane, "png": save, "copy": copy_facts,
    }
    WORDS: ClassVar[Words] = {
        **GridWindow.WORDS, "column_back": "a pixel to the left", "next_choice": "a pixel to the right",
        "down": "a pixel down / up",
        "search_next": "the next smaller / larger error", "open": "go to the store; a digit to that link",
        "zoom_in": "fewer / more pixels in a cell", "copy": "copy what is known about the pixel",
    }
