"""The Debug Adapter Protocol, for editors: warps as threads, registers and the register file as scopes, time both ways.

wire.py carries the messages, variables.py the trees that editors open, progress.py says what an editor waits for;
adapter.py answers the requests.
"""
