"""What build files and imports say of files: which of them are loaded together."""
