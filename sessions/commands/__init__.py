"""Debugger commands as text: table (all of them), arguments, script (command files), and a file per group of commands."""
