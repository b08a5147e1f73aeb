"""Recordings of real programs: what ran, read and explained by the engine."""
