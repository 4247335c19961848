"""Whole screens: the main one, and the windows that open over it."""
