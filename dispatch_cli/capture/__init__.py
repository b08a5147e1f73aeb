"""Capturing the dispatcher of an importable PyTorch: a probe that runs beside it, and a writer of declarations.

`probe` is a script of its own, run by the Python that has PyTorch; it imports nothing of this package. `run` runs it,
`write` turns its answer into a declaration file.
"""
