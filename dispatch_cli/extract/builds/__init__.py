"""Build files and imports: they say which files are loaded together."""
