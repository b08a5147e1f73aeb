"""Conditions of registrations: worlds, cases and variants."""
