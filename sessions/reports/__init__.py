"""Tables for people: tables (the machine at a cycle), statistics (between two), pipeline (a warp's), invariants (sums)."""
