"""`rfview help TOPIC`: explain a topic or any term on the screens; every table is generated from the code that uses it."""

from __future__ import annotations

import argparse
import difflib
import json
from collections.abc import Callable
from textwrap import wrap

from rfview.engine.errors import InputError
from rfview.glossary.topics import ENVIRONMENT, EXIT_CODES, LAUNCH, PLAIN, PROGRAMS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("topic", nargs="*", metavar="TOPIC",
                        help=f"one of {', '.join(TOPICS)}; a command; any term of the screens, as wb_drain, "
                             "sm.num_banks, hrf.write_cycles; or words to search for")


def run(args: argparse.Namespace) -> int:
    """Print the topic's text or explain the term; without either, the overview and the topics."""
    from rfview import cli

    topic = " ".join(args.topic)
    if not topic:
        print(f"{cli.overview()}\n\ntopics: {', '.join(TOPICS)}   (rfview help TOPIC)\n"
              "terms: every state, panel, column, parameter and number, with its source   (rfview help wb_drain)")
    elif (text := whole_topic(topic)) is not None:
        print(text)
    elif topic in cli.COMMANDS:
        return cli.main([topic, "--help"])
    elif topic.endswith(".py"):
        print(file_text(topic))
    else:
        print(explanation(topic))
    return 0


def whole_topic(topic: str) -> str | None:
    """Return a topic, or a part of one, by its name, also in the singular; None for other words."""
    texts = {**TOPICS, **PARTS}
    text = texts.get(topic) or texts.get(f"{topic}s")
    return None if text is None else text()


def file_text(path: str) -> str:
    """Explain everything that a design file adds: parameters, stalls, panels, events, energies; raises InputError."""
    from rfview.engine import plugin as designs
    from rfview.glossary import terms

    return "\n\n".join("\n".join(term.lines()) for term in terms.of_design(designs.parse_variant(path)[0]))


def explanation(word: str) -> str:
    """Explain a term, or show the lines of all topics that contain a word; raises InputError if there are none."""
    from rfview import cli
    from rfview.glossary import own_design, terms, topics
    from rfview.sessions.commands import table as commands

    if rule := topics.rule(word):
        return rule
    lines = [] if word.startswith("/") else terms.find(word.removeprefix("sm.config."))     # hooks' names of sm.NUMBER
    meaning = own_design.code_of(word)
    if not meaning and (meaning := commands.command_text(word)):
        meaning += "\n  (a debugger command, in scripts and after `:`)"
    if meaning:
        named = [term for term in lines if term.name == word]
        return "\n\n".join([meaning, *("\n".join(term.lines()) for term in (*named, *terms.of_glyph(word)))])
    if glyph := terms.of_glyph(word):
        return "\n\n".join("\n".join(term.lines()) for term in glyph)
    if lines:
        return "\n".join([*terms.text_of(word.removeprefix("sm.config.")), *more_of_design(word)])
    needle = word.lstrip("/").lower()
    hits = [f"{name:<12} {line.strip()}" for name, text in TOPICS.items()
            for line in text().splitlines() if needle and needle in line.lower()]
    hits += [f"{term.name:<12} {term.kind}" for term in terms.find(needle)[:20]]
    if not hits:
        close = (difflib.get_close_matches(word, [*TOPICS, *cli.COMMANDS, *commands.VERBS, *own_design.fields()], n=1)
                 or [terms.near(word)])
        hint = f"did you mean {close[0]!r}?" if close[0] else f"topics are {', '.join(TOPICS)}"
        raise InputError(f"help {word}: no such topic; {hint}")
    return "\n".join(hits)


def more_of_design(word: str) -> list[str]:
    """Return a design's state, events and hooks, and where to find more about it; nothing for other words."""
    from rfview.engine import plugin as designs
    from rfview.glossary import own_design

    if word not in designs.names():
        return []
    design = designs.design(word)
    named = [("state, rf.NAME", [str(field[0]) for field in design.state]),
             ("events, event.NAME", [name for name, _ in design.events])]
    return ["", *(line for head, names in named if names
                  for line in wrap(f"{head}: {', '.join(names)}", 96, subsequent_indent="    ")),
            "", *own_design.hooks_of(word), "",
            f"`rfview designs {word}` lists its parameters; `rfview help rules` has what the papers leave open."]


