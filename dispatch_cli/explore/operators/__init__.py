"""The part of the screen that lists operators: search, filter and list."""
