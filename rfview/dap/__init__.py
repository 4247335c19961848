"""The Debug Adapter Protocol, for editors: warps as threads, registers and the register file as scopes, time both ways.

wire.py carries the messages, arguments.py reads what a request brings, variables.py makes the trees that editors open,
progress.py tells of compiles, adapter.py answers the requests.
"""
