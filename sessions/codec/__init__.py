"""Chunks as bytes: what changed in a stretch of cycles, in streams of narrow numbers, and back."""
