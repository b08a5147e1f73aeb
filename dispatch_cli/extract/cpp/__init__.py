"""Reads C++ sources: a preprocessor, and a reader of registration blocks."""
