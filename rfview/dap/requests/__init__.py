"""The handlers of the protocol's requests: plain functions handler(conversation, arguments), by category.

    beginning    the adapter's capabilities; launch, restart, disconnect
    looking      threads, stack frames, scopes and variables, sources, disassembly
    expressions  the console, evaluate, completions, setVariable
    moving       steps, continue, pause
    breakpoints  at lines and instructions, on data, on exceptions
    table        all of them by the protocol's names: REQUESTS

A handler returns a Reply: the response's body, and what is to be done after it. It raises InputError to refuse.
"""
