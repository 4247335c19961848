"""Pure functions from one scene (a machine state and what is known around it) to lines of text; no app, no widget."""
