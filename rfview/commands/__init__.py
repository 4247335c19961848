"""One module per subcommand of cli.COMMANDS; add_arguments(parser) declares options, run(args) returns the exit code.

Others:

    options  progress      options shared by several commands; the progress bar
    query                  shared by commands that answer a question about a session
    screen                 shows a session
    programs  rerun        shared by commands that run programs; runs a session's program again after an edit
    first                  plain `rfview`: the start screen
    fair                   settings shared by all machines of a comparison
    compare_output  compare_recordings  new_launch             parts of compare and kernels
    reproduce_text  reproduce_page  reproduce_figure  reproduce_why   the claims' outcomes: as text, as a page; one figure;
                           what changes a number
"""
