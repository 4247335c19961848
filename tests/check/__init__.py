"""The checker's own suite: kernels with a known defect and twins without, and what checking costs."""
