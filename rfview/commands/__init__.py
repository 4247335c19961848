"""One module per subcommand of cli.COMMANDS; add_arguments(parser) declares options, run(args) returns the exit code.

Besides those:

    options  progress      options that several commands share; the progress bar
    screen                 how a session is shown
    programs               what commands that run programs share
    first                  plain `rfview`: the start screen
    fair                   what all machines of a comparison share
    compare_output  compare_recordings  new_launch             parts of compare and kernels
    reproduce_text  reproduce_page  reproduce_figure           what reproduce found: as text, as a page; one figure
"""
