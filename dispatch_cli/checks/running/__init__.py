"""Runs of the checks: which are chosen, over which variants and changes, and which findings are listed."""
