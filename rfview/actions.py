"""The table of everything a key, the palette, the `:` prompt or a click can do on any screen; help and hints show it."""

from __future__ import annotations

from dataclasses import dataclass

TIME, STOP, ASK, SCREEN = "MOVE IN TIME", "STOP AND COME BACK", "ASK", "SCREEN"
CATEGORIES = (TIME, STOP, ASK, SCREEN)      # of the main screen; its actions keep their keys on others that have them
WINDOWS, COMPARE, OTHERS = "IN WINDOWS", "COMPARE", "TOURS AND START SCREEN"
LOCAL = (WINDOWS, COMPARE, OTHERS)          # there, keys of these go before those of the main screen's actions
NO_ACTION = "none"   # in a key file: the key does nothing
ANY = "*"          # in a key sequence: whatever letter or digit comes next is the action's argument
NAMED_KEYS = frozenset({"space", "enter", "escape", "tab", "backspace", "delete", "insert", "home", "end", "pageup",
                        "pagedown", "left", "right", "up", "down", *(f"f{number}" for number in range(1, 13))})


@dataclass(frozen=True)
class Action:
    """One thing to do.

    keys: key sequences as typed ("gg", "]w", "m*", "ctrl+o"); the first is the one shown. command: what
    `:` takes. sentence: the help. hint: the word in the footer. reverse: the action in the opposite direction; both
    share a row in the help. Which screens have an action: those whose HANDLERS name it.
    """

    name: str
    keys: tuple[str, ...]
    command: str
    sentence: str
    category: str
    hint: str = ""
    reverse: str = ""

    @property
    def takes_letter(self) -> bool:
        """Whether it needs the letter or digit that ends its keys, so that its name alone does not say what to do."""
        return self.name == "panel" or any(key.endswith(ANY) for key in self.keys)


