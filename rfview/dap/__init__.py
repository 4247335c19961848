"""The Debug Adapter Protocol for editors: warps as threads, registers and register file as scopes, time both ways.

    wire  arguments         messages over two streams; the arguments of a request, checked
    target                  opens what a launch request names
    adapter                 reads requests, calls the handler of each, responds
    requests/               those handlers, by category, and their table
    conversation            what the handlers share: the session, its breakpoints and trees; moves and reports of stops
    frames  points          stack frames, sources and instructions; the breakpoints that an editor has set
    values  variables       expressions in a frame, changes, completions; the trees that editors show
    progress                reports the progress of compilation
    vsix  vscode/           packs the extension for VS Code; its files
"""
