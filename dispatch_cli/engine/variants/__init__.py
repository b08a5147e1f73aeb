"""Conditions of registrations: which of them hold together, and the states that follow."""
