"""Modules that register operators, in every way that Python has; live PyTorch imports them, and we read them."""
