"""What each pass asks about a program, and the clean-up: control_flow, liveness, bitsets (sets of variables), cleanup."""
