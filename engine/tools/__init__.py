"""Host-side tools over the machine: what the papers do before a run, at compile time or by profiling."""
