"""Explains every term on the screens, with its source, and the help topics that are more than a table.

    terms  sources     explanations collected from engine, designs, presets and painters; the sources of windows and words
    focus              what `K` explains of the focused panel
    own_design         the help topic `design`, from the code
    topics             those that are plain text, and the rules of engine/RULES.md
"""
