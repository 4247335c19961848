"""The machine: a cycle-level streaming multiprocessor that runs real kernels with real values (no terminal, no files)."""

__version__ = "0.1.0"
