"""One module per subcommand; add_arguments(parser) declares options, run(args) does it, returns the exit code."""
