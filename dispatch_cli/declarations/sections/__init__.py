"""Readers of the sections of declaration files."""
