"""What explains rfview to its reader: every term with its source, and the guided tours of `rfview learn`."""
