"""The panels as Textual widgets: thin, each shows the lines that its painter in render/ returns."""