ACTIONS: tuple[Action, ...] = (
    Action("step", ("s", "right", "l", "f10"), "step", "one cycle on / back", TIME, "step ±1", "back"),
    Action("back", ("S", "left", "h", "shift+f10"), "reverse-step", "one cycle back", TIME),
    Action("step_10", (")",), "step 10", "10 cycles on / back", TIME, "±10", "back_10"),
    Action("back_10", ("(",), "reverse-step 10", "10 cycles back", TIME),
    Action("step_100", ("}",), "step 100", "100 cycles on / back", TIME, "", "back_100"),
    Action("back_100", ("{",), "reverse-step 100", "100 cycles back", TIME),
    Action("next_issue", ("i", "f11"), "stepi", "next / previous issue of the warp", TIME, "issue ±",
           "previous_issue"),
    Action("previous_issue", ("I", "shift+f11"), "rsi", "previous issue of the focused warp", TIME),
    Action("next_line", ("]n", "f8"), "next-line", "next / previous source line of the warp", TIME, "line ±",
           "previous_line"),
    Action("previous_line", ("[n", "shift+f8"), "previous-line", "previous source line of the focused warp", TIME),
    Action("next_stall", ("]s",), "next-stall", "next / previous stall of the warp", TIME, "stall ±",
           "previous_stall"),
    Action("previous_stall", ("[s",), "previous-stall", "previous stall of the focused warp", TIME),
    Action("next_conflict", ("]b",), "next-conflict", "next / previous bank conflict", TIME, "",
           "previous_conflict"),
    Action("previous_conflict", ("[b",), "previous-conflict", "previous bank conflict of any warp", TIME),
    Action("next_rf", ("]w",), "next-rf", "next / previous stall by the register file", TIME, "RF stall ±",
           "previous_rf"),
    Action("previous_rf", ("[w",), "previous-rf", "previous stall caused by the register file", TIME),
    Action("next_activity", ("]d", "]f", "]l", "]r", "]x"), "next-activity", "next / previous activity of the design", TIME,
           "activity ±", "previous_activity"),
    Action("previous_activity", ("[d", "[f", "[l", "[r", "[x"), "previous-activity", "previous refresh, shift, flush ..",
           TIME),
    Action("next_mark", ("]m",), "next-mark", "next / previous mark", TIME, "", "previous_mark"),
    Action("previous_mark", ("[m",), "previous-mark", "previous mark", TIME),
    Action("start", ("gg", "0", "home"), "goto start", "begin / end; 1234G that cycle", TIME, "", "end"),
    Action("end", ("G", "$", "end"), "goto end", "the last cycle, or with a count that cycle", TIME),
    Action("percent", ("%",), "goto percent", "50%: half of the run", TIME),
    Action("play", ("space",), "play", "play and pause", TIME, "play"),
    Action("slower", ("<",), "slower", "slower / faster", TIME, "", "faster"),
    Action("faster", (">",), "faster", "play faster", TIME),
    Action("continue", ("c", "f5"), "continue", "on / back to a breakpoint", STOP, "continue ±",
           "reverse_continue"),
    Action("reverse_continue", ("C", "shift+f5"), "reverse-continue", "back to the previous breakpoint", STOP),
    Action("break_here", ("b", "f9"), "break-here", "break at the instruction / list", STOP, "break",
           "breakpoints"),
    Action("breakpoints", ("B",), "breakpoints", "list of breakpoints and marks", STOP),
    Action("watch_here", ("w",), "watch-here", "watch the focused item / list", STOP, "watch", "watches"),
    Action("watches", ("W",), "watches", "list of watchpoints", STOP),
    Action("run_to_cursor", ("t",), "run-to-cursor", "on / back to the chosen line", STOP, "to line ±",
           "run_back_to_cursor"),
    Action("run_back_to_cursor", ("T",), "run-back-to-cursor", "back to the line chosen in CODE or LINES", STOP),
    Action("mark", ("m*",), "mark", "set mark a / go to it", STOP, "mark", "goto_mark"),
    Action("goto_mark", ("'*",), "goto-mark", "go to a mark", STOP),
    Action("previous_stop", ("''",), "previous-stop", "where the last jump came from", STOP),
    Action("history_back", ("ctrl+o",), "history-back", "history back / on", STOP, "", "history_forward"),
    Action("history_forward", ("alt+o",), "history-forward", "history on", STOP),
    Action("why", ("e",), "why", "why is this warp blocked", ASK, "why"),
    Action("relief", ("Q",), "relief-all", "what would make the whole run end earlier", ASK, "relief"),
    Action("next_change", (".",), "nextchange", "next / last change of the item", ASK, "", "last_change"),
    Action("last_change", (",",), "last", "last change of the focused item", ASK),
    Action("heat", ("u",), "heat", "the item through time: lanes or elements", ASK, "heat"),
    Action("image", ("U",), "image", "a buffer as a picture", ASK, "picture"),
    Action("diff", ("d",), "diff", "changes since cycle / last stop", ASK),
    Action("diff_mark", ("D*",), "diff-mark", "underline what changed since mark a", ASK),
    Action("statistics", ("#",), "statistics", "IPC, stalls, energy between marks", ASK, "statistics"),
    Action("brush", ("V",), "range", "range from here; V ends it", ASK, "range"),
    Action("every_hit", ("E",), "every-hit", "trace: every past hit as a table", ASK),
    Action("fork", ("f",), "fork-here", "fork here, something changed", ASK, "fork"),
    Action("compare", ("x",), "compare-branches", "this branch against its parent", ASK, "compare"),
    Action("reload", ("ctrl+r",), "reload", "run the edited file again, and compare", ASK, "reload"),
    Action("overlay", ("X",), "overlay", "lay a second run over this / off", ASK, "overlay"),
    Action("swap_design", ("v",), "designs", "the same kernel on another design", ASK, "design"),
    Action("load_kernel", ("O",), "kernels", "run another kernel", ASK, "kernel"),
    Action("follow", ("A",), "follow", "where the lost bits went (edram)", ASK, "follow"),
    Action("next_arrival", ("]e",), "follow next", "next / previous place that the error reached", ASK, "",
           "previous_arrival"),
    Action("previous_arrival", ("[e",), "follow back", "previous place that the error reached", ASK),
    Action("check", ("!",), "check", "check the run: races, unwritten reads", ASK, "check"),
    Action("capture", ("R",), "capture-here", "record from here; again: up to here", ASK, "capture"),
    Action("search", ("/",), "search", "search the program", ASK),
    Action("search_next", ("n",), "search-next", "next / previous search hit", ASK, "", "search_previous"),
    Action("search_previous", ("N",), "search-previous", "previous search hit", ASK),
    Action("explain", ("K",), "explain", "what is this? with its source", ASK, "what is"),
    Action("command", (":",), "", "command, see below", ASK, "command"),
    Action("help", ("?", "f1"), "help", "this help", ASK, "help"),
    Action("focus_next", ("tab",), "focus-next", "next / previous panel", SCREEN, "", "focus_previous"),
    Action("focus_previous", ("shift+tab",), "focus-previous", "previous panel", SCREEN),
    Action("panel", ("alt+1", "alt+2", "alt+3", "alt+4", "alt+5", "alt+6", "alt+7", "alt+8",
                     "alt+9", "alt+0"), "panel",
           "panel by number, hidden ones too", SCREEN),
    Action("zoom", ("z",), "zoom", "one panel full screen", SCREEN, "zoom"),
    Action("down", ("j", "down"), "down", "down / up inside the panel", SCREEN, "choose", "up"),
    Action("up", ("k", "up"), "up", "up inside the panel", SCREEN),
    Action("other_side", ("o",), "other-side", "the warp beside it; 31o warp 31; order of LINES", SCREEN),
    Action("open", ("enter",), "open", "open the focused thing", SCREEN, "go there"),
    Action("close", ("escape", "ctrl+c"), "close", "close a layer, cancel a move", SCREEN, "close"),
    Action("timeline", ("a",), "timeline", "all warps over time", SCREEN, "timeline"),
    Action("pipeline", ("P",), "pipeline", "the warp's instructions over time", SCREEN, "pipeline"),
    Action("lines", (";",), "source-lines", "source lines with what each cost", SCREEN, "lines"),
    Action("summary", ("Z",), "summary-panel", "what limited the run, in a few sentences", SCREEN, "summary"),
    Action("open_sentence", (), "open-sentence", "SUMMARY: go where the chosen sentence says", SCREEN, "go there"),
    Action("to_holder", (), "to-holder", "LINES: to the line that holds the chosen one up", SCREEN, "its holder"),
    Action("to_wait", ("J",), "to-wait", "LINES: to a cycle in which the line waits", SCREEN, "where it waits"),
    Action("registers", ("r",), "registers", "the warp's registers by lane", SCREEN, "registers"),
    Action("lanes_right", ("L",), "lanes-right", "REGISTERS: lanes right / left", SCREEN, "lanes", "lanes_left"),
    Action("lanes_left", ("H",), "lanes-left", "REGISTERS: lanes to the left", SCREEN),
    Action("number_format", ("F",), "format", "REGISTERS: hex, int, uint, float", SCREEN, "format"),
    Action("source", ("p",), "source", "CODE: decoded, PTX, source lines", SCREEN),
    Action("zoom_in", ("+", "="), "zoom-in", "time: zoom in / out", SCREEN, "zoom ±", "zoom_out"),
    Action("zoom_out", ("-",), "zoom-out", "TIMELINE, overview: a longer range", SCREEN),
    Action("palette", ("ctrl+p",), "palette", "every action by name", SCREEN, "palette"),
    Action("screenshot", ("Y",), "screenshot", "this screen into a file, .svg or .txt", SCREEN, "screenshot"),
    Action("message", ("M",), "message", "the last message in full", SCREEN),
    Action("copy", ("y",), "copy", "copy the way to here / what the panel shows", SCREEN, "", "copy_panel"),
    Action("copy_panel", ("ctrl+y",), "copy-panel", "copy what the panel with the keys shows", SCREEN),
    Action("quit", ("q", "ctrl+q"), "quit", "close / quit", SCREEN, "leave"),
    # lists and text
    Action("next_page", ("pagedown",), "", "a page down / up", WINDOWS, "page ±", "previous_page"),
    Action("previous_page", ("pageup",), "", "a page up", WINDOWS),
    Action("first_row", ("g", "home"), "", "the first row / the last", WINDOWS, "", "last_row"),
    Action("last_row", ("G", "end"), "", "the last row", WINDOWS),
    Action("read_on", ("space",), "", "a page down", WINDOWS),
    Action("next_choice", ("l", "right", "ctrl+n"), "", "next / previous of what can be chosen", WINDOWS, "",
           "previous_choice"),
    Action("previous_choice", ("h", "left", "ctrl+p"), "", "previous of what can be chosen", WINDOWS),
    Action("sort", ("o",), "", "sort by the next column", WINDOWS, "sort by the next column"),
    Action("other_access", ("o",), "", "the other access of the finding", WINDOWS, "go to the other access"),
    # another design, another kernel
    Action("other_place", ("m",), "", "go to the same instruction, or to the same cycle", WINDOWS, "other place"),
    Action("parameters", ("p",), "", "type the design's parameters", WINDOWS, "parameters"),
    Action("launch_file", ("f",), "", "type the name of a launch file", WINDOWS, "a launch file by name"),
    # breakpoints
    Action("add_break", ("a",), "", "add a breakpoint", WINDOWS, "add"),
    Action("add_watch", ("w",), "", "add a watchpoint", WINDOWS, "watch"),
    Action("switch", ("space",), "", "on or off", WINDOWS, "on/off"),
    Action("remove", ("delete", "backspace", "x"), "", "remove it", WINDOWS, "remove"),
    Action("long_stall", ("l",), "", "stop at long stalls", WINDOWS, "long stall"),
    Action("once", ("o",), "", "remove it at its next stop, or not", WINDOWS, "once"),
    Action("condition", ("i",), "", "type a condition for it", WINDOWS, "condition"),
    Action("skip_more", ("+", "="), "", "skip more / fewer of its hits", WINDOWS, "skip hits", "skip_fewer"),
    Action("skip_fewer", ("-",), "", "skip fewer of its hits", WINDOWS),
    Action("unbalanced", ("u",), "", "stop where sums are wrong", WINDOWS, "unbalanced"),
    # the chain of reasons
    Action("try_relief", ("f",), "", "try the setting that the chain names", WINDOWS, "try the relief"),
    Action("run_both", ("F",), "", "run it and this run to their ends", WINDOWS, "both to the end"),
    Action("go_to_relief", ("B",), "", "go to the branch in which it was tried", WINDOWS, "go there"),
    # statistics
    Action("left_end_back", ("h",), "", "the left end to the previous / next place", WINDOWS, "left end",
           "left_end_on"),
    Action("left_end_on", ("l",), "", "the left end to the next place", WINDOWS),
    Action("right_end_back", ("H",), "", "the right end to the previous / next place", WINDOWS, "right end",
           "right_end_on"),
    Action("right_end_on", ("L",), "", "the right end to the next place", WINDOWS),
    # values on a grid
    Action("column_back", ("h", "left"), "", "a column back / on", WINDOWS, "column", "column_on"),
    Action("column_on", ("right",), "", "a column on", WINDOWS),
    Action("columns_back", ("H", "pageup"), "", "40 columns back / on", WINDOWS, "", "columns_on"),
    Action("columns_on", ("L", "pagedown"), "", "40 columns on", WINDOWS),
    Action("by_write", ("o",), "", "a column per write, or per stretch of cycles", WINDOWS, "writes only"),
    Action("value_type", ("t",), "", "read the words as the next type", WINDOWS, "type"),
    Action("log_scale", ("l",), "", "logarithmic colours, or linear", WINDOWS, "log"),
    Action("begin", ("g", "0", "home"), "", "begin / end; with a count, that place", WINDOWS, "begin end", "end"),
    Action("other_pane", ("tab", "shift+tab"), "", "the other pane or page", WINDOWS, "which"),
    Action("lost_bit", ("b",), "", "go to where the bit was lost", WINDOWS, "to the lost bit"),
    Action("png", ("p",), "", "write the picture to a file", WINDOWS, "PNG"),
    # two runs, or more
    Action("next_divergence", ("n",), "", "next / previous change of the warp's lag: where one run loses time", COMPARE,
           "divergence ±", "previous_divergence"),
    Action("previous_divergence", ("N",), "", "previous instruction at which the warp's lag changes", COMPARE),
    Action("first_divergence", ("d",), "", "the first divergence of the two runs", COMPARE, "first"),
    Action("lock", ("L",), "", "lock the runs by instruction or by cycle", COMPARE, "lock"),
    Action("swap_runs", ("x",), "", "exchange A and B", COMPARE, "swap"),
    # tours, the start screen
    Action("page_before", ("backspace",), "", "the page before", OTHERS, "page before"),
    Action("next_list", ("tab", "right"), "", "the next list", OTHERS, "next list"),
    Action("previous_list", ("shift+tab", "left"), "", "the list before", OTHERS),
    Action("turn_design", ("d",), "", "the register-file design on which kernels run", OTHERS, "design"),
)
BY_NAME = {action.name: action for action in ACTIONS}
MAIN = tuple(action.name for action in ACTIONS if action.category in CATEGORIES)        # the main screen's
KEY_NAMES = {"right": "→", "left": "←", "up": "↑", "down": "↓", "space": "Space", "tab": "Tab", "enter": "Enter",
             "escape": "Esc", "home": "Home", "end": "End", "pageup": "PgUp", "pagedown": "PgDn", "backspace": "Backspace",
             "delete": "Del"}


def tokens_of(sequence: str) -> tuple[str, ...]:
    """Return the keys of a sequence: "gg" and "g g" are g twice; longer words and names of keys are one key each."""
    tokens: list[str] = []
    for part in sequence.split():
        tokens += part if len(part) == 2 and part not in NAMED_KEYS else [part]
    return tuple(tokens)


def key_label(sequence: str) -> str:
    """Return a key sequence as shown to the user: gg is gg, "ctrl+o" is Ctrl+o, "m*" is m a."""
    words = []
    for token in tokens_of(sequence):
        if token == ANY:
            words.append(" a")
        elif token in KEY_NAMES:
            words.append(KEY_NAMES[token])
        elif "+" in token and len(token) > 1:
            words.append("+".join(part.capitalize() if len(part) > 1 else part for part in token.split("+")))
        else:
            words.append(token.upper() if len(token) > 1 and token[0] == "f" and token[1:].isdecimal() else token)
    return "".join(words)
