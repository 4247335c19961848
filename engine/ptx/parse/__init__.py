"""PTX text to a syntax tree: source (lines and errors), lexer, parser, syntax (the tree), mangling (C++ names).

locations: which line of CUDA C, Python or another language each PTX line comes from.
"""
