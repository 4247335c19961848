"""PTX text to a syntax tree: source (lines and errors), lexer, parser, syntax (the tree), mangling (C++ names)."""
