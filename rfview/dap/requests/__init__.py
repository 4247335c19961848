"""What the adapter does for each request of the protocol: plain functions handler(conversation, arguments), by category.

    beginning    what the adapter can do; launch, restart, disconnect
    looking      threads, stack frames, scopes and variables, sources, disassembly
    expressions  the console, evaluate, completions, setVariable
    moving       steps, continue, pause
    breakpoints  at lines and instructions, on data, on exceptions
    table        all of them by the protocol's name: REQUESTS

A handler returns a Reply: the response's body, and what follows the response. It raises InputError to refuse.
"""
