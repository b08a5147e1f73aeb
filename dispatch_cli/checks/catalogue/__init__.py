"""The checks: one file each. Its docstring is its documentation, and its examples run as tests."""