def compile_text() -> str:
    """Return how PTX is compiled, with the options."""
    from rfview.engine import compilation
    from rfview.glossary import topics

    lines = ["PTX is compiled when a run begins: names become registers, calls are inlined, copies and dead results",
             "dropped. Otherwise nothing is moved, and as few registers as possible are used. Options, off by default:", ""]
    lines += [f"  {written:<18} {option.what}"
              for written, option in zip(compilation.usage(), compilation.OPTIONS.values(), strict=True)]
    words = [word.replace("=N", "=24") for word in compilation.usage()]
    table = [f"  {name} = {'true' if not given else value if value.isdecimal() else json.dumps(value)}"
             for name, given, value in (word.partition("=") for word in words)]
    settings = ", ".join(option.setting for option in compilation.OPTIONS.values())
    lines += ["", f"On the command line:  --compile {','.join(words)}", "In a launch file:", "  [compile]", *table,
              f"As settings of a run: {settings}",
              "--compile and --set override the launch file's table; --compile off: none. Recordings and forks",
              "keep the options; the CODE panel, `rfview run` and `rfview info` show them.", ""]
    return "\n".join([*lines, *filter(None, (topics.rule(f"B6.{number}") for number in range(1, 10)))])


def stalls_text() -> str:
    """Return the table of warp states with their sources."""
    from rfview.glossary import terms

    lines = ["Every warp slot has one state in every cycle: issued, or the one reason why not.", ""]
    kind = "warp state"
    for term in terms.states():
        if term.kind != kind:
            lines += ["", "On the sub-cores of machine code, some of them come about otherwise:", ""]
            kind = term.kind
        glyph, _, sentence = term.text.partition("  ")
        lines += [f"  {glyph}  {term.name:<18} {sentence}", f"  {'':<6} {'':<18} {term.source}"]
    return "\n".join(lines)


def keys_text() -> str:
    """Return the table of keys and commands that the screens use, with the user's own keys."""
    from rfview import keymap
    from rfview.actions import ACTIONS, CATEGORIES, LOCAL, MAIN
    from rfview.keys import Keys

    own = keymap.load()
    main = Keys(own)
    rows = [(action.category, "  ".join((main if action.name in MAIN else Keys(own, {action.name})).typed(action.name))
             .replace(" *", " _"), action.command, action.sentence) for action in ACTIONS]
    wide, wider = (max(len(row[column]) for row in rows) for column in (1, 2))
    lines = []
    for category in (*CATEGORIES, *LOCAL):
        lines += [category, *(f"  {keys:<{wide}}  {command:<{wider}}  {sentence}"
                              for of, keys, command, sentence in rows if of == category), ""]
    return "\n".join([*lines, "Digits before a key are a count; typed after `:`, the commands do the same.",
                      "`rfview help keymap` says how to change keys."])


def keymap_text() -> str:
    """Return how keys are remapped, with all actions."""
    from rfview import keymap
    from rfview.actions import ACTIONS

    names = [action.name for action in ACTIONS]
    wide = max(map(len, names)) + 2
    rows = ["".join(f"{name:<{wide}}" for name in names[at : at + 5]).rstrip() for at in range(0, len(names), 5)]
    return "\n".join([(keymap.__doc__ or "").strip(), "", "actions:", *(f"  {row}" for row in rows)])


def startup_text() -> str:
    """Return how commands are run at the start."""
    from rfview import startup

    return f"{(startup.__doc__ or '').strip()}\n\nexpected at {startup.path()}"


def check_text() -> str:
    """Return what the checker finds, and what counts as a race."""
    from rfview.engine.check import rules

    return (rules.__doc__ or "").strip()


def sql_text() -> str:
    """Return the tables of a session, as a database, as Parquet and in Python, with queries."""
    from rfview.sessions.export import arrow, sqlite, tables

    return (f"`rfview export run.rfs --to sqlite -o run.db`; Python's sqlite3 or any SQLite reader can query it.\n\n"
            f"{(sqlite.__doc__ or '').strip()}\n\n`rfview export run.rfs --to parquet`, and session.frame(\"waits\"): "
            f"{(arrow.__doc__ or '').strip()}\n\n{(tables.__doc__ or '').strip()}")


def commands_text() -> str:
    """Return the table of debugger commands, the same in scripts and after `:`."""
    from rfview.sessions.commands.table import help_text

    return help_text()


