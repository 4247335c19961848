"""PTX text to a syntax tree: source (lines and errors), lexer, parser, syntax (the tree).

locations: which line of CUDA C, Python or another language each PTX line comes from.
"""
