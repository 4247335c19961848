"""Finding cycles: search (the nearest hit), events (kinds that one can go to), breakpoints, tracing (every hit)."""
