"""The preprocessor: tokens, macros, and the conditions under which they are there."""
