"""PTX text to a syntax tree: source (lines and errors), lexer, parser, syntax (the tree).

locations: the source line (CUDA C, Python or another language) that each PTX line comes from.
"""
