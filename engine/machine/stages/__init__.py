"""The pipeline stages, one file each, called by cycle.py in hardware order."""
