"""Allocated instructions to what runs and what views show: instructions, disassemble (texts), ranges (live ranges)."""
