"""PTX text to a syntax tree: source (lines and errors), lexer, parser, constants, syntax (the tree).

constants: constant expressions, as C evaluates them.
locations: the source line (CUDA C, Python or another language) that each PTX line comes from.
"""
