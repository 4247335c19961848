"""The Debug Adapter Protocol, for editors: warps as threads, registers and the register file as scopes, time both ways.

    wire  arguments         messages over two streams; what a request brings, read and checked
    adapter                 reads requests, calls the function of each, responds
    requests/               those functions, by category, and their table
    conversation            what the functions share: the session, its breakpoints and trees; moves, and how a stop is told
    frames  points          where a warp stands, and sources and instructions; the breakpoints that an editor has set
    values  variables       expressions in a frame, changes, completions; the trees that editors open
    progress                tells of compiles
    vsix  vscode/           the extension for VS Code, packed; its files
"""
