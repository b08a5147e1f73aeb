"""A whole state as one page of HTML that opens from disk: its data, and the scripts that show it."""
