"""Your own keys: $XDG_CONFIG_HOME/rfview/keys.toml, by default ~/.config/rfview/keys.toml, laid over the built-in ones.

    [keys]
    "ctrl+s" = "step"            # a key, or several in sequence: "ge" = "end"
    "x"      = "why"             # replaces what the key did
    "space"  = "none"            # the key does nothing

Keys are characters (s, S, ], :) or names (space, enter, escape, tab, left, home, f5, ctrl+o, alt+1, shift+f5). Digits are
counts and stay counts. An action that loses a key keeps its others; the help and the footer show the keys in effect.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from rfview.engine import files
from rfview.engine.errors import InputError
from rfview.actions import ACTIONS, BY_NAME, NAMED_KEYS, NO_ACTION, tokens_of

MODIFIERS = ("ctrl", "alt", "shift")
NEVER = ("ctrl+c", "ctrl+q", "ctrl+z")     # there must always be a way out


def path(environ: Mapping[str, str] | None = None) -> Path:
    """Return the path of the key file."""
    env = os.environ if environ is None else environ
    home = env.get("XDG_CONFIG_HOME") or str(Path(env.get("HOME") or os.path.expanduser("~")) / ".config")
    return Path(home) / "rfview" / "keys.toml"


def load(file: Path | None = None) -> dict[str, str]:
    """Return key sequence -> action name from the key file, {} without one; raises InputError for invalid entries."""
    where = path() if file is None else file
    try:
        text = files.read_text(where)
    except (FileNotFoundError, NotADirectoryError):     # as with XDG_CONFIG_HOME=/dev/null
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{where}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    import tomllib      # most users have no key file

    try:
        content = tomllib.loads(text)
    except (ValueError, RecursionError) as error:       # TOML's own errors, and numbers with thousands of digits
        raise InputError(f"{where}: {error}") from None
    keys = content.pop("keys", {})
    if content or not isinstance(keys, dict):
        wrong = next(iter(content), "keys")
        raise InputError(f"{where}: {wrong!r}: expected one table [keys] with lines such as \"x\" = \"why\"")
    return {check_key(key, where): check_action(key, action, where) for key, action in keys.items()}


def check_key(key: str, where: Path) -> str:
    """Return the key sequence as spelt in the table of actions; raises InputError for keys that no terminal sends."""
    tokens = tokens_of(key)
    for token in tokens:
        *modifiers, name = token.split("+") if len(token) > 1 else (token,)
        known = (len(name) == 1 and name.isprintable()) or name in NAMED_KEYS or (token == "+")
        if not known or any(word not in MODIFIERS for word in modifiers):
            meant = [_near(word, MODIFIERS) for word in modifiers]
            meant.append(name if len(name) == 1 else _near(name, NAMED_KEYS))
            hint = f"; did you mean {'+'.join(meant)!r}?" if all(meant) else ""
            raise InputError(f"{where}: key {key!r}: no terminal sends {token!r}{hint}")
    if not tokens or re.fullmatch(r"\d", tokens[0]):
        raise InputError(f"{where}: key {key!r}: {'a digit begins a count' if tokens else 'is empty'}")
    if tokens[0] in NEVER:
        raise InputError(f"{where}: key {key!r} always leaves rfview and cannot be changed")
    return (" " if any(len(token) > 1 for token in tokens) else "").join(tokens)


def _near(word: str, known: Iterable[str]) -> str:
    """Return the known word nearest to `word`, "" if none is near."""
    return next(iter(difflib.get_close_matches(word.lower(), sorted(known), n=1)), "")


def check_action(key: str, action: object, where: Path) -> str:
    """Return the action's name, also found by its command; raises InputError naming the nearest one."""
    by_command = {entry.command: entry.name for entry in ACTIONS if entry.command}
    if isinstance(action, str) and (action == NO_ACTION or action in BY_NAME):
        return action
    if isinstance(action, str) and action in by_command:
        return by_command[action]
    close = difflib.get_close_matches(str(action), [*BY_NAME, *by_command, NO_ACTION], n=1)
    hint = f"; did you mean {close[0]!r}?" if close else "; `rfview help keymap` lists them"
    raise InputError(f"{where}: key {key!r}: no action {action!r}{hint}")
