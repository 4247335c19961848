"""What the papers claim, beside what this machine measures; nothing here is compiled into it."""
