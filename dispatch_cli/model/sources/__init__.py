"""Registrations in source files, and the settings for reading them."""
