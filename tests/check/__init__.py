"""The checker's own suite: kernels with one known defect each, and their correct twins."""
