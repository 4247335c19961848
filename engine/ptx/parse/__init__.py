"""PTX text to a syntax tree: source (lines and errors), lexer, parser, syntax (the tree).

parser: modules, functions and statements; it is built from declarations (variables and registers) and operands (the
smallest parts). constants: constant expressions, as C evaluates them.
locations: the source line (CUDA C, Python or another language) that each PTX line comes from.
"""
