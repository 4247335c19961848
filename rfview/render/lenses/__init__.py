"""How each register-file design looks: one painter per design, and two that fit any design."""
