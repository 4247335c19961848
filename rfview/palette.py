"""The colours of every screen: one table of hues, resolved to Rich styles for truecolor, light, ANSI-16 and no colour.

A painter names a style by its role and never by a colour:
    text dim faint bold title tinfo changed key live past busy cursor off good bad
    st:NAME   a current state: solid background for the register file's own, tint for other waits, plain for quiet states
    hi:NAME   the same state in a run or in the history, quieter     fg:NAME   its hue alone
    p:PLACE pq:PLACE pt:PLACE ps:PLACE   something inside a lens: plain, quiet, tinted, solid
    heat:LEVEL lit:LEVEL grey:LEVEL err:LEVEL        a value on a scale (scales.py); lit: in the cursor's column
A suffix adds an attribute: "text+u" is underlined, "text+b" bold; "fg:issued@wait" has the tint of another state;
"text~focus" has another background than its row. NAME is a stall's name or, for a stall of a user's design, its family.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from rich.style import Style

from rfview.engine.errors import InputError
from rfview.engine.stalls import Stall

VALUES = ("heat", "lit", "grey", "err")       # kinds of roles for values on a scale
THEMES = ("dark", "light", "dark256", "ansi16", "mono")
FEW_COLOURS = ("ansi16", "mono")    # themes with the terminal's own colours or none: no page background, no shades

GROUND = "#0E1217"
BAND = "#1A212A"
FOCUS = "#22303E"
POPUP = "#161C24"
CURSOR_COLUMN = "#2A3644"
TEXT = "#D5DCE4"
DIM = "#8792A0"
FAINT = "#5E6A79"
STRONG = "#FFFFFF"
OFF = "#4A5563"

# what these are on a light page
LIGHT = {GROUND: "#FAFBFC", BAND: "#E4E9EE", FOCUS: "#CFDCE8", POPUP: "#F0F3F6", TEXT: "#1C232B", DIM: "#58636F",
         FAINT: "#87919C", STRONG: "#000000", OFF: "#A3ACB6", CURSOR_COLUMN: "#D5DEE7"}

# state: (hue, ANSI-16 name, how it is drawn when it is the current state)
STATES: dict[str, tuple[str, str, str]] = {
    "issued":           ("#2FCFA6", "bright_green",   "block"),
    "not_selected":     ("#8FB8AA", "green",          "plain"),
    "wait":             ("#B5DDF7", "bright_cyan",    "tint"),
    "short_scoreboard": ("#5CB8F0", "cyan",           "tint"),
    "long_scoreboard":  ("#4A8BF0", "bright_blue",    "tint"),
    "barrier":          ("#CDB2FF", "bright_magenta", "tint"),
    "no_instruction":   ("#A394CC", "magenta",        "plain"),
    "suspended":        ("#7C8794", "bright_black",   "plain"),
    "pipe_throttle":    ("#FFF08A", "bright_yellow",  "tint"),
    "collector_full":   ("#F3DF6E", "bright_yellow",  "tint"),
    "bank_conflict":    ("#E6CC52", "yellow",         "tint"),
    "stt_write":        ("#FF9A6B", "bright_red",     "solid"),
    "wb_drain":         ("#FF6A3D", "bright_red",     "solid"),
    "wb_full":          ("#E8452F", "red",            "solid"),
    "x_transfer":       ("#FF6A3D", "bright_red",     "solid"),
    "refresh":          ("#FF6A3D", "bright_red",     "solid"),
    "shift":            ("#FF6A3D", "bright_red",     "solid"),
    "rfc_flush":        ("#FF6A3D", "bright_red",     "solid"),
    "finished":         ("#6B7683", "bright_black",   "plain"),
    "no_cta":           ("#566170", "bright_black",   "plain"),
    # families, for stalls of a user's design
    "ready":            ("#8FB8AA", "green",          "plain"),
    "scoreboard":       ("#5CB8F0", "cyan",           "tint"),
    "fetch":            ("#A394CC", "magenta",        "plain"),
    "structural":       ("#E6CC52", "yellow",         "tint"),
    "register_file":    ("#FF6A3D", "bright_red",     "solid"),
    "empty":            ("#566170", "bright_black",   "plain"),
}
# runs of these ordinary waits drop to 55 % of their hue
QUIET = frozenset({"long_scoreboard", "not_selected", "barrier", "suspended", "finished", "no_cta", "ready", "empty"})

# places inside a lens: (hue, ANSI-16 name)
PLACES: dict[str, tuple[str, str]] = {
    "fast":   ("#5CB8F0", "bright_cyan"),
    "slow":   ("#D78FC0", "magenta"),
    "moving": ("#FF6A3D", "bright_red"),
    "approx": ("#E9D060", "yellow"),
    "good":   ("#2FCFA6", "bright_green"),
    "bad":    ("#FF4A70", "bright_red"),
}

# replacements for every non-ASCII glyph of the screens, for --ascii; each of the same width. A run's states have their own
ASCII_GLYPHS = str.maketrans({
    "█": "#", "○": "o", "▼": "v", "↓": "v", "≡": "F", "⇄": "t", "↻": "r", "→": ">", "↧": "f", "·": ".",
    "▁": ".", "▂": ":", "▃": "-", "▄": "=", "▅": "+", "▆": "*", "▇": "%",
    "▀": "^", "▏": ".", "▎": ".", "▍": ":", "▌": "|", "▋": "+", "▊": "*", "▉": "%",
    "─": "-", "━": "=", "╌": ".", "│": "|", "▸": ">", "▲": "^", "●": "*", "◉": "*", "◌": "o", "◎": "@",
    "◄": "<", "►": ">", "←": "<", "↑": "^",
    "■": "#", "□": "o", "▮": "#", "▯": "o", "≤": "<", "✓": "+", "✕": "x", "Σ": "S", "×": "x", "−": "-", "–": "-",
    "±": "~", "…": "~",
    "░": ".", "▒": ":", "▓": "%", "▪": "#", "µ": "u", "²": "2", "§": "S", "⚑": "!", "≠": "!", "◆": "#", "◇": "o", "†": "+",
})


def mix(first: str, second: str, share: float) -> str:
    """Return the colour `share` of the way from `first` to `second`, all as "#RRGGBB"."""
    parts = [(int(first[i : i + 2], 16), int(second[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(a + (b - a) * share):02X}" for a, b in parts)


@dataclass(frozen=True)
class Paint:
    """One resolved style: foreground, background (both Rich colour names or None) and attributes out of "b u r d"."""

    fg: str | None = None
    bg: str | None = None
    attributes: str = ""


def _true_table(light: bool) -> dict[str, Paint]:
    """Return role -> Paint in 24-bit colour."""
    def chrome(colour: str) -> str:
        return LIGHT[colour] if light else colour

    def hue(colour: str) -> str:
        return mix(colour, "#000000", 0.35) if light else colour

    ground = chrome(GROUND)
    table = {
        "text": Paint(chrome(TEXT)), "dim": Paint(chrome(DIM)), "faint": Paint(chrome(FAINT)),
        "off": Paint(chrome(OFF)), "bold": Paint(chrome(STRONG), None, "b"),
        "title": Paint(chrome(STRONG), None, "b"), "tinfo": Paint(chrome(DIM)), "key": Paint(chrome(STRONG), None, "b"),
        "changed": Paint(chrome(STRONG), None, "bu"), "live": Paint(ground, hue("#2FCFA6"), "b"),
        "past": Paint(ground, "#E8EDF2" if not light else "#39434E", "b"), "busy": Paint(ground, hue("#E9D060"), "b"),
        "cursor": Paint(ground, chrome(STRONG), "b"), "column": Paint(None, chrome(CURSOR_COLUMN)),
        "good": Paint(hue("#2FCFA6")), "bad": Paint(hue("#FF4A70"), None, "b"),
    }
    for name, (colour, _, drawn) in STATES.items():
        tone = hue(colour)
        tint = Paint(tone, mix(ground, tone, 0.20))
        now = {"block": Paint(tone, tone), "solid": Paint(ground, tone, "b"), "tint": tint, "plain": Paint(tone)}[drawn]
        table["st:" + name], table["fg:" + name] = now, Paint(tone)
        table["bg:" + name] = Paint(None, mix(ground, tone, 0.20))
        if name in QUIET:
            table["hi:" + name] = Paint(mix(ground, tone, 0.55))
        else:
            table["hi:" + name] = Paint(tone, mix(ground, tone, 0.26), "b") if drawn == "solid" else now
    for name, (colour, _) in PLACES.items():
        tone = hue(colour)
        table["p:" + name], table["pq:" + name] = Paint(tone), Paint(mix(ground, tone, 0.5))
        table["pt:" + name], table["ps:" + name] = Paint(tone, mix(ground, tone, 0.22)), Paint(ground, tone, "b")
    return table


def _table_256() -> dict[str, Paint]:
    """Return role -> Paint for 256 colours: the dark theme without its dark tints, which would all be the same colour."""
    def is_dark(colour: str | None) -> bool:
        return colour is not None and max(int(colour[i : i + 2], 16) for i in (1, 3, 5)) < 0x70

    return {name: Paint(paint.fg, None if is_dark(paint.bg) else paint.bg, paint.attributes)
            for name, paint in _true_table(False).items()}


def _ansi_table() -> dict[str, Paint]:
    """Return role -> Paint for terminals with 16 colours: no tints and no bands."""
    table = {
        "text": Paint("white"), "dim": Paint("bright_black"), "faint": Paint("bright_black"), "off": Paint("bright_black"),
        "bold": Paint("bright_white", None, "b"), "title": Paint("bright_white", None, "bu"), "tinfo": Paint("white"),
        "key": Paint("bright_white", None, "b"), "changed": Paint("bright_white", None, "bu"),
        "live": Paint("black", "bright_green", "b"), "past": Paint("black", "white", "b"),
        "busy": Paint("black", "bright_yellow", "b"), "cursor": Paint("black", "bright_white", "b"),
        "column": Paint(None, None, "b"), "good": Paint("bright_green"), "bad": Paint("bright_red", None, "b"),
    }
    for name, (_, colour, drawn) in STATES.items():
        plain = Paint(colour)
        now = {"block": Paint(colour, colour), "solid": Paint("black", colour, "b")}.get(drawn, plain)
        table["st:" + name], table["fg:" + name], table["bg:" + name] = now, plain, Paint()
        table["hi:" + name] = now if drawn == "block" else plain
    for name, (_, colour) in PLACES.items():
        table["p:" + name] = table["pq:" + name] = table["pt:" + name] = Paint(colour)
        table["ps:" + name] = Paint("black", colour, "b")
    return table


def _mono_table() -> dict[str, Paint]:
    """Return role -> Paint with attributes only: reverse, bold, underline, dim."""
    table = {
        "text": Paint(), "dim": Paint(), "faint": Paint(None, None, "d"), "off": Paint(None, None, "d"),
        "bold": Paint(None, None, "b"), "title": Paint(None, None, "bu"), "tinfo": Paint(), "key": Paint(None, None, "b"),
        "changed": Paint(None, None, "bu"), "live": Paint(None, None, "rb"), "past": Paint(None, None, "rb"),
        "busy": Paint(None, None, "rb"), "cursor": Paint(None, None, "rb"), "column": Paint(),
        "good": Paint(), "bad": Paint(None, None, "b"),
    }
    idle = {"suspended", "finished", "no_cta", "empty"}
    for name, (_, _, drawn) in STATES.items():
        loud = drawn == "solid"
        table["st:" + name] = Paint(None, None, "rb" if loud else "d" if name in idle else "")
        table["hi:" + name] = Paint(None, None, "b" if loud else "d" if name in idle else "")
        table["fg:" + name] = table["bg:" + name] = Paint()
    for name in PLACES:
        table["p:" + name] = Paint(None, None, "b" if name == "moving" else "")
        table["pq:" + name] = table["pt:" + name] = Paint()
        table["ps:" + name] = Paint(None, None, "rb")
    return table


def _value_table(theme: str) -> dict[str, Paint]:
    """Return role -> Paint of values on scales; with few colours or none, characters tell values apart."""
    if theme in FEW_COLOURS:
        hues = ("bright_yellow", "bright_blue") if theme == "ansi16" else (None, None)
        return {"heat:plus": Paint(hues[0]), "heat:minus": Paint(hues[1])}
    from rfview import scales       # start-up: most sessions show no values as colours

    colours = scales.colours(theme == "light")
    return {name: Paint(colour) for name, colour in colours.items()} | {
        "bg:" + name: Paint(None, colour) for name, colour in colours.items()}


def _grounds(theme: str) -> dict[str, str | None]:
    """Return the backgrounds of rows (title band, focused row, popup) and of cells (cursor, its column).

    A theme without backgrounds shows the cursor's cell in reverse, and does not mark its column in the overview.
    """
    if theme in ("dark", "light"):
        names = {"band": BAND, "focus": FOCUS, "popup": POPUP, "cursor": CURSOR_COLUMN, "column": CURSOR_COLUMN}
        return {name: LIGHT[colour] if theme == "light" else colour for name, colour in names.items()}
    if theme == "dark256":      # colours of the 256-colour cube and greys that remain distinguishable
        return {"band": "#303030", "focus": "#005F87", "popup": "#262626", "cursor": "#444444", "column": "#444444"}
    return {}


def page_colours(theme: str) -> tuple[str, str]:
    """Return (text, ground) of the whole page as Textual colour names."""
    if theme == "dark":
        return TEXT, GROUND
    if theme == "dark256":
        return "#D0D0D0", "#121212"
    if theme == "light":
        return LIGHT[TEXT], LIGHT[GROUND]
    return "ansi_default", "ansi_default"


@dataclass
class Palette:
    """Turns role names into Rich styles for one theme; styles are cached, so a frame creates none."""

    theme: str = "dark"
    ascii: bool = False
    glyphs: dict[int, str] = field(default_factory=ASCII_GLYPHS.copy, repr=False)
    _styles: dict[tuple[str, str], Style] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if self.theme not in THEMES:
            raise ValueError(f"theme {self.theme!r} is not one of {', '.join(THEMES)}")
        self.table = {
            "dark": lambda: _true_table(False), "light": lambda: _true_table(True), "dark256": _table_256,
            "ansi16": _ansi_table, "mono": _mono_table,
        }[self.theme]()
        self.grounds = _grounds(self.theme)
        self.page = page_colours(self.theme)

    @property
    def has_few_colours(self) -> bool:
        """Whether the theme has only the terminal's own colours or none, so that characters have to tell values apart."""
        return self.theme in FEW_COLOURS

    def style(self, ground: str, role: str) -> Style:
        """Return the Rich style of a role on a ground ("", "band", "focus", "popup")."""
        key = (ground, role)
        style = self._styles.get(key)
        if style is None:
            style = self._styles[key] = self._make(ground, role)
        return style

    def _make(self, ground: str, role: str) -> Style:
        role, _, own_ground = role.partition("~")
        ground = own_ground or ground
        role, _, extra = role.partition("+")
        name, _, over = role.partition("@")
        if name.partition(":")[0] in VALUES and "heat:plus" not in self.table:
            self.table |= _value_table(self.theme)
        paint = self.table.get(name) or self.table["text"]
        if over and "bg:" + over in self.table:
            paint = Paint(paint.fg, self.table["bg:" + over].bg, paint.attributes)
        attributes = paint.attributes + extra
        under = self.grounds.get(ground)
        fg, bg = paint.fg, paint.bg or under
        if not self.has_few_colours:
            fg, bg = fg or self.page[0], bg or self.page[1]
            if ground == "focus" and name == "text":
                fg, attributes = self.table["bold"].fg, attributes + "b"
        elif ground == "focus" and name in ("text", "dim"):
            attributes += "b"
        elif ground == "cursor":    # no backgrounds with 16 colours or none: the column is shown in reverse
            attributes = attributes.replace("r", "") if "r" in attributes else attributes + "r"
        return Style(
            color=fg, bgcolor=bg, bold="b" in attributes or None, underline="u" in attributes or None,
            reverse="r" in attributes or None, dim="d" in attributes or None,
        )

    def text(self, plain: str) -> str:
        """Return the text with glyphs that this terminal can show."""
        return plain.translate(self.glyphs) if self.ascii else plain

    def know_states(self, stalls: Iterable[Stall]) -> None:
        """Learn the letters of a run's states from its table, which has those of a user's design, too."""
        self.glyphs |= str.maketrans({stall.glyph: stall.ascii for stall in stalls})


def choose_theme(wanted: str | None, environ: dict[str, str]) -> str:
    """Return the theme to use: the one asked for, else by RFVIEW_THEME, NO_COLOR, TERM and COLORTERM."""
    wanted = wanted or environ.get("RFVIEW_THEME")
    if wanted:
        if wanted not in THEMES:
            raise InputError(f"RFVIEW_THEME: theme {wanted!r} is not one of {', '.join(THEMES)}")
        return wanted
    if environ.get("NO_COLOR"):
        return "mono"
    if environ.get("TERM", "") in ("linux", "dumb", "vt100", "xterm-mono"):
        return "ansi16" if environ["TERM"] == "linux" else "mono"
    has_all = environ.get("COLORTERM", "").strip().lower() in ("truecolor", "24bit")
    return "dark256" if environ.get("TERM", "").endswith("256color") and not has_all else "dark"