def expressions_text() -> str:
    """Return what conditions and `print` can name: the language, its functions, and every field."""
    from rfview.engine import events, plugin as designs, state
    from rfview.sessions import expressions

    records = {"w": state.WARP, "b": state.BANK, "c": state.COLLECTOR, "s": state.SCHEDULER, "p": state.PIPE,
               "launch": state.LAUNCH}
    units = {**expressions.UNITS, "launch": "launch"}
    lists = [("functions", list(expressions.FUNCTIONS))]
    lists += [(f"fields of {key}" + (f" ({units[key]})" if units[key] != key else ""),
               [name for name in record.names or () if not name.startswith("pad")]) for key, record in records.items()]
    lists += [("states", list(designs.stalls())), ("events", [name for name, _ in events.EVENTS])]
    language, _, _ = (expressions.__doc__ or "").rpartition("\n\n")       # without the list of the package's modules
    lines = [language, ""]
    for head, words in lists:
        lines += wrap(f"{head}: {', '.join(words)}", 116, subsequent_indent="    ")
    return "\n".join([*lines, "The fields of a warp: `rfview help sm.warp`; likewise sm.bank and so on.",
                      "A design's own fields and events, rf.FIELD and event.NAME: `rfview help NAME` of the design."])


def schedulers_text() -> str:
    """Return the warp schedulers."""
    from rfview.engine.machine.schedulers import SCHEDULERS

    rows = [*((row.name, row.sentence, row.source) for row in SCHEDULERS.values()),
            ("paper", "the design's own", "`rfview designs`")]
    return "\n".join(f"{name:<16} {text}\n{'':<16} {source}" for name, text, source in rows)


def tours_text() -> str:
    """Return the guided tours."""
    from rfview.commands.learn import list_text

    return list_text()


def design_text() -> str:
    """Return how to write your own register file."""
    from rfview.glossary import own_design

    return own_design.text()


def hooks_text() -> str:
    """Return the hooks and helpers for writing your own register file."""
    from rfview.glossary import own_design

    return own_design.hooks_text()


def rules_text() -> str:
    """Return what the models decide where the papers are silent."""
    from rfview.glossary import topics

    return topics.rules()


def causes_text() -> str:
    """Return who holds up a lost warp-cycle, state by state."""
    from textwrap import wrap

    from rfview.sessions.causes.rules import OF_DESIGN, OF_DESIGN_ON_SUBCORE, OF_SUBCORE, RULES

    lines = ["Every lost warp-cycle is charged twice: to the instruction that waited and to the one that held it up. Lost",
             "are those of resident warps that neither issued nor were ready. `rfview lines`, LINES and CODE show both.", ""]
    for rule in (*RULES, OF_DESIGN):
        lines += wrap(f"{', '.join(rule.states) or 'states of a design'}: {rule.holder}. Source: {rule.source}", 118,
                      subsequent_indent="  ")
    lines += ["", "On the sub-cores of Volta and later (machine code), these instead:"]
    for rule in (*OF_SUBCORE, OF_DESIGN_ON_SUBCORE):
        lines += wrap(f"{', '.join(rule.states) or 'states of a design'}: {rule.holder}. Source: {rule.source}", 118,
                      subsequent_indent="  ")
    return "\n".join(lines)


def summary_text() -> str:
    """Return the rules of a summary with their sources, and their thresholds with the reasons for them."""
    from textwrap import wrap

    from rfview.sessions.summary.rules import LIMITS, RULES

    lines = ["A run ends with at most five sentences, those of the rules that fire, ranked by the share that each names;",
             "the last rule only if there is room. `rfview run`, the command `summary` and SUMMARY (Z) show them.", ""]
    for rule in RULES:
        lines += wrap(f"{rule.name}: {rule.fires}. Source: {rule.source}", 118, subsequent_indent="  ")
    lines += ["", "Thresholds, each with its reason:", ""]
    for name, limit in LIMITS.items():
        lines += wrap(f"{name}, {limit.value:g} of {limit.what}: {limit.reason}", 118, subsequent_indent="  ")
    return "\n".join(lines)


TOPICS: dict[str, Callable[[], str]] = {
    "launch": lambda: LAUNCH,
    "compile": compile_text,
    "design": design_text,
    "rules": rules_text,
    "keys": keys_text,
    "keymap": keymap_text,
    "commands": commands_text,
    "check": check_text,
    "startup": startup_text,
    "expressions": expressions_text,
    "sql": sql_text,
    "stalls": stalls_text,
    "causes": causes_text,
    "summary": summary_text,
    "schedulers": schedulers_text,
    "tours": tours_text,
    "plain": lambda: PLAIN,
    "exit": lambda: EXIT_CODES,
    "programs": lambda: PROGRAMS,
    "environment": lambda: ENVIRONMENT,
}
# parts of a topic that are topics of their own; a search finds them in the larger topic
PARTS: dict[str, Callable[[], str]] = {"hooks": hooks_text}
