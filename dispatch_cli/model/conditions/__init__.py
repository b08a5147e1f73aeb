"""Conditions of registrations: expressions, which of them can hold together, and short forms of them."""
