"""Turns allocated instructions into what runs and what views show.

    instructions  disassemble  ranges     INST arrays; instruction texts; live ranges
"""
