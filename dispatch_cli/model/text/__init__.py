"""Texts: globs, quoting, suggestions for misspelt names, PyTorch's debug texts and error texts."""
