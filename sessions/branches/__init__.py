"""Runs that leave a run: fork (something changed from here on), swap (another design or kernel), capture (a part of it)."""
